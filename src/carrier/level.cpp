// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "carrier/level.hpp"

#include <mutex>
#include <utility>

#include "base/handles.hpp"
#include "carrier/pool_wait.hpp"
#include "carrier/sentry.hpp"
#include "core/attention.hpp"
#include "core/idle.hpp"
#include "core/join.hpp"
#include "core/plan.hpp"
#include "core/promote.hpp"
#include "core/resume.hpp"
#include "core/run.hpp"
#include "core/spawn.hpp"
#include "core/suspend.hpp"
#include "core/yield_to.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "os/process_barrier.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "process/registry.hpp"
#include "process/way.hpp"

namespace weft {
namespace {

weft_sched* handle_of(Sched& sched) { return handles::to_handle<weft_sched>(handles::Thing::scheduler, &sched); }

bool stacked(const Sched& by) { return by.stream.load() == &by; }   // its own owner while no stream's main one

bool replacing(const Stream& stream) { return stream.asked().has(attention::replace); }
bool abandoning(const Stream& stream) { return stream.asked().has(attention::abandon); }

// ---- what belongs to a scheduler ----------------------------------------------------------------

// What is known of the units of a scheduler's pools that are in none of these pools.
enum class Expected : unsigned char {
    nothing,   // there are none
    ends,      // all of those run elsewhere, or are about to, and may end there: nothing reports that
    comes      // one waits, and will be pushed
};

struct Search {
    const Sched* by;
    Expected found;
};

// A unit may be spawned or end on another thread meanwhile: hidden from the thread sanitizer, like
// list.cpp's snapshot.
[[gnu::no_sanitize_thread]] void look_at(void* object, void* raw) {
    const auto& unit = *static_cast<const Unit*>(object);
    auto& search = *static_cast<Search*>(raw);
    const State now = unit.life.now();
    if (search.found == Expected::comes || now == State::free || now == State::done) return;
    for (std::size_t i = 0; i < search.by->count; ++i) {
        // A pool that others draw from too does not need this scheduler. From a pool that is this
        // scheduler's alone two draw: the scheduler, which has the pool, and the stream, which runs
        // the scheduler.
        if (unit.pool != search.by->pools[i] || search.by->pools[i]->drawers.load() > Pool::of_one_stream) continue;
        search.found = now == State::ready || now == State::running ? Expected::ends : Expected::comes;
    }
}

// How many units its pools have ever lent; `out`: some of them are not back.
std::uint32_t lent_by(const Sched& by, bool& out) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < by.count; ++i) {
        const std::uint32_t back = by.pools[i]->came_back.load(), lent = by.pools[i]->lent.load();
        out |= lent != back && by.pools[i]->drawers.load() <= Pool::of_one_stream;
        sum += lent;
    }
    return sum;
}

// Whether living units will come back to a pool from which no other scheduler draws, or end. They
// are searched for among all units: a count would cost each spawn and each end in such pools two
// atomic additions. But units that live elsewhere for a while are counted.
Expected expected(Process& of, const Sched& by) {
    Search search{&by, Expected::nothing};
    bool out = false;
    const std::uint32_t lent = lent_by(by, out);
    if (out) return Expected::comes;
    of.descriptors.each(look_at, &search);
    // a unit lent meanwhile may have been passed over; it comes by a push
    return lent_by(by, out) == lent ? search.found : Expected::comes;
}

// ---- waiting for work as a unit -----------------------------------------------------------------

// The idle lists of the scheduler's pools hold a unit instead of a stream: a waker makes it ready.
struct UnitSleeper : Sleeper {
    Unit& unit;

    explicit UnitSleeper(Unit& of)
        : Sleeper([](Sleeper& self) {
              Unit& sleeping = static_cast<UnitSleeper&>(self).unit;
              resume_waiting(sleeping);   // the last act: it may be gone after this
          }),
          unit(of) {}
};

struct WorkWait : Suspension {
    Sched& by;
    UnitSleeper sleeper;

    WorkWait(Unit& unit, Sched& of) : Suspension{unit}, by(of), sleeper(unit) {}

