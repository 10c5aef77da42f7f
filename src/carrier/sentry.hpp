// The sentry tells who keeps a stream while units wait that nobody else may run: those in pools
// that this stream alone draws from, which rescue leaves alone. Such a program hangs for ever where
// a unit blocks in the kernel, or spins, for what one of them is to do. doc/decisions/0040 tells
// why it is what it is.
//
// It is a thread that the C library does not know of (os/bare_thread.hpp). It starts with the first
// unit that somebody makes, looks while some such stream is awake, and is asleep while all of them
// are.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "os/bare_thread.hpp"
#include "os/lock.hpp"
#include "process/process_sleeper.hpp"

namespace weft {

struct Pool;
struct Process;
struct Stream;

struct Sentry {
    static constexpr std::uint64_t look_every_ns = 300'000'000;
    // Where nothing has moved and nothing waits, each look comes after twice the time, up to that.
    static constexpr std::uint64_t longest_look_ns = 32 * look_every_ns;
    // Then it is told: within a second of when it began, which was before the first look that saw
    // it; and about a second for one that computes.
    static constexpr std::uint64_t blocked_ns = 2 * look_every_ns, computed_ns = 3 * look_every_ns;
    static constexpr unsigned calm_looks = 3;   // before it sleeps
    static constexpr unsigned most_told = 20;

    os::BareThread thread;
    ProcessSleeper sleeper;
    atomic<bool> wanted{false};   // there is such a stream
    atomic<bool> ends{false};
    atomic<std::uint64_t> looks{0};
    atomic<std::uint64_t> told{0};

    os::Lock lock;
    bool there = false;   // the thread is; under the lock

    // Its own.
    std::uint64_t wait_ns = look_every_ns;
    unsigned calm = 0;
    bool told_of_computing = false;

    explicit Sentry(Process& of);
};

// A stream of the program's has got its main scheduler. By the stream, or before it begins.
void note_for_sentry(Process& of, const Stream& stream);
// From now on the sentry can be woken: it is by the first unit that is made, and by streams that
// wake. Once stream 0 is there.
void begin_sentry(Process& of);
// Before the streams end; or for good where OS threads are scarce. False: there was none.
bool end_sentry(Process& of);
// A stream goes on. From anywhere.
void wake_sentry(Process& of);

}   // namespace weft
