// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/migrate.hpp"

#include <mutex>
#include <utility>

#include "core/announce.hpp"
#include "core/jobs.hpp"
#include "core/promote.hpp"
#include "core/resume.hpp"
#include "core/suspend.hpp"
#include "hart/parker.hpp"
#include "local/extras.hpp"
#include "local/locals.hpp"
#include "observe/observe.hpp"
#include "process/error.hpp"
#include "process/outside_wait.hpp"
#include "process/process.hpp"
#include "process/way.hpp"

namespace weft {

atomic<unsigned> movers_waiting{0};

namespace {

// ---- waiting for a move -------------------------------------------------------------------------

// All waits in one list: they are few, and what they wait for is rare.
struct MoveWaits {
    os::Lock lock;
    MoveWait* first = nullptr;
};
MoveWaits waits;

bool over(const Unit& unit) {
    // seq_cst, after the waiter has counted itself: pairs with settle(), which clears the mark and
    // then checks whether a waiter is counted.
    return !Unit::Marks{unit.marks.load(std::memory_order_seq_cst)}.has(Unit::migrate) ||
           unit.join_state.done_after_all();
}

// Takes the waiters of a unit out, linked by next.
MoveWait* take_waits(const Unit* unit, Went went) {
    std::lock_guard guard(waits.lock);
    MoveWait* taken = nullptr;
    for (MoveWait** at = &waits.first; *at != nullptr;) {
        MoveWait* wait = *at;
        if (wait->unit != unit) {
            at = &wait->next;
            continue;
        }
        *at = wait->next;
        wait->next = taken;
        wait->went = went;
        taken = wait;
        movers_waiting.fetch_sub(1);
    }
    return taken;
}

void wake_all(MoveWait* taken) {
    while (taken != nullptr) {
        MoveWait* wait = std::exchange(taken, taken->next);
        wait->wake(wait);
    }
}

// From now on the waiter is found, or it is woken at once. On the unit's own stream if the unit is
// local.
void enroll(MoveWait& wait) {
    movers_waiting.fetch_add(1);
    {
        std::lock_guard guard(waits.lock);
        // Under the lock: once the waiter is found, or has given up, it may continue, and the unit
        // may be freed.
        if (!wait.given_up && !over(*wait.unit)) {
            wait.next = waits.first;
            waits.first = &wait;
            return;
        }
    }
    movers_waiting.fetch_sub(1);
    wait.wake(&wait);
}

struct UnitMoveWait : MoveWait, Suspension {
    UnitMoveWait(Unit& waiter, Unit& of)
        : MoveWait(of,
                   [](MoveWait* raw) {
                       Unit& woken = static_cast<UnitMoveWait*>(raw)->self;
                       resume_waiting(woken);
                   }),
          Suspension{waiter} {}

    void publish() { begin_move_wait(*this); }
};

[[gnu::noinline]] Went wait_in_unit(Stream& stream, Unit& self, Unit& target) {
    UnitMoveWait wait(self, target);
    suspend(stream, wait, Waits::migration, to_handle(&target));
    return wait.went;
}

struct ThreadMoveWait : MoveWait {
    Parker parker;

