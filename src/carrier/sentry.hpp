// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sentry reports which unit keeps a stream while units wait that no other stream may run: units
// in pools from which this stream alone draws, which rescue leaves alone. Such a program hangs
// forever where a unit blocks in the kernel, or spins, for something that one of the waiting units
// is to do. doc/decisions/0040 has the reasons for its design.
//
// It is a thread that the C library does not know of (os/bare_thread.hpp). It starts with the first
// unit that is made, checks while some such stream is awake, and is asleep while all of them are.
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
    // Where nothing has moved and nothing waits, each check comes after twice the time, up to that.
    static constexpr std::uint64_t longest_look_ns = 32 * look_every_ns;
    // The time after which it reports: within a second of the beginning, which was before the first
    // check that saw it; and about a second for a unit that computes.
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
    bool there = false;   // the thread is there; under the lock

    // Only the sentry's.
    std::uint64_t wait_ns = look_every_ns;
    unsigned calm = 0;
    bool told_of_computing = false;

    explicit Sentry(Process& of);
};

// A stream of the program has got its main scheduler. By the stream, or before it begins.
void note_for_sentry(Process& of, const Stream& stream);
// From now on the sentry can be woken: by the first unit that is made, and by streams that wake.
// Once stream 0 exists.
void begin_sentry(Process& of);
// Before the streams end; or for good where OS threads are scarce. False: there was none.
bool end_sentry(Process& of);
// A stream runs again. From anywhere.
void wake_sentry(Process& of);

}   // namespace weft