    // hart/README.md, "Going to sleep and being woken": the numbers are the steps there.
    void publish() {
        sleeper.prepare();   // 1
        for (std::size_t i = 0; i < by.count; ++i) by.places[i].belong_to(sleeper);
        if (sched::listen(by)) os::process_barrier();   // 2
        probe(Probe::sleep_before_recheck);
        if (!sched::quiet_after_all(by)) {   // 3
            sleeper.cancel();                // 4a
        } else if (sleeper.lie_down()) {     // 4b
            // the thread that claims it makes it ready
            return;
        }
        resume_waiting(self);
    }
};

// Suspends the scheduler's unit until something comes into one of its pools.
[[gnu::noinline]] void wait_for_work(Sched& by) {
    Stream& stream = current();
    WorkWait wait(*stream.running, by);
    suspend(stream, wait, Waits::work, handle_of(by));
    wait.sleeper.rise();
    sched::stop_listening(by);                     // 5
    for (std::size_t i = 0; i < by.count; ++i) {   // 6
        if (!pool::quiet(*by.pools[i])) by.pools[i]->idle_list.wake_one();
    }
}

// ---- a scheduler in a pool ----------------------------------------------------------------------

// Runs units until the turn is over; false: none were left.
bool take_turn(Sched& by) {
    Stream& stream = current();
    sched::hand_over(by, &stream);
    Level level(stream, by);
    bool more = true;
    // A unit that another unit has left for by its name runs all the same: its pool may be one that
    // no stream draws from.
    for (unsigned left = by.turn; left != 0 || stream.next_unit != nullptr; left -= left != 0) {
        if (stream.wanted()) [[unlikely]] {
            attend(stream);
            // the stream's own loop is wanted
            if (stream.next_unit == nullptr && (replacing(stream) || abandoning(stream))) break;
        }
        Unit* unit = std::exchange(stream.next_unit, nullptr);
        if (unit == nullptr) unit = sched::pick(by);
        if (unit == nullptr) {
            more = false;
            break;
        }
        run_unit(stream, unit);
    }
    stream.counters.add(trace::Count::stolen, std::exchange(by.stolen, 0));
    level.leave(stream);
    sched::hand_over(by, &by);
    return more;
}

void yield_running() {
    Stream& stream = current();
    yield(stream, *stream.running);
}

// False: nothing is expected any more.
bool wait_for_expected(Sched& by) {
    switch (expected(*current().of, by)) {
    case Expected::nothing: return false;
    // a child that began elsewhere, or a job that has notified its owner and is about to end
    case Expected::ends: yield_running(); break;
    case Expected::comes: wait_for_work(by); break;
    }
    return true;
}

// The body of a scheduler's unit in a pool.
void stacked_main(void* raw) {
    auto& by = *static_cast<Sched*>(raw);
    if (by.stateless()) {
        for (;;) {
            if (take_turn(by)) {
                yield_running();
            } else if (!sched::quiet(by)) {
                yield_running();   // a pusher is between its two steps, or another thread was faster
            } else if (!wait_for_expected(by)) {
                break;
            }
        }
    } else {
        do by.ops.run(by.self, handle_of(by));
        while (!sched::quiet(by) || expected(*current().of, by) != Expected::nothing);
    }
    const bool owned = by.owned;
    by.unit = nullptr;
    sched::detach(by, &by);   // from here on other threads may free it
    if (owned) dismiss(*current().of, by);
}

// ---- a main scheduler that owns its loop --------------------------------------------------------

// The body of its unit, which the stream's own loop runs.
void main_main(void* raw) {
    auto& by = *static_cast<Sched*>(raw);
    do by.ops.run(by.self, handle_of(by));
    while (!run_should_stop(current(), by));
    by.unit = nullptr;
    current().levels.main_runs = false;
}

Unit* make_sched_unit(Process& of, Stream* stream, Pool& pool, void (*body)(void*), Sched& sched, const void* site) {
    Unit::InitialHeader initial_header = initial_header_in(pool, Kind::full);
    initial_header.marks = {};   // schedulers are not observed
    Unit* unit = make_unit(stream, pool, body, &sched, initial_header, site);
    if (unit == nullptr) return nullptr;
    unit->flags |= Unit::scheduler;
    sched.as_main = body == main_main;
    Plan wanted{};
    wanted.kind = Kind::full;
    wanted.stack_bytes = of.settings.values.scheduler_stack_bytes;
    wanted.name = "scheduler";
    return furnish(stream, *unit, wanted) == WEFT_OK ? unit : nullptr;
}

}   // namespace

