// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rescue: when units that could run wait for harts that stand still, or that all compute and never
// switch, OS threads beside the streams run those units, until the shortage is over.
// src/hart/README.md, "Rescue", has the rules, doc/decisions/0025 the reasons.
//
// The watchdog is a task of the reactor (poll/reactor.hpp). It sleeps as long as nothing waits: it
// is on the idle lists of the pools, as the entry that is woken when there is no other.
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
    long call = -1;                 // where the stream blocks, the system call; -1: in none
    StandIn* stand_in = nullptr;    // the one for this stream; null: none
    StandIn* stands_in = nullptr;   // the one that this stream is; null: the program's, or one that carries harts
};

struct Rescue {
    static constexpr std::uint64_t first_wait_ns = 10'000'000, longest_wait_ns = 80'000'000;
    static constexpr std::uint64_t report_after_ns = 1'000'000'000;   // when it only reports
    static constexpr unsigned calm_looks = 3;                         // before it sleeps
    // Where help is on its way the watchdog checks after a short time whether it has come, but not
    // forever: each look sees what the next look compares with, and looks in quick succession would
    // be too close together to measure the time of streams that block at once.
    static constexpr std::uint64_t arrival_ns = 1'000'000;
    static constexpr unsigned arrival_looks = 10;

    const weft_rescue mode;
    ProcessSleeper sleeper;   // asleep as long as nothing waits
    // when the reactor is to check; 0: the watchdog has been woken; forever: not before it is woken
    atomic<std::uint64_t> look_ns{os::forever};
    atomic<std::uint64_t> looks{0}, emergencies{0}, refused{0};
    atomic<std::size_t> running{0};   // OS threads that stand in, and harts that domains have beyond the limit
    Carriers carriers;

    // Only the reactor's.
    Watched* watched = nullptr;   // by rank
    std::size_t watched_count = 0;
    hart::Watchdog of_pools, of_domains;
    std::size_t lent = 0;   // of the harts beyond the limit, those of domains
    std::uint64_t round = 0;
    unsigned calm = 0;
    unsigned expecting = 0;   // such quick checks that are left
    bool told = false;        // what is reported once

    os::Lock lock;   // guards what follows; after the runtime's
    StandIn* stand_ins = nullptr;
    bool closed = false;

    explicit Rescue(Process& of);
    ~Rescue();
    bool helps() const { return mode == WEFT_RESCUE_ON || all(); }
    bool all() const { return mode == WEFT_RESCUE_ALL; }   // also where only one stream draws
    // The least number of streams that draw from a pool that is helped.
    std::size_t least_streams() const { return all() ? 1 : 2; }
    // On entry of the reactor, under the lock, and while no thread runs.
    void check() const {
        WEFT_ASSERT(running.load() >= lent && (watched != nullptr || watched_count == 0));
        WEFT_ASSERT(helps() || (running.load() == 0 && stand_ins == nullptr));
    }
    std::uint64_t look_every_ns() const { return helps() ? first_wait_ns : report_after_ns; }
};

// From now on the watchdog can be woken. Called once, when the runtime begins.
void begin_rescue(Process& of);

// No emergency begins any more, and the current ones end. Before the streams end.
void end_rescue(Process& of);

// Something may wait that no stream comes to: the watchdog checks. From anywhere.
void wake_watchdog(Process& of);

// wake_watchdog(), by the reactor, also while the watchdog checks: it continues for a while. A
// timer of the stream `late` is due.
void watch_anew(Process& of, const Stream& late);

// `streams` streams of the program exist now: with the first stream that may be helped its pools
// are watched. Under the runtime's lock.
void watch_pools(Process& of, std::size_t streams);
// A pool comes, or goes. Under the runtime's lock.
void watch_pool(Process& of, Pool& pool);
void forget_pool(Process& of, Pool& pool);

// What the reactor does for the watchdog; returns when it is to do so again.
std::uint64_t watch_over(Process& of, std::uint64_t now_ns);

}   // namespace weft
