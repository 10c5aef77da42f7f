// The OS thread of a guest, which carries members while the guest waits.
//
// Nobody else goes on with a guest, so a member that blocks in the kernel there, or spins, until
// that guest does something would do so for ever. It carries members, therefore, only while the
// guest waits until all of a team have come, as thread 0 of that: and only those of that team and
// of teams within. None of them has come yet, or else it has nothing to do; and until all have, the
// guest does nothing that they could wait for. Elsewhere the hart goes on with another OS thread
// (doc/decisions/0033-lent-threads.md).
#pragma once

#include <atomic>
#include <cstdint>

#include "wait.hpp"

namespace weft_openmp {

struct TeamPool;

// Of a team pool: until when thread 0's OS thread carries its members. Written by thread 0 alone.
class Lent {
public:
    static constexpr std::uint64_t nothing = ~std::uint64_t{0};
    // While they wait for the barrier of that number (Team::generation), or, to_the_end, for the
    // region's.
    static constexpr std::uint64_t to_the_end = ~std::uint64_t{0} - 1;
    // relaxed, here and below: a member that has gone on behind the barrier knows of what came
    // before it
    void begin(std::uint64_t barrier) { until_.store(barrier, std::memory_order_relaxed); }
    void end() { until_.store(nothing, std::memory_order_relaxed); }
    std::uint64_t until() const { return until_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> until_{nothing};
};

// The calling unit is about to wait so. True, if it is such a guest: its OS thread carries members
// from now on, until it goes on itself and says has_thread().
bool lend_thread(Until until);
void has_thread();

// A thread of that team pool has just gone on. If that is behind a barrier at which a guest waits,
// and on that guest's OS thread, it goes on elsewhere.
void leave_lent_thread(const TeamPool& team_pool);
bool is_behind_lent(const TeamPool& team_pool);
inline void go_on_behind(const TeamPool& team_pool) {
    if (is_behind_lent(team_pool)) [[unlikely]]
        leave_lent_thread(team_pool);
}

// For `enter`, on a guest's OS thread: whose members it carries; null: nobody's. Members of
// `team_pool` are of those, if they `fit`. It carries none once the barrier is over.
const TeamPool* lent_to();
bool fits(const TeamPool& team_pool, const TeamPool& lent);
bool is_over(const TeamPool& lent);

}   // namespace weft_openmp