Level::Level(Stream& stream, Sched& by)
    : unit_(stream.running),
      sched_(stream.sched),
      sched_context_(stream.sched_context),
      direct_(stream.direct),
      common_(stream.common),
      standard_(stream.standard),
      lender_(stream.serving.lender),
      saved_way_(stream.serving.saved_way),
      serving_(stream.serving.under_way) {
    if (may_be_followed(*unit_)) [[unlikely]]
        tell_followers_it_leaves(stream, *unit_);
    stream.serving.lender = stream.serving.domain;
    stream.serving.under_way = false;
    stream.sched = &by;
    stream.sched_context.stack = unit_->stack;
    stream.direct = nullptr;
    stream.common = nullptr;
    stream.standard = by.pools[0];
    settle_homes(stream);
    stream.running = nullptr;
    stream.inline_pool = &Stream::no_pool;
    ++stream.levels.depth;
    stream.through_scheduler = true;   // the result of settle_way() at any depth
    stream.restartable = false;
}

void Level::leave(Stream& stream) {
    WEFT_ASSERT(stream.next_unit == nullptr);
    stream.sched = sched_;
    stream.sched_context = sched_context_;
    stream.direct = direct_;
    stream.common = common_;
    stream.standard = standard_;
    stream.serving.lender = lender_;
    stream.serving.saved_way = saved_way_;
    stream.serving.under_way = serving_;
    settle_homes(stream);
    stream.running = unit_;
    if (direct_ != nullptr) (unit_->has_jobs() ? stream.inline_pool_without_jobs : stream.inline_pool) = direct_;
    --stream.levels.depth;
    settle_way(stream);
    if (may_be_followed(*unit_)) [[unlikely]]
        tell_followers_it_returns(stream, *unit_);
}

void begin_main(Stream& stream) {
    Sched& main = *stream.levels.main;
    stream.standard = main.pools[0];
    stream.levels.main_pool.store(main.pools[0]);
    stream.direct = nullptr;
    stream.common = nullptr;
    stream.inline_pool = &Stream::no_pool;
    if (main.stateless()) {
        stream.sched = &main;
        Pool* const first = main.pools[0];
        const bool alone = main.kind == WEFT_SCHED_BASIC && main.count == 1;
        if (alone && first->kind == WEFT_POOL_PRIVATE && stream.own == nullptr)
            stream.direct = static_cast<PrivatePool*>(first);
        if ((alone && first->kind == WEFT_POOL_SHARED) ||
            (main.kind == WEFT_SCHED_RANDOM_STEAL && first->kind == WEFT_POOL_DEQUE))
            stream.common = first;
    } else {
        stream.sched = stream.levels.beneath;
        stream.levels.main_runs = true;
        pool::push(*stream.levels.beneath->pools[0], main.unit);
    }
    settle_homes(stream);
    settle_way(stream);
    note_for_sentry(*stream.of, stream);
}