    explicit ThreadMoveWait(Unit& of)
        : MoveWait(of, [](MoveWait* raw) { static_cast<ThreadMoveWait*>(raw)->parker.unpark(); }) {}
};

[[gnu::noinline]] Went wait_in_thread(Unit& target) {
    ThreadMoveWait wait(target);
    begin_move_wait(wait);
    const OutsideWait outside;
    wait.parker.park();
    return wait.went;
}

Went wait_without_deadline(Unit& target, std::uint64_t, weft_status&) {
    Stream* stream = current_or_null();
    return stream == nullptr ? wait_in_thread(target) : wait_in_unit(*stream, *stream->running, target);
}

// ---- the move -----------------------------------------------------------------------------------

// Where the unit was asked to go; null: nowhere.
Pool* take_target(Extras& extras) {
    std::lock_guard guard(extras.lock);
    return std::exchange(extras.target, nullptr);
}

// No request to move is pending any more, unless the unit was asked anew meanwhile. Returns the
// waiters for the move, to be woken.
MoveWait* settle(Unit& unit, Extras& extras, Went went) {
    {
        std::lock_guard guard(extras.lock);
        // seq_cst: see over().
        if (extras.target == nullptr)
            unit.marks.fetch_and(static_cast<std::uint8_t>(~Unit::migrate.word), std::memory_order_seq_cst);
    }
    return movers_waiting.load(std::memory_order_seq_cst) != 0 ? take_waits(&unit, went) : nullptr;
}

// The unit belongs to `to`, and the callback that it was given is called. False: the pool has not
// admitted it, and the waiters are woken.
bool change_pool(Unit& unit, Extras& extras, Pool& to) {
    if (!pool::try_move(unit, to)) {
        wake_all(settle(unit, extras, Went::refused));
        return false;
    }
    void (*call)(weft_unit*, void*);
    void* argument;
    {
        std::lock_guard guard(extras.lock);
        call = extras.on_migration;
        argument = extras.on_migration_argument;
    }
    if (call != nullptr) call(to_handle(&unit), argument);
    if (unit.marked(Unit::observed)) observe(trace::Event::migrate, unit);
    return true;
}

// The unit goes over to the pool that it was asked to go to. Went::nowhere: no request is left, or
// it cannot go yet: a unit in a domain belongs to that domain, and goes when it is back.
Went go_over(Unit& unit) {
    if (unit.pool->confined) return Went::nowhere;
    Extras* extras = extras_of(unit);
    Pool* to = extras == nullptr ? nullptr : take_target(*extras);
    if (to == nullptr) return Went::nowhere;
    if (unit.has(Unit::bound)) {   // since it was asked: the primary unit, when the runtime ends
        wake_all(settle(unit, *extras, Went::nowhere));
        return Went::nowhere;
    }
    return change_pool(unit, *extras, *to) ? Went::there : Went::refused;
}

// The unit has left for the pool it belongs to now, and goes there at last; the waiters for its
// move are woken. Afterwards it may run, end and be freed.
void arrive(Stream& stream, Unit& unit) {
    MoveWait* const taken = settle(unit, *extras_of(unit), Went::there);
    probe(Probe::move_before_push);
    make_ready(&stream, unit, pool::From::migrated);
    wake_all(taken);
}

void arrive_elsewhere(void* raw) {
    auto& unit = *static_cast<Unit*>(raw);
    unit.life.move(State::running, State::ready);
    arrive(current(), unit);
}

// The running ULT has gone over, and leaves for its pool.
[[gnu::noinline]] void leave_over(Unit& self, bool started) {
    Stream& stream = current();
    stream.counters.add(trace::Count::yielded);
    Unit* const next = detail::successor(stream);
    if (started) {
        detail::leave_to<Leaves::yields>(stream, self, next, {arrive_elsewhere, &self}, Unit::observed);
    } else {
        // a unit that has not begun neither yields nor continues
        detail::leave<Leaves::told>(stream, self, next, {arrive_elsewhere, &self});
    }
}

weft_status refused(const Unit& unit) {
    return fail(WEFT_NO_MEMORY,
                "the pool that unit %llu was asked to go to has no memory for it, and it stays where it is",
                static_cast<unsigned long long>(unit.id));
}

}   // namespace

void begin_move_wait(MoveWait& wait) {
    PrivatePool* home = foreign_pool(*wait.unit);
    if (home == nullptr) return enroll(wait);
    send_remote_call(
        wait.remote_call, *home, [](void* raw) { enroll(*static_cast<MoveWait*>(raw)); }, &wait);
}

bool give_up_move_wait(MoveWait& wait) {
    std::lock_guard guard(waits.lock);
    wait.given_up = true;
    for (MoveWait** at = &waits.first; *at != nullptr; at = &(*at)->next) {
        if (*at != &wait) continue;
        *at = wait.next;
        movers_waiting.fetch_sub(1);
        return true;
    }
    return false;
}

bool move_away(Unit& self, bool started) {
    if (go_over(self) != Went::there) return false;
    leave_over(self, started);
    return true;
}

bool move_unstarted(Unit& unit) {
    if (go_over(unit) != Went::there) return false;
    arrive(current(), unit);
    return true;
}

void moves_forked() {
    if (!waits.lock.break_open() && movers_waiting.load() == 0) return;
    waits.first = nullptr;
    movers_waiting.store(0);
}

void tell_movers_slow(const Unit* ended) { wake_all(take_waits(ended, Went::nowhere)); }

// ---- staying where it is ------------------------------------------------------------------------

namespace {

void exchange_pool(Unit& unit, Pool& to) {
    if (unit.has(Unit::local)) {
        unit.change_pool(to);
    } else {
        unit.be_plain(false);
        unit.set_pool(to);
    }
}

}   // namespace

// Counted before and after: a thread that finds no unit of the pool finds the count.
void lend_unit(Unit& unit, Pool& to) {
    unit.pool->lent.fetch_add(1);
    exchange_pool(unit, to);
}

void take_back_lent(Unit& unit, Pool& former) {
    exchange_pool(unit, former);
    former.came_back.fetch_add(1);
}

namespace {

// Changes the running unit's pool. Other streams may take jobs that the unit has forked, and read
// its pool when they do.
void move_with_jobs(Stream& stream, Unit& self, Pool& to, void (*move)(Unit&, Pool&)) {
    // its caller takes it for a unit of the pool that it was called out of
    if (self.is_light()) promote(stream, self);
    if (self.has_jobs()) leave_jobs(stream, self);
    std::unique_lock guard(stream.of->jobs, std::defer_lock);
    if (self.jobs_out != 0) guard.lock();
    move(self, to);
}

weft_status calling_ult(Unit*& self) {
    self = running_or_null();
    if (self != nullptr && self->kind != Kind::tasklet) return WEFT_OK;
    return fail(WEFT_WRONG_CONTEXT, "only a ULT is bound to its stream; this is none");
}

}   // namespace

weft_status bind_here(Pool*& former) {
    Unit* self = nullptr;
    if (const weft_status status = calling_ult(self); status != WEFT_OK) return status;
    if (self->has(Unit::bound))
        return fail(WEFT_WRONG_STATE, "unit %llu is bound to its stream already",
                    static_cast<unsigned long long>(self->id));
    while (self->marked(Unit::migrate) && move_away(*self, true)) {}
    Stream& stream = current();
    if (stream.serving.domain != nullptr || stream.serving.lender != nullptr)
        return fail(WEFT_UNSUPPORTED, "a context of a domain may continue on any of the domain's harts");
    if (const weft_status status = is_the_programs(stream); status != WEFT_OK)
        return fail(WEFT_UNSUPPORTED, "this stream is not the program's, and comes and goes");
    former = nullptr;
    PrivatePool* pool = nullptr;
    if (!self->has(Unit::local) || stream.levels.depth != 0) {
        pool = bound_pool(stream);
        if (pool == nullptr)
            return fail(WEFT_NO_MEMORY, "no memory for the pool of units bound to stream %zu", stream.rank);
    }
    self->be(Unit::bound, true);   // before it is in that pool, and until it is not: a thief of its jobs checks this
    ++stream.loop.staying;
    if (pool != nullptr && self->pool != pool) {
        former = self->pool;
        move_with_jobs(stream, *self, *pool, lend_unit);
    }
    return WEFT_OK;
}

weft_status unbind(Pool* former) {
    Unit* self = nullptr;
    if (const weft_status status = calling_ult(self); status != WEFT_OK) return status;
    if (!self->has(Unit::bound) || is_own_code(*self)) {
        return fail(WEFT_WRONG_STATE, "unit %llu is not bound by weft_unit_bind",
                    static_cast<unsigned long long>(self->id));
    }
    Stream& stream = current();
    if (former != nullptr) move_with_jobs(stream, *self, *former, take_back_lent);
    self->be(Unit::bound, false);
    --stream.loop.staying;
    if (former == nullptr) return WEFT_OK;
    // The stream has run the unit out of the pool for bound units, and a scheduler of the pool that
    // the unit comes back to may be sleeping until it is there.
    if (stream.levels.depth == 0 && !draws_from(stream, *former)) yield(stream, *self);
    else former->idle_list.wake_one();   // the scheduler slept since this unit was expected there, and it may not come
    return WEFT_OK;
}

// ---- asking -------------------------------------------------------------------------------------

weft_status no_migration() { return built_without("migration", "WEFT_MIGRATION"); }

weft_status ask_to_move(Unit& unit, Pool& to) {
    if constexpr (!config::migration) return no_migration();
    const auto id = static_cast<unsigned long long>(unit.id);
    if (unit.has_now(Unit::bound))
        return fail(WEFT_WRONG_STATE, "unit %llu is bound to its stream, and stays in its pool", id);
    if (unit.join_state.done()) return fail(WEFT_WRONG_STATE, "unit %llu has ended", id);
    if (unit.kind == Kind::tasklet && !unit.life.is(State::ready)) {
        return fail(WEFT_WRONG_STATE, "tasklet %llu has started, and runs to its end where it is; make it a ULT", id);
    }
    if (unit.marked(Unit::fixed))
        return fail(WEFT_UNSUPPORTED, "unit %llu is not migratable; see weft_unit_migratable_set", id);
    if (unit.pool_now() == &to) return fail(WEFT_INVALID, "unit %llu belongs to that pool already; name another", id);
    Extras* extras = obtain_extras(unit, current_or_null());
    if (extras == nullptr) return fail(WEFT_NO_MEMORY, "no memory for the migration of unit %llu", id);
    std::lock_guard guard(extras->lock);
    extras->target = &to;
    unit.mark(Unit::migrate);
    return WEFT_OK;
}

weft_status ask_to_move_to(Unit& unit, const Sched& sched) {
    if constexpr (!config::migration) return no_migration();
    Pool* const now = unit.pool_now();
    for (std::size_t i = 0; i < sched.count; ++i) {
        if (sched.pools[i] == now)
            return fail(WEFT_INVALID, "unit %llu belongs to one of those pools already; name others",
                        static_cast<unsigned long long>(unit.id));
    }
    return ask_to_move(unit, *sched.pools[0]);
}

weft_status ask_to_move_anywhere(Unit& unit) {
    if constexpr (!config::migration) return no_migration();
    Process& of = process();
    Pool* const now = unit.pool_now();
    Pool* least = nullptr;
    {
        std::lock_guard guard(of.lock);
        std::size_t least_length = 0;
        for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
            const Stream* stream = of.streams[rank];
            if (stream == nullptr || stream->role.hidden) continue;
            Pool* main = stream->levels.main_pool.load();
            if (main == nullptr) continue;
            const std::size_t length = pool::length(*main);
            if (main == now || (least != nullptr && length >= least_length)) continue;
            least = main;
            least_length = length;
        }
    }
    if (least == nullptr) return fail(WEFT_UNSUPPORTED, "there is no stream with another main pool; create one");
    return ask_to_move(unit, *least);
}

