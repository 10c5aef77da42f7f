// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lending.hpp"

#include <weft/guest.h>
#include <weft/unit.h>

#include "bind.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

// relaxed, both: the hart that runs a member has seen what the member saw of the team before it
// became ready; and where a member checks itself, it has seen that already
bool is_over_since(const Team& team, std::uint64_t until) {
    return team.cancelled.load(std::memory_order_relaxed) ||
           (until != Lent::to_the_end && team.generation.load(std::memory_order_relaxed) != until);
}

}   // namespace

bool lend_thread(Until until) {
    Thread& me = this_thread();
    const weft_unit* const guest = weft_guest_here();
    if (until == Until::something || me.slot->number != 0 || guest == nullptr || guest != weft_unit_self())
        return false;
    TeamPool& team_pool = *me.team->team_pool;
    // relaxed: if the generation has moved on, this thread goes on at once
    team_pool.lent.begin(until == Until::the_end ? Lent::to_the_end
                                                 : me.team->generation.load(std::memory_order_relaxed));
    me.lends = &team_pool;
    return true;
}

void has_thread() {
    Thread& me = this_thread();
    me.lends->lent.end();
    me.lends = nullptr;
}

const TeamPool* lent_to() {
    const Thread* const own = thread_of_os_thread();
    return own == nullptr ? nullptr : own->lends;
}

bool is_over(const TeamPool& lent) { return is_over_since(lent.team, lent.lent.until()); }

bool fits(const TeamPool& team_pool, const TeamPool& lent) {
    const TeamPool* at = &team_pool;
    while (at != nullptr && at != &lent) at = at->around.get();
    return at != nullptr;
}

bool is_behind_lent(const TeamPool& team_pool) {
    for (const TeamPool* at = &team_pool; at != nullptr; at = at->around.get()) {
        if (const std::uint64_t until = at->lent.until(); until != Lent::nothing && is_over_since(at->team, until))
            return true;
    }
    return false;
}

// The thread that has ended the barrier may be about to wake the guest.
void leave_lent_thread(const TeamPool& team_pool) {
    while (weft_guest_here() != nullptr && is_behind_lent(team_pool)) weft_unit_yield();
    come_back();
}

}   // namespace weft_openmp
