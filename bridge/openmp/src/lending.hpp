// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The OS thread of a guest, which carries members while the guest waits.
//
// No other OS thread can resume a guest. So a member that blocks in the kernel on that thread, or
// spins there, until the guest does something would do so forever. The thread therefore carries
// members only while the guest, as thread 0 of a team, waits until all of that team have arrived:
// and only members of that team and of teams within it. Each of them either has not arrived yet or
// has nothing to do; and until all have arrived the guest does nothing that they could wait for. In
// any other case the hart goes on with another OS thread
// (doc/decisions/0033-guest-threads-in-domains.md).
#pragma once

#include <atomic>
#include <cstdint>

#include "wait.hpp"

namespace weft_openmp {

struct TeamPool;

// Says, for a team pool, until when thread 0's OS thread carries its members. Written by thread 0
// alone.
class Lent {
public:
    static constexpr std::uint64_t nothing = ~std::uint64_t{0};
    // While they wait for the barrier of that number (Team::generation) or, to_the_end, for the end
    // of the region.
    static constexpr std::uint64_t to_the_end = ~std::uint64_t{0} - 1;
    // relaxed, here and below: a member that has passed the barrier knows of everything before it
    void begin(std::uint64_t barrier) { until_.store(barrier, std::memory_order_relaxed); }
    void end() { until_.store(nothing, std::memory_order_relaxed); }
    std::uint64_t until() const { return until_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> until_{nothing};
};

// Called when the calling unit is about to wait until then. True, if it is such a guest: its OS
// thread carries members from now on, until the guest goes on and calls has_thread().
bool lend_thread(Until until);
void has_thread();

// A thread of that team pool has just gone on. If it is past a barrier at which a guest waits, and
// on that guest's OS thread, it moves elsewhere.
void leave_lent_thread(const TeamPool& team_pool);
bool is_behind_lent(const TeamPool& team_pool);
inline void go_on_behind(const TeamPool& team_pool) {
    if (is_behind_lent(team_pool)) [[unlikely]]
        leave_lent_thread(team_pool);
}

// For `enter`, on a guest's OS thread: the team pool whose members the thread carries; null: none.
// Members of `team_pool` are among them, if it `fits`. The thread carries none once the barrier is
// over.
const TeamPool* lent_to();
bool fits(const TeamPool& team_pool, const TeamPool& lent);
bool is_over(const TeamPool& lent);

}   // namespace weft_openmp