weft_status set_on_migration(Unit& unit, void (*callback)(weft_unit*, void*), void* argument) {
    if constexpr (!config::migration) return no_migration();
    Extras* extras = callback == nullptr ? extras_of(unit) : obtain_extras(unit, current_or_null());
    if (extras == nullptr)
        return callback == nullptr ? WEFT_OK : fail(WEFT_NO_MEMORY, "no memory for what a unit's migration calls");
    std::lock_guard guard(extras->lock);
    extras->on_migration = callback;
    extras->on_migration_argument = argument;
    return WEFT_OK;
}

weft_status wait_for_move(Unit& unit, std::uint64_t deadline_ns, Went (*wait)(Unit&, std::uint64_t, weft_status&)) {
    if constexpr (!config::migration) return no_migration();
    Stream* stream = current_or_null();
    Unit* self = stream == nullptr ? nullptr : stream->running;
    if (stream != nullptr && self == nullptr)
        return fail(WEFT_WRONG_CONTEXT, "a scheduler cannot wait for a migration");
    if (self != nullptr && self->kind == Kind::tasklet)
        return fail(WEFT_WRONG_KIND, "a tasklet cannot wait for a migration; make it a ULT");
    if (self == &unit) {
        Went went = Went::there;
        while (went == Went::there && unit.marked(Unit::migrate)) {
            went = go_over(unit);
            if (went == Went::there) leave_over(unit, true);
        }
        return went == Went::refused ? refused(unit) : WEFT_OK;
    }
    weft_status status = WEFT_OK;
    for (;;) {
        if (unit.join_state.done()) {
            if (!unit.marked(Unit::migrate)) return WEFT_OK;
            return fail(WEFT_WRONG_STATE, "unit %llu has ended where it was", static_cast<unsigned long long>(unit.id));
        }
        if (!unit.marked(Unit::migrate)) return WEFT_OK;
        switch (wait(unit, deadline_ns, status)) {
        case Went::there: return WEFT_OK;
        case Went::refused: return refused(unit);
        case Went::given_up: return status;
        case Went::nowhere: break;
        }
    }
}

