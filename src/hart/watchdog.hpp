// What rescue is decided by, apart from threads and clocks: what one look after the other has seen of the harts, and when it is time to help. The stream
// layer looks, and helps (stream/rescue.cpp). README.md, "Rescue", has the rules.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::hart {

// How somebody who may hold a hart was found.
enum class Pulse : unsigned char {
    rests,    // he holds none
    moves,    // he has switched since the last look
    keeps,    // he has not: his thread computes, or spins, and nobody knows which
    stands,   // nor has his OS thread used any time
};

// Of one of them, from look to look.
class Heart {
public:
    // `time(ns)` says how much time the OS thread has used, false if it does not know; asked only of one who has not switched.
    template <class Time>
    Pulse look(std::uint64_t now_ns, bool holds, std::uint64_t switches, Time time) {
        switched_ = switches != switches_;
        const bool moved = switched_ || !held_;
        held_ = holds;
        switches_ = switches;
        if (moved || !holds) {
            since_ns_ = now_ns;
            timed_ = false;
            return now_ = holds ? Pulse::moves : Pulse::rests;
        }
        std::uint64_t used_ns = 0;
        const bool timed = time(used_ns);
        const bool stands = timed && timed_ && (used_ns - used_ns_) * least_part < now_ns - timed_ns_;
        timed_ = timed;
        used_ns_ = used_ns;
        timed_ns_ = now_ns;
        return now_ = stands ? Pulse::stands : Pulse::keeps;
    }

    Pulse now() const { return now_; }
    bool switched() const { return switched_; }            // since the last look, whether he has held a hart all the while or not
    bool stuck() const { return now_ >= Pulse::keeps; }
    std::uint64_t since_ns() const { return since_ns_; }   // he was seen to move last, or to rest

private:
    static constexpr std::uint64_t least_part = 64;   // of the time between two looks, that a thread uses which does not stand still

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
    std::size_t awake = 0, moving = 0, standing = 0;   // of the last, those for whom nobody else stands in

    void add(Pulse pulse, bool stood_in_for) {
        if (pulse == Pulse::rests) return;
        ++awake;
        if (pulse == Pulse::moves) ++moving;
        if (pulse == Pulse::stands && !stood_in_for) ++standing;
    }
    // Somebody should serve it, and nobody comes to it; or one of them could not come even if he were let.
    bool stuck() const { return awake != 0 && (moving == 0 || standing != 0); }
};

// When it is time to help. Each further help comes twice as late as the one before, since what looks stuck may be honest computing.
class Watchdog {
public:
    constexpr Watchdog(std::uint64_t first_wait_ns, std::uint64_t longest_wait_ns) : first_wait_ns_(first_wait_ns), longest_wait_ns_(longest_wait_ns) {}

    // Nobody has looked for a while.
    void begin() { stuck_since_ns_ = looked_ns_ = 0; }

    // True: now.
    bool look(std::uint64_t now_ns, bool stuck);

    // That help could not be had: the next look says so again.
    void not_helped();

    // Who was helped has switched.
    void relieved() { wait_ns_ = first_wait_ns_; }

private:
    const std::uint64_t first_wait_ns_, longest_wait_ns_;
    std::uint64_t wait_ns_ = first_wait_ns_;
    std::uint64_t waited_ns_ = 0;          // before the latest help
    std::uint64_t stuck_since_ns_ = 0;     // or since the latest help; 0: it is not stuck
    std::uint64_t looked_ns_ = 0;          // 0: not yet
};

}  // namespace weft::hart
