// Rescue: when what could run waits for harts that stand still, or that all compute and never
// switch, OS threads beside the streams run it, until it is over. src/hart/README.md, "Rescue", has
// the rules, doc/decisions/0025 the reasons.
//
// The watchdog is a task of the reactor's (poll/reactor.hpp). It sleeps as long as nothing waits:
// it is on the idle lists of the pools, as the one that is woken when nobody else is there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "hart/watchdog.hpp"
#include "os/lock.hpp"
#include "os/thread.hpp"
#include "process/process_sleeper.hpp"
#include "share/carriers.hpp"
#include "weft/runtime.h"

namespace weft {

struct Process;
struct StandIn;

// What the watchdog remembers of the stream of a rank.
struct Watched {
    Stream* stream = nullptr;
    hart::Heart heart{};
    long call = -1;                 // where that blocks, the system call; -1: in none
    StandIn* stand_in = nullptr;    // for it; null: none
    StandIn* stands_in = nullptr;   // what it does itself; null: it is a stream of the program's, or carries harts
};

struct Rescue {
    static constexpr std::uint64_t first_wait_ns = 10'000'000, longest_wait_ns = 80'000'000;
    static constexpr std::uint64_t report_after_ns = 1'000'000'000;   // when it only tells
    static constexpr unsigned calm_looks = 3;                         // before it sleeps
    // Where help is on its way it looks soon whether that has come, but not for ever: what is seen
    // then is what the next look compares with, which would be too early for the time of those that
    // block at once.
    static constexpr std::uint64_t arrival_ns = 1'000'000;
    static constexpr unsigned arrival_looks = 10;

    const weft_rescue mode;
    ProcessSleeper sleeper;   // asleep as long as nothing waits
    // when the reactor is to look; 0: it has been woken; forever: not before it is
    atomic<std::uint64_t> look_ns{os::forever};
    atomic<std::uint64_t> looks{0}, emergencies{0}, refused{0};
    atomic<std::size_t> running{0};   // OS threads that stand in, and harts that domains have beyond the limit
    Carriers carriers;

    // The reactor's own.
    Watched* watched = nullptr;   // by rank
    std::size_t watched_count = 0;
    hart::Watchdog of_pools, of_domains;
    std::size_t lent = 0;   // of the harts beyond the limit, those of domains
    std::uint64_t round = 0;
    unsigned calm = 0;
    unsigned expecting = 0;   // such looks that are left
    bool told = false;        // what is said once

    os::Lock lock;   // guards what follows; after the runtime's
    StandIn* stand_ins = nullptr;
    bool closed = false;

    explicit Rescue(Process& of);
    ~Rescue();
    bool helps() const { return mode == WEFT_RESCUE_ON || all(); }
    bool all() const { return mode == WEFT_RESCUE_ALL; }   // also where one stream alone draws
    // So many streams draw from a pool that is helped, at least.
    std::size_t least_streams() const { return all() ? 1 : 2; }
    // On entry of the reactor, under the lock, and while nobody runs.
    void check() const {
        WEFT_ASSERT(running.load() >= lent && (watched != nullptr || watched_count == 0));
        WEFT_ASSERT(helps() || (running.load() == 0 && stand_ins == nullptr));
    }
    std::uint64_t look_every_ns() const { return helps() ? first_wait_ns : report_after_ns; }
};

// From now on the watchdog can be woken. Once, when the runtime begins.
void begin_rescue(Process& of);

// No emergency begins any more, and those that there are end. Before the streams end.
void end_rescue(Process& of);

// Something may wait that nobody comes to: the watchdog looks. From anywhere.
void wake_watchdog(Process& of);

// As wake_watchdog(), by the reactor, also while it looks: the watchdog goes on for a while.
void watch_anew(Process& of);

// That many streams of the program's are there now: with the first that may be helped its pools are
// watched. Under the runtime's lock.
void watch_pools(Process& of, std::size_t streams);
// A pool comes, or goes. Under the runtime's lock.
void watch_pool(Process& of, Pool& pool);
void forget_pool(Process& of, Pool& pool);

// What the reactor does for it; returns when it is to do so again.
std::uint64_t watch_over(Process& of, std::uint64_t now_ns);

}   // namespace weft