weft_status wait_for_move(Unit& unit) { return wait_for_move(unit, os::forever, wait_without_deadline); }

// ---- without asking -----------------------------------------------------------------------------

weft_status may_move(const Unit& unit, const Pool& to) {
    if (unit.pool_now() == &to) return WEFT_OK;
    if (unit.has_now(Unit::bound))
        return fail(WEFT_WRONG_STATE, "unit %llu is bound to its stream and stays in its pool",
                    static_cast<unsigned long long>(unit.id));
    if (foreign_pool(unit) != nullptr)
        return fail(WEFT_WRONG_CONTEXT, "only the stream of a private pool moves its units elsewhere");
    return WEFT_OK;
}

weft_status set_pool(Unit& unit, Pool& to) {
    const bool self = &unit == running_or_null();
    const State now = unit.life.seen();
    if (!self && now != State::ready && now != State::suspended) {
        return fail(WEFT_WRONG_STATE, "unit %llu %s", static_cast<unsigned long long>(unit.id),
                    now == State::running
                        ? "runs elsewhere, and says itself to which pool it belongs; or ask it to migrate"
                    : now == State::waiting ? "waits for something, such as a join; ask it to migrate"
                                            : "has ended");
    }
    if (const weft_status status = may_move(unit, to); status != WEFT_OK) return status;
    if (unit.pool == &to) return WEFT_OK;
    if (!pool::try_move(unit, to)) return not_admitted();
    // If the unit was called, its caller takes it for a unit of the pool that it was called out of,
    // unless there is something to see to at its end.
    if (self && unit.is_light()) unit.mark(Unit::untidy);
    return WEFT_OK;
}

weft_status let_move(Unit& unit, bool migratable) noexcept {
    if (unit.has_now(Unit::bound))
        return fail(WEFT_WRONG_STATE, "the unit is bound to its stream and stays in its pool");
    if (migratable) {
        if constexpr (!config::migration) return no_migration();
        unit.unmark(Unit::fixed);
    } else {
        unit.mark(Unit::fixed);
    }
    return WEFT_OK;
}

}   // namespace weft