weft_status prepare_main(Stream& stream, Sched& sched) {
    if (sched.stateless()) return WEFT_OK;
    Process& of = *stream.of;
    if (stream.levels.beneath == nullptr) {
        Pool* pool = make_pool(of, WEFT_POOL_PRIVATE);
        Sched* beneath = pool == nullptr ? nullptr : sched::create(WEFT_SCHED_BASIC, nullptr, nullptr, &pool, 1);
        if (beneath == nullptr) {
            if (pool != nullptr) pool::destroy(pool);
            return fail(WEFT_NO_MEMORY, "no memory for the loop beneath a scheduler");
        }
        enlist(of, *pool);
        enlist(of, *beneath);
        sched::attach(*beneath, &stream);
        beneath->places[0].belong_to(stream.sleep.sleeper);
        stream.levels.beneath = beneath;
    }
    // From the common heap: the caller need not be on the stream.
    Unit* unit = make_sched_unit(of, nullptr, *stream.levels.beneath->pools[0], main_main, sched, nullptr);
    if (unit == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a scheduler's stack");
    unit->flags |= Unit::bound;
    unit->join_state.detach_local();
    sched.unit = unit;
    return WEFT_OK;
}

void forget_main(Sched& sched) {
    if (Unit* unit = std::exchange(sched.unit, nullptr)) give_back(nullptr, *unit);
}

namespace {

// The stream no longer draws for `sched`, but continues with those of its pools that it also has
// through the other schedulers, or for its bound units.
void give_up(Stream& stream, Sched& sched, const Sched* one, const Sched* other) {
    sched::count_stateful(sched, &stream, -1);
    for (std::size_t i = 0; i < sched.count; ++i) {
        Pool& pool = *sched.pools[i];
        const bool kept = (one != nullptr && has_pool(*one, pool)) || (other != nullptr && has_pool(*other, pool)) ||
                          &pool == stream.bound.load();
        if (kept) {
            pool::detach_sharing(pool);
        } else {
            pool::detach(pool, &stream);
        }
    }
    sched.stream.store(nullptr);
}

}   // namespace

weft_status set_main(Stream& stream, Sched& sched) {
    Process& of = *stream.of;
    Sched* superseded;
    {
        std::lock_guard guard(of.replacing);
        if (!sched::attach(sched, &stream)) {
            return fail(
                WEFT_BUSY,
                "another stream or a pool has this scheduler, or owns its private pool or the deque at its head");
        }
        if (weft_status status = prepare_main(stream, sched); status != WEFT_OK) {
            give_up(stream, sched, stream.levels.main, stream.levels.next_main);
            return status;
        }
        superseded = std::exchange(stream.levels.next_main, &sched);
        if (superseded != nullptr) {
            forget_main(*superseded);
            give_up(stream, *superseded, stream.levels.main, &sched);
        }
    }
    if (superseded != nullptr && superseded->owned) dismiss(of, *superseded);
    ask(stream, attention::replace);
    return WEFT_OK;
}

bool replace_main(Stream& stream) {
    Process& of = *stream.of;
    Sched* old;
    bool owned;
    {
        std::lock_guard guard(of.replacing);
        unask(stream, attention::replace);
        Sched* next = std::exchange(stream.levels.next_main, nullptr);
        if (next == nullptr) return false;
        old = std::exchange(stream.levels.main, next);
        owned = old->owned;
        // Units that are bound to the stream wait where they are: in a pool that the stream draws
        // from besides the scheduler's.
        PrivatePool* bound = stream.bound.load();
        // Not the stream's own yet: adopt_bound_pool() is still to come.
        const bool own = bound != nullptr && bound->mine() && !has_pool(*next, *bound);
        if (own && stream.own == nullptr && has_pool(*old, *bound)) bound->drawers.fetch_add(1);
        if (!own && stream.own != nullptr) pool::detach_sharing(*stream.own);
        stream.own = own ? bound : nullptr;
        if (own) stream.sleep.own_place.belong_to(stream.sleep.sleeper);
        give_up(stream, *old, next, nullptr);
        for (std::size_t i = 0; i < next->count; ++i) next->places[i].belong_to(stream.sleep.sleeper);
    }
    if (owned) dismiss(of, *old);
    begin_main(stream);
    return true;
}

weft_status push_sched(Process& of, Pool& pool, Sched& sched, unsigned turn, Unit** unit, bool detached,
                       const void* site) {
    if (has_pool(sched, pool)) return fail(WEFT_INVALID, "a scheduler cannot wait in a pool that it draws from itself");
    if (!sched.stateless()) {
        for (std::size_t i = 0; i < sched.count; ++i) {
            if (sched.pools[i]->kind != WEFT_POOL_PRIVATE) continue;
            return fail(
                WEFT_UNSUPPORTED,
                "pool %zu is private: a scheduler with run that is pushed may go on on another stream, and its pools "
                "with it only between two of its calls",
                i);
        }
    }
    if (!sched::attach(sched, &sched)) {
        return fail(WEFT_BUSY,
                    "a stream or another pool has this scheduler, or its private pool or the deque at its head has "
                    "another owner");
    }
    Stream* stream = current_or_null();
    Unit* made = make_sched_unit(of, stream, pool, stacked_main, sched, site);
    if (made == nullptr) {
        sched::detach(sched, &sched);
        return fail(WEFT_NO_MEMORY, "no memory for a scheduler's stack");
    }
    if (!pool::enters(*made)) {
        give_back(stream, *made);
        sched::detach(sched, &sched);
        return not_admitted();
    }
    sched.unit = made;
    sched.turn = turn;
    *unit = made;
    if (detached) made->join_state.detach_local();   // no other thread knows the unit yet
    return WEFT_OK;
}

void run_below(Stream& stream, Sched& by, Unit* unit) {
    const os::ExceptionGlobals kept = std::exchange(*stream.exceptions, {});   // the scheduler may handle an exception
    const int error = *stream.errno_address;
    Level level(stream, by);
    if (stream.wanted()) [[unlikely]]
        attend(stream);
    ++by.ran;
    run_unit(stream, unit);
    for (;;) {
        if (stream.wanted()) [[unlikely]]
            attend(stream);   // and the hart is back, if the unit has left it to a domain
        if (stream.next_unit == nullptr) break;
        run_next_unit(stream);   // the unit has left for another by its name, which takes its place
    }
    level.leave(stream);
    *stream.errno_address = error;
    *stream.exceptions = kept;
}

void run_child(Stream& stream, Unit& caller, Unit* unit) {
    // If the caller suspends, the unit or scheduler that called it continues elsewhere; and the
    // child may make it suspend.
    if (caller.is_light()) promote(stream, caller);
    const bool with_float = is_in_own_float(caller);
    const arch::FloatingPoint own = with_float ? leave_own_float(stream) : arch::FloatingPoint{};
    run_below(stream, is_scheduler(caller) ? *static_cast<Sched*>(caller.argument) : *stream.sched, unit);
    if (with_float) enter_own_float(stream, own);
}

bool run_should_stop(Stream& stream, Sched& by) {
    if (stacked(by)) {
        if (by.ran >= by.turn) {
            by.ran = 0;
            yield_running();
        }
        return sched::quiet(by) && expected(*stream.of, by) == Expected::nothing;
    }
    if (stream.wanted()) {
        Level level(stream, by);   // no unit makes the posted calls
        attend(stream);
        level.leave(stream);
    }
    if (replacing(stream) || abandoning(stream)) return true;
    if (stream.own != nullptr) {
        if (Unit* unit = stream.own->pop()) run_below(stream, by, unit);
    }
    return stream.asked().has(attention::stop) && !expects_bound(stream) && !expects_lent(by) && sched::quiet(by) &&
           (stream.own == nullptr || pool::quiet(*stream.own)) && !one_returns(stream, by);
}

void run_wait(Stream& stream, Sched& by) {
    if (stacked(by)) {
        if (sched::quiet(by)) wait_for_expected(by);
        return;
    }
    Level level(stream, by);
    if (stream.wanted()) attend(stream);
    if (stream.asked().has(attention::stop) && one_returns(stream, by)) os::thread_yield();
    else idle(stream);
    run_next_unit(stream);
    level.leave(stream);
}

Unit* run_pop_wait(Stream& stream, Pool& from, std::uint64_t deadline_ns) {
    Level level(stream, *static_cast<Sched*>(stream.running->argument));
    Unit* unit = pop_wait(&stream, from, deadline_ns);
    level.leave(stream);
    return unit;
}

weft_status may_run_child(const Unit& child) noexcept {
    Stream* const stream = current_or_null();
    Unit* const self = stream == nullptr ? nullptr : stream->running;
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a ULT runs another unit; this is none");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet runs no other unit; make it a ULT");
    if (self->kind == Kind::hosted)
        return fail(WEFT_WRONG_KIND,
                    "a hosted unit runs no other unit by its thread pointer; spawn it, or yield to it");
    if (!child.life.is(State::ready)) {
        return fail(WEFT_WRONG_STATE, "unit %llu is not ready: only one that was popped can be run",
                    static_cast<unsigned long long>(child.id));
    }
    if (child.has_now(Unit::local)) {
        if (const weft_status status = may_run_here(child); status != WEFT_OK) return status;
    }
    return WEFT_OK;
}

}   // namespace weft
