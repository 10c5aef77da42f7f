// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting for many units at once.
#include <type_traits>

#include "core/announce.hpp"
#include "core/join.hpp"
#include "core/suspend.hpp"

namespace weft {
namespace {

// Waits for many units at once: each end counts down, the last one wakes the joiner.
struct GroupJoin : JoinWaiter, Suspension {
    atomic<std::size_t> left{1};   // one for the joiner itself, so that no end wakes it before it waits

    explicit GroupJoin(Unit& joiner) : Suspension{joiner} {
        wake = [](JoinWaiter* raw) { static_cast<GroupJoin*>(raw)->ended(); };
    }

    void publish() { ended(); }

    void ended() {
        if (left.fetch_sub(1) != 1) return;
        resume_waiting(self);
    }
};

// Announces the joiner to all units at once. Not to those of private pools: one stream runs them in
// their order, so that a joiner that waits for the first finds the others ended.
[[gnu::noinline]] void join_group(Unit& self, weft_unit* const* units, std::size_t count) {
    GroupJoin group(self);
    for (std::size_t i = 0; i < count; ++i) {
        Unit* unit = to_unit(units[i], "weft_unit_join_many or weft_unit_join_free_many");
        if (unit == nullptr || unit == &self || unit->has_now(Unit::local) || unit->join_state.done()) continue;
        group.left.fetch_add(1);
        if (announce(*unit, JoinState::Waiter(&group)) != JoinState::Announced::waiting) group.left.fetch_sub(1);
    }
    if (group.left.load() > 1) suspend(current(), group, Waits::join_many, units);
}

// Calls the units that are next in the common pool as their turns come, in the order in which the
// pool gives them: a deque gives the newest first. Other streams draw from it meanwhile, so some
// units may be passed over. Units that are not freed here are joined once more.
template <class Handle>
[[gnu::noinline]] void call_those_at_hand(Handle* units, std::size_t count) {
    const Pool* const common = current().common;
    if (common == nullptr) return;
    const bool newest_first = common->kind == WEFT_POOL_DEQUE;
    for (std::size_t done = 0; done < count;) {
        const std::size_t i = newest_first ? count - 1 - done : done;
        Unit* const unit = to_unit(units[i], call_on_many<Handle>);
        Stream& stream = current();
        if (unit == nullptr || !take_next(stream, *unit)) {
            ++done;
        } else if constexpr (std::is_const_v<Handle>) {
            join_taken(stream, *unit);
            ++done;
        } else {
            const CommonRow row = call_common_row(stream, newest_first ? units : units + done, count - done);
            done += row.ended;
            if (row.taken == nullptr) continue;
            if (join_and_free_taken(current(), *to_unit(*row.taken, call_on_many<Handle>)) == WEFT_OK)
                *row.taken = nullptr;
            ++done;
        }
    }
}

}   // namespace

template <class Handle>
weft_status join_many(Handle* units, std::size_t count) {
    Stream* stream = current_or_null();
    Unit* self = stream == nullptr ? nullptr : stream->running;
    const bool shared =
        count > 1 && units[0] != nullptr && !to_unit(units[0], call_on_many<Handle>)->has_now(Unit::local);
    const Unit* unreturned = nullptr;   // the first unit that has ended otherwise
    if (shared && self != nullptr && self->kind != Kind::tasklet) {
        call_those_at_hand(units, count);
        join_group(*self, units, count);
    }
    for (std::size_t i = 0; i < count;) {
        if (units[i] == nullptr) {
            ++i;
            continue;
        }
        Unit& unit = *to_unit(units[i], call_on_many<Handle>);
        if (self != nullptr && (stream = current_or_null())->inline_pool->ready.front() == &unit) {
            if (const std::size_t ended = call_row(*stream, *self, units + i, count - i)) {
                i += ended;
                continue;
            }
        }
        // Most have ended: one load.
        const weft_status status = unit.join_state.done_and_known() ? ended_status(unit)
                                   : std::is_const_v<Handle>        ? join_unended(unit)
                                                                    : join_alone(unit);
        if (!weft_unit_joined(status)) return status;
        if (status != WEFT_OK) {
            if (unreturned == nullptr) unreturned = &unit;
        } else if constexpr (!std::is_const_v<Handle>) {
            release(current_or_null(), unit);
            units[i] = nullptr;
        }
        ++i;
    }
    return unreturned == nullptr ? WEFT_OK : not_returned(*unreturned);
}
template weft_status join_many(weft_unit**, std::size_t);
template weft_status join_many(weft_unit* const*, std::size_t);

}   // namespace weft
