// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decisions of rescue, apart from threads and clocks: what one check of the harts after the
// other has seen, and when it is time to help. The stream layer checks, and helps
// (share/rescue.cpp). README.md, "Rescue", has the rules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/thread.hpp"

namespace weft::hart {

// How a stream that may hold a hart was found.
enum class Pulse : unsigned char {
    rests,    // it holds none
    moves,    // it has switched since the last check
    keeps,    // it has not switched: its thread computes, or spins, and it is not known which
    stands,   // in addition, its OS thread has used no time, and it is not known why
    blocks,   // its OS thread has used no time, and the kernel says that it waits there
};

// The state of one stream, from one check to the next.
class Heart {
public:
    // `time(ns)` says how much time the OS thread has used, false if it does not know; `doing()`
    // says what the kernel has the thread do; it is asked only of a stream that has not switched
    // and has used no time.
    template <class Time, class Ask>
    Pulse look(std::uint64_t now_ns, bool holds, std::uint64_t switches, Time time, Ask doing) {
        switched_ = switches != switches_;
        const bool moved = switched_ || !held_;
        held_ = holds;
        switches_ = switches;
        if (moved || !holds) {
            since_ns_ = timed_ns_ = now_ns;
            timed_ = holds && time(used_ns_);
            return now_ = holds ? Pulse::moves : Pulse::rests;
        }
        std::uint64_t used_ns = 0;
        const bool timed = time(used_ns);
        const bool stands = timed && timed_ && (used_ns - used_ns_) * least_part < now_ns - timed_ns_;
        timed_ = timed;
        used_ns_ = used_ns;
        timed_ns_ = now_ns;
        return now_ = !stands ? Pulse::keeps : now_ == Pulse::blocks ? Pulse::blocks : standing(doing());
    }

    Pulse now() const { return now_; }
    // whether it has switched since the last check, whether or not it held a hart throughout
    bool switched() const { return switched_; }
    bool stuck() const { return now_ >= Pulse::keeps; }
    std::uint64_t since_ns() const { return since_ns_; }   // when it was last seen to move, or to rest

private:
    // A thread that only waits for a processor uses no time either.
    static Pulse standing(os::Doing doing) {
        switch (doing) {
        case os::Doing::waits: return Pulse::blocks;
        case os::Doing::runs: return Pulse::keeps;
        case os::Doing::unknown: break;
        }
        return Pulse::stands;
    }

    // the part of the time between two checks (1 / least_part) that a thread uses at least unless
    // it stands
    static constexpr std::uint64_t least_part = 64;

    std::uint64_t switches_ = 0;
    std::uint64_t since_ns_ = 0;
    std::uint64_t used_ns_ = 0, timed_ns_ = 0;
    bool timed_ = false;
    bool held_ = false;
    bool switched_ = false;
    Pulse now_ = Pulse::rests;
};

// The streams that serve a place where something waits.
struct Servers {
    std::size_t awake = 0, moving = 0;
    std::size_t standing = 0, blocked = 0;   // those without a stand-in; the blocked are among the standing
    std::uint64_t blocked_since_ns = 0;      // since when the first of them is; 0: none is

    // A stream that has been in this state since then.
    void add(Pulse pulse, std::uint64_t since_ns, bool stood_in_for) {
        if (pulse == Pulse::rests) return;
        ++awake;
        if (pulse == Pulse::moves) ++moving;
        if (pulse < Pulse::stands || stood_in_for) return;
        ++standing;
        if (pulse != Pulse::blocks) return;
        ++blocked;
        if (blocked_since_ns == 0 || since_ns < blocked_since_ns) blocked_since_ns = since_ns;
    }
    // True if the awake servers make no progress, or if one of them could not come even if it were
    // allowed to.
    bool stuck() const { return awake != 0 && (moving == 0 || standing != 0); }
};

// When it is time to help. Each further help comes after twice the time of the one before, since a
// stream that looks stuck may be honestly computing. That does not hold for a stream that the
// kernel says is blocked, which it is for certain.
class Watchdog {
public:
    constexpr Watchdog(std::uint64_t first_wait_ns, std::uint64_t longest_wait_ns)
        : first_wait_ns_(first_wait_ns), longest_wait_ns_(longest_wait_ns) {}

    // No check has been made for a while.
    void begin() { stuck_since_ns_ = looked_ns_ = 0; }

    // True: help now. `blocked_since_ns`: since when a stream is blocked that the help would
    // relieve; 0: no stream is.
    bool look(std::uint64_t now_ns, bool stuck, std::uint64_t blocked_since_ns = 0);

    // The help was not available: the next look() asks for it again.
    void not_helped();

    // A stream that was helped has switched.
    void relieved() { wait_ns_ = first_wait_ns_; }

private:
    const std::uint64_t first_wait_ns_, longest_wait_ns_;
    std::uint64_t wait_ns_ = first_wait_ns_;
    std::uint64_t waited_ns_ = 0;        // before the latest help
    std::uint64_t stuck_since_ns_ = 0;   // or since the latest help; 0: it is not stuck
    std::uint64_t looked_ns_ = 0;        // 0: not yet
};

}   // namespace weft::hart
