// What rescue is decided by, apart from threads and clocks: what one look after the other has seen
// of the harts, and when it is time to help. The stream layer looks, and helps (share/rescue.cpp).
// README.md, "Rescue", has the rules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/thread.hpp"

namespace weft::hart {

// How somebody who may hold a hart was found.
enum class Pulse : unsigned char {
    rests,    // he holds none
    moves,    // he has switched since the last look
    keeps,    // he has not: his thread computes, or spins, and nobody knows which
    stands,   // nor has his OS thread used any time, and nobody knows why
    blocks,   // its OS thread has used no time, and the kernel says that it waits there
};

// Of one of them, from look to look.
class Heart {
public:
    // `time(ns)` says how much time the OS thread has used, false if it does not know; `doing()`
    // what the kernel has it do, asked only of one who has not switched and has used none.
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
    // since the last look, whether he has held a hart all the while or not
    bool switched() const { return switched_; }
    bool stuck() const { return now_ >= Pulse::keeps; }
    std::uint64_t since_ns() const { return since_ns_; }   // he was seen to move last, or to rest

private:
    // One that only waits for a processor uses no time either.
    static Pulse standing(os::Doing doing) {
        switch (doing) {
        case os::Doing::waits: return Pulse::blocks;
        case os::Doing::runs: return Pulse::keeps;
        case os::Doing::unknown: break;
        }
        return Pulse::stands;
    }

    // of the time between two looks, that a thread uses which does not stand still
    static constexpr std::uint64_t least_part = 64;

    std::uint64_t switches_ = 0;
    std::uint64_t since_ns_ = 0;
    std::uint64_t used_ns_ = 0, timed_ns_ = 0;
    bool timed_ = false;
    bool held_ = false;
    bool switched_ = false;
    Pulse now_ = Pulse::rests;
};

// Those who serve a place where something waits.
struct Servers {
    std::size_t awake = 0, moving = 0;
    std::size_t standing = 0, blocked = 0;   // those for whom nobody else stands in; the others are among the one
    std::uint64_t blocked_since_ns = 0;      // the first of them; 0: none is

    // One that has been found so since then.
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
    // Somebody should serve it, and nobody comes to it; or one of them could not come even if he
    // were let.
    bool stuck() const { return awake != 0 && (moving == 0 || standing != 0); }
};

// When it is time to help. Each further help comes twice as late as the one before, since what
// looks stuck may be honest computing; but not that for one that the kernel says is blocked, which
// it is for certain.
class Watchdog {
public:
    constexpr Watchdog(std::uint64_t first_wait_ns, std::uint64_t longest_wait_ns)
        : first_wait_ns_(first_wait_ns), longest_wait_ns_(longest_wait_ns) {}

    // Nobody has looked for a while.
    void begin() { stuck_since_ns_ = looked_ns_ = 0; }

    // True: now. `blocked_since_ns`: since when somebody is blocked whom that would help; 0:
    // nobody.
    bool look(std::uint64_t now_ns, bool stuck, std::uint64_t blocked_since_ns = 0);

    // That help could not be had: the next look says so again.
    void not_helped();

    // Who was helped has switched.
    void relieved() { wait_ns_ = first_wait_ns_; }

private:
    const std::uint64_t first_wait_ns_, longest_wait_ns_;
    std::uint64_t wait_ns_ = first_wait_ns_;
    std::uint64_t waited_ns_ = 0;        // before the latest help
    std::uint64_t stuck_since_ns_ = 0;   // or since the latest help; 0: it is not stuck
    std::uint64_t looked_ns_ = 0;        // 0: not yet
};

}   // namespace weft::hart
