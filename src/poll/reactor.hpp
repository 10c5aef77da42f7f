// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that sleeps until it has to notify a stream that cannot check by itself: a timer of a
// busy stream has come due, or a descriptor that a poller waits for is ready. Started when it is
// first needed. It holds no hart, and runs no user code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/futex.hpp"
#include "os/lock.hpp"
#include "os/thread.hpp"
#include "os/watch.hpp"

namespace weft {

class Reactor {
public:
    // What it does when it wakes: notifies the streams whose time has come, and returns the next
    // deadline (os::forever: none).
    using Round = std::uint64_t (*)(void* context);
    // A descriptor is ready.
    using Ready = void (*)(void* context, std::uint32_t tag);

    Reactor(Round round, Ready ready, void* context) : round_(round), ready_(ready), context_(context) {}
    ~Reactor() { stop(); }

    // Called after a thread has written, with seq_cst, a deadline that `round` will find: the
    // deadline will be handled when it comes. False: the thread could not be started.
    //
    // A start that failed is not tried again for a while, however often this is called.
    //
    // The reactor writes `forever` to its target before it reads the deadlines, and the caller
    // reads the target after it has written its deadline: so one of the two sees the other.
    bool watch(std::uint64_t deadline_ns) { return deadline_ns >= target_.load() || ring(); }

    // Makes sure that the thread exists, and starts it if need be. False: the thread, or what it
    // sleeps with, was not available.
    bool thread_there() { return started_.load() || start(); }

    // Adds a descriptor, armed once; arm() arms it again for the next time. After thread_there().
    // False: the kernel refuses it.
    bool add(int descriptor, std::uint32_t events, std::uint32_t tag);
    bool arm(int descriptor, std::uint32_t events, std::uint32_t tag) {
        return os::watch_arm(watch_, descriptor, events, tag);
    }
    void remove(int descriptor) { os::watch_remove(watch_, descriptor); }

    // Ends the reactor's thread, because something else needs a thread in its place. It stays away
    // for a while: room_ns, or until stand_up(). False: there is no thread. Deadlines that the
    // reactor was to handle are not handled meanwhile.
    bool stand_down();
    // Starts the thread again, and makes it check. False: it could not be started.
    bool stand_up();
    static constexpr std::uint64_t room_ns = 10'000'000;
    // Ends the thread for good: watch() does not start it again.
    void stop();

    // On entry, under the lock, and while no thread runs: without a thread there is no target, and
    // a thread has something to sleep with.
    void check() const {
        WEFT_ASSERT(!started_.load() || open_);
        WEFT_ASSERT(started_.load() || target_.load() == os::forever);
    }

private:
    bool end(std::uint64_t patient_until_ns);
    bool ring();
    bool start();
    bool start_now_and_then();
    void run();

    Round const round_;
    Ready const ready_;
    void* const context_;
    atomic<std::uint64_t> target_{os::forever};   // when it wakes by itself
    atomic<bool> stopping_{false};
    os::Lock lock_;
    // what the reactor sleeps with is open; it stays, since others ring it without the lock
    bool open_ = false;
    atomic<bool> started_{false};                 // written under the lock
    atomic<std::uint64_t> patient_until_ns_{0};   // after watch() has failed to start it
    os::Thread thread_;
    os::Watch watch_;
};

}   // namespace weft
