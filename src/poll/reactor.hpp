// A thread that sleeps until somebody who cannot look himself must be told something: a timer of a
// stream that is busy has come due, or a descriptor that a poller waits for is ready. Started when
// it is first needed. It holds no hart, and runs nothing of the user's.
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
    // What it does when it wakes: tells those whose time has come, and returns the next deadline
    // (os::forever: none).
    using Round = std::uint64_t (*)(void* context);
    // A descriptor is ready.
    using Ready = void (*)(void* context, std::uint32_t tag);

    Reactor(Round round, Ready ready, void* context) : round_(round), ready_(ready), context_(context) {}
    ~Reactor() { stop(); }

    // By whoever has written, with seq_cst, a deadline that `round` will find: it will be looked at
    // when it comes. False: the thread could not be started.
    //
    // One that could not be started is not tried again for a while, however often it is asked.
    //
    // The reactor writes `forever` to its target before it reads the deadlines, the caller reads
    // the target after it has written his: so one of the two sees the other.
    bool watch(std::uint64_t deadline_ns) { return deadline_ns >= target_.load() || ring(); }

    // Whether the thread is there, started now if need be. False: it, or what it sleeps by, could
    // not be had.
    bool thread_there() { return started_.load() || start(); }

    // A descriptor, armed once; arm() again for the next time. After thread_there(). False: the
    // kernel refuses it.
    bool add(int descriptor, std::uint32_t events, std::uint32_t tag);
    bool arm(int descriptor, std::uint32_t events, std::uint32_t tag) {
        return os::watch_arm(watch_, descriptor, events, tag);
    }
    void remove(int descriptor) { os::watch_remove(watch_, descriptor); }

    // Its thread ends, since somebody else needs the room, for which it is left for a while:
    // room_ns, or until it is to stand up. False: there is none. Deadlines that it was to look at
    // are lost meanwhile.
    bool stand_down();
    // It is there again, and looks. False: the thread could not be started.
    bool stand_up();
    static constexpr std::uint64_t room_ns = 10'000'000;
    // For good: watch() does not start it again.
    void stop();

    // On entry, under the lock, and while nobody runs: without a thread nobody wakes, and a thread
    // has something to sleep by.
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
    // what it sleeps by: that stays, since others ring it without the lock
    bool open_ = false;
    atomic<bool> started_{false};                 // written under the lock
    atomic<std::uint64_t> patient_until_ns_{0};   // watch() has failed to start it
    os::Thread thread_;
    os::Watch watch_;
};

}   // namespace weft
