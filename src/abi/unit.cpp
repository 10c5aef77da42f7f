#include "abi/convert.hpp"
#include "carrier/level.hpp"
#include "core/finish.hpp"
#include "core/join.hpp"
#include "core/may_end.hpp"
#include "core/migrate.hpp"
#include "core/resume.hpp"
#include "core/revive.hpp"
#include "core/spawn.hpp"
#include "core/suspend.hpp"
#include "core/towards.hpp"
#include "inspect/list.hpp"
#include "local/extras.hpp"
#include "process/outlived.hpp"
#include "process/way.hpp"
#include "weft/unit.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>


using namespace weft;

namespace {

// Where a unit goes when the caller names no pool.
Pool& standard_pool(Stream* stream) {
    return stream != nullptr ? *stream->standard : *process().streams[0]->main_pool.load();
}

// The new unit's pool has not admitted it.
[[gnu::cold, gnu::noinline]] weft_status turn_away(Stream* stream, Unit& unit) {
    give_back(stream, unit);
    return not_admitted();
}

// The descriptor enters its pool; its handle goes to the caller, or it belongs to nobody.
void launch(Stream* stream, Unit& unit, bool child_first, weft_unit** handle) {
    if (handle != nullptr) {
        *handle = weft::to_handle(&unit);
    } else {
        unit.joint.detach_local();   // nobody else knows the unit yet
    }
    if (child_first) return launch_child_first<pool::Place::parent>(unit);
    make_ready(stream, unit, pool::Place::spawned);
}

// Everything but the plain case, and but for what the options' data need where there is no unit to have them.
template <bool tasklet>
weft_status spawn_as_planned(Pool* pool, void (*body)(void*), void* argument, const weft_unit_options* options, Plan& chosen,
                             weft_unit** handle, const void* site) noexcept {
    if (weft_status status = plan(options, tasklet, chosen); status != WEFT_OK) return status;
    if (body == nullptr) return is_null("body");
    Stream* stream = current_or_null();
    if (chosen.placed) {
        if (weft_status status = place(chosen, stream, &pool); status != WEFT_OK) return status;
    }
    if (pool == nullptr) pool = &standard_pool(stream);
    if (weft_status status = fits(chosen, *pool); status != WEFT_OK) return status;
    decide(chosen, *pool, site, body);
    Unit* unit = make_unit(stream, *pool, body, argument, birth_in(*pool, chosen.kind), site);
    if (unit == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a unit");
    if (weft_status status = furnish(stream, *unit, chosen); status != WEFT_OK) return status;
    chosen.data = nullptr;   // the unit's from here on
    if (!pool::enters(*unit)) return turn_away(stream, *unit);
    if (chosen.learner != nullptr && stream != nullptr && stream->sampling.takes_next(*chosen.learner)) make_sample(*unit, *chosen.learner);
    if (unit->marked(Unit::observed)) [[unlikely]] observe(trace::Event::create, *unit);
    launch(stream, *unit, chosen.child_first, handle);
    return WEFT_OK;
}

// Of kind auto, on a stream, without options, into a pool that others draw from.
[[gnu::noinline]] weft_status spawn_by_site(Pool& pool, void (*body)(void*), void* argument, weft_unit** handle, const void* address) noexcept {
    Stream* const caller = current_or_null();
    if (caller == nullptr) __builtin_unreachable();   // make_unit() need not ask
    Stream& stream = *caller;
    LatestSites::Entry& latest = stream.latest_sites.at(address);
    if (latest.address != address || latest.body != body) [[unlikely]] look_up_site(latest, address, body);
    const Site& site = *latest.site;
    latest.birth = Unit::birth(site.kind(), false);
    Unit* const unit = make_unit(&stream, pool, body, argument, births.of(site.kind(), false), address);
    if (unit == nullptr) [[unlikely]] return fail(WEFT_NO_MEMORY, "no memory for a unit");
    if (!pool::enters(*unit)) [[unlikely]] return turn_away(&stream, *unit);
    if (stream.sampling.takes_next(site)) [[unlikely]] make_sample(*unit, site);
    if (unit->marked(Unit::observed)) [[unlikely]] observe(trace::Event::create, *unit);
    *handle = weft::to_handle(unit);
    pool::push(pool, unit, pool::Place::spawned);
    return WEFT_OK;
}

// A ULT of the default kind, into the stream's common pool; the stream is not observed. One of kind auto goes this way if it comes from one of the latest
// places and is no sample: what was found out for the one before holds for it.
[[gnu::always_inline]] inline weft_status spawn_into_common(Stream& stream, Pool& pool, void (*body)(void*), void* argument, weft_unit** handle,
                                                            const void* site) {
    const Unit::Birth* birth = &stream.birth_common;
    if (stream.default_kind == Kind::automatic) {
        const LatestSites::Entry& latest = stream.latest_sites.at(site);
        if (latest.address != site || latest.body != body || !stream.sampling.passes_over_next()) return spawn_by_site(pool, body, argument, handle, site);
        birth = &latest.birth;
    }
    Unit* const unit = make_unit(&stream, pool, body, argument, *birth, site);
    if (unit == nullptr) [[unlikely]] return fail(WEFT_NO_MEMORY, "no memory for a unit");
    *handle = weft::to_handle(unit);
    if (pool.kind == WEFT_POOL_SHARED) {
        pool::push_shared(static_cast<SharedPool&>(pool), unit);
    } else {
        pool::push_own(static_cast<DequePool&>(pool), unit);
    }
    return WEFT_OK;
}

// On a stream, without options, into any pool.
template <bool tasklet>
[[gnu::noinline]] weft_status spawn_elsewhere(Pool* pool, void (*body)(void*), void* argument, weft_unit** handle,
                                              const void* site) noexcept {
    Stream* const caller = current_or_null();
    if (caller == nullptr) __builtin_unreachable();   // as above
    Stream& stream = *caller;
    if (pool == nullptr) pool = stream.standard;
    if (!tasklet && pool == stream.common_home) return spawn_into_common(stream, *pool, body, argument, handle, site);
    Kind kind = tasklet ? Kind::tasklet : stream.default_kind;
    if (kind == Kind::automatic) {
        if (pool->kind != WEFT_POOL_PRIVATE) return spawn_by_site(*pool, body, argument, handle, site);
        kind = Kind::lsa;
    }
    Unit* unit = make_unit(&stream, *pool, body, argument, birth_in(*pool, kind), site);
    if (unit == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a unit");
    if (kind == Kind::full && !give_default_stack(&stream, *unit)) [[unlikely]] {
        give_back(&stream, *unit);
        return fail(WEFT_NO_MEMORY, "no memory for a stack");
    }
    if (!pool::enters(*unit)) [[unlikely]] return turn_away(&stream, *unit);
    if (unit->marked(Unit::observed)) [[unlikely]] observe(trace::Event::create, *unit);
    *handle = weft::to_handle(unit);
    pool::push(*pool, unit, pool::Place::spawned);
    return WEFT_OK;
}

// On a stream, without options, into any pool; nobody gets its handle. What unnamed units cost is told apart from those above, so that these need not ask.
template <bool tasklet>
[[gnu::noinline]] weft_status spawn_unnamed(Stream& stream, Pool* pool, void (*body)(void*), void* argument, const void* site) noexcept {
    if (pool == nullptr) pool = stream.standard;
    const weft_pool_kind where = pool->kind;   // read once, for stores to the unit might change it
    const bool own = where == WEFT_POOL_PRIVATE;
    Kind kind = tasklet ? Kind::tasklet : stream.default_kind;
    const Site* learner = nullptr;
    if (kind == Kind::automatic && own) kind = Kind::lsa;
    if (kind == Kind::automatic) {
        LatestSites::Entry& latest = stream.latest_sites.at(site);
        if (latest.address != site || latest.body != body) [[unlikely]] look_up_site(latest, site, body);
        learner = latest.site;
        kind = learner->kind();
        latest.birth = Unit::birth(kind, false);
    }
    Unit* const unit = make_unit(&stream, *pool, body, argument, births.of(kind, own), site);
    if (unit == nullptr) [[unlikely]] return fail(WEFT_NO_MEMORY, "no memory for a unit");
    if (kind == Kind::full && !give_default_stack(&stream, *unit)) [[unlikely]] {
        give_back(&stream, *unit);
        return fail(WEFT_NO_MEMORY, "no memory for a stack");
    }
    if (where == WEFT_POOL_USER && !pool::enters(*unit)) [[unlikely]] return turn_away(&stream, *unit);
    if (learner != nullptr && stream.sampling.takes_next(*learner)) [[unlikely]] make_sample(*unit, *learner);
    if (unit->marked(Unit::observed)) [[unlikely]] observe(trace::Event::create, *unit);
    unit->joint.announce_first(Joint::detacher());   // nobody else knows the unit yet
    if (where == WEFT_POOL_SHARED) {
        pool::push_shared(static_cast<SharedPool&>(*pool), unit);
    } else {
        pool::push(*pool, unit, pool::Place::spawned);
    }
    return WEFT_OK;
}

// Most tasklets that nobody names, into a shared pool. False: it is done with more care, and nothing has happened. Nothing is called but to wake somebody,
// so that no register is saved.
[[gnu::always_inline]] inline bool spawn_unnamed_at_once(Stream& stream, Pool* pool, void (*body)(void*), void* argument, const void* site) {
    const Unit::Birth birth = births.of(Kind::tasklet, false);
    if (pool == nullptr || pool->kind != WEFT_POOL_SHARED || (birth.marks & Unit::observed) != 0) return false;
    auto* const unit = static_cast<Unit*>(stream.units->try_take());
    if (unit == nullptr) return false;
    unit->id = stream.take_id();
    describe(*unit, *pool, body, argument, site);
    unit->begin_life(birth);
    unit->joint.announce_first(Joint::detacher());   // nobody else knows the unit yet
    pool::push_shared(static_cast<SharedPool&>(*pool), unit);
    return true;
}

template <bool tasklet>
[[gnu::noinline]] weft_status spawn_with_options(Pool* pool, void (*body)(void*), void* argument, const weft_unit_options* options,
                                           weft_unit** handle, const void* site) noexcept {
    if (process_or_null() == nullptr) return not_initialized();
    Plan chosen;
    const weft_status status = spawn_as_planned<tasklet>(pool, body, argument, options, chosen, handle, site);
    if (status != WEFT_OK && chosen.data != nullptr && chosen.release != nullptr) chosen.release(chosen.data);
    return status;
}

template <bool tasklet>
[[gnu::noinline]] weft_status spawn_slowly(Pool* pool, void (*body)(void*), void* argument, const weft_unit_options* options,
                                           weft_unit** handle, const void* site) noexcept {
    if (handle == nullptr && options == nullptr && body != nullptr) {
        if (Stream* const stream = current_or_null()) {
            if (tasklet && spawn_unnamed_at_once(*stream, pool, body, argument, site)) return WEFT_OK;
            return spawn_unnamed<tasklet>(*stream, pool, body, argument, site);
        }
    }
    return spawn_with_options<tasklet>(pool, body, argument, options, handle, site);
}

// The plain case, into the stream's own private pool, calls nothing but as its last step, so that it needs no frame.
template <bool tasklet>
[[gnu::always_inline]] inline weft_status spawn(Pool* pool, void (*body)(void*), void* argument,
                                                const weft_unit_options* options, weft_unit** handle, const void* site) {
    Stream* const stream = current_or_null();
    if (stream == nullptr || body == nullptr || options != nullptr || handle == nullptr) [[unlikely]] {
        return spawn_slowly<tasklet>(pool, body, argument, options, handle, site);
    }
    Pool* const home = tasklet ? stream->tasklet_home : stream->ult_home;
    if (pool != home && (pool != nullptr || home == Stream::nowhere())) [[unlikely]] {
        return spawn_elsewhere<tasklet>(pool, body, argument, handle, site);
    }
    auto* unit = static_cast<Unit*>(stream->units->try_take());
    if (unit == nullptr) [[unlikely]] return spawn_slowly<tasklet>(home, body, argument, nullptr, handle, site);
    unit->id = stream->take_id();
    describe(*unit, *home, body, argument, site);
    unit->begin_life(tasklet ? stream->birth_tasklet : stream->birth_ult);
    *handle = weft::to_handle(unit);
    static_cast<PrivatePool*>(home)->put(unit);
    return WEFT_OK;
}

// What weft_unit_spawn_many is given.
struct Given {
    size_t count;
    void (*body)(void*);
    void* const* arguments;
    weft_unit** units;
    const void* site;
};

// Units that were made together, linked from the first to the last.
struct Made {
    Unit* first;
    Unit* last;
    weft_status status;
};

// Taken back in the order from the last to the first.
[[gnu::noinline]] void take_back(Stream* stream, Unit* first, size_t count, weft_unit** units) {
    Unit* last = nullptr;
    for (size_t i = 0; i < count; ++i) first = std::exchange(first->link, std::exchange(last, first));
    while (last != nullptr) give_back(stream, *std::exchange(last, last->link));
    if (units != nullptr) std::fill_n(units, count, nullptr);
}

// `plan`: null, or what is to be seen to besides their kind. `learner`: null, or of kind auto the place.
Made make_row(Stream* stream, Pool& home, Unit::Birth birth, const Given& given, const Plan* plan, const Site* learner) {
    Unit* first = nullptr;
    Unit** link = &first;
    Unit* unit = nullptr;
    if (stream == nullptr) learner = nullptr;
    // One comparison for both: whether the unit before was a sample, and whether it was the last one.
    size_t sample = learner != nullptr ? stream->sampling.next() : given.count + 1;
    size_t stop = std::min(sample, given.count);
    for (size_t i = 0;; ++i) {
        if (i == stop) [[unlikely]] {
            if (i == sample) {
                make_sample(*unit, *learner);
                sample += stream->sampling.draw(*learner);
            }
            if (i == given.count) break;
            stop = std::min(sample, given.count);
        }
        unit = make_unit(stream, home, given.body, given.arguments == nullptr ? nullptr : given.arguments[i], birth, given.site);
        weft_status status = WEFT_OK;
        if (unit == nullptr) [[unlikely]] {
            status = fail(WEFT_NO_MEMORY, "no memory for unit %zu of %zu", i + 1, given.count);
        } else if (plan != nullptr) {
            status = furnish(stream, *unit, *plan);
        }
        if (status != WEFT_OK) [[unlikely]] {
            take_back(stream, first, i, given.units);
            return {nullptr, nullptr, status};
        }
        *link = unit;
        link = &unit->link;
        if (given.units != nullptr) {
            given.units[i] = weft::to_handle(unit);
        } else {
            unit->joint.detach_local();   // nobody else knows the unit yet
        }
    }
    if (learner != nullptr) stream->sampling.set_next(sample - given.count);
    return {first, unit, WEFT_OK};
}

// Linked from the first to the last: all enter their pool, which is a user's, or none.
[[gnu::noinline]] bool enter_all(Unit* first, size_t count) {
    Unit* unit = first;
    for (size_t i = 0; i < count; ++i, unit = unit->link) {
        if (pool::enters(*unit)) continue;
        for (unit = first; i-- > 0; unit = unit->link) pool::expel(*unit->pool, *unit);
        return false;
    }
    return true;
}

// Linked from the first to the last.
[[gnu::noinline]] void observe_all_created(Unit* first, size_t count) {
    for (Unit* unit = first; count-- > 0; unit = unit->link) observe(trace::Event::create, *unit);
}

weft_status revive_at(weft_pool* pool, void (*body)(void*), void* argument, weft_unit* unit, const void* site, bool child_first) {
    if (body == nullptr || unit == nullptr) return is_null(body == nullptr ? "body" : "unit");
    if (process_or_null() == nullptr) return not_initialized();
    Pool& home = pool == nullptr ? standard_pool(current_or_null()) : *to_pool(pool);
    return revive(*to_unit(unit), home, body, argument, site, child_first ? Revived::first : Revived::pushed);
}

struct UserSuspension : Suspension {
    static constexpr State state = State::suspended;
    static constexpr std::uint8_t heeded = Unit::at_return;
    weft_unit* handle;   // made before somebody may free the unit
    void (*call)(weft_unit*, void*);
    void* argument;

    UserSuspension(Unit& unit, void (*by)(weft_unit*, void*), void* with)
        : Suspension{unit}, handle(weft::to_handle(&unit)), call(by), argument(with) {}

    void publish() {
        if (call != nullptr) call(handle, argument);
    }
};

[[gnu::noinline]] void suspend_by(Stream& stream, Unit& self, void (*publish)(weft_unit*, void*), void* argument) {
    UserSuspension request(self, publish, argument);
    suspend(stream, request, Waits::as_stated, argument);
}

}  // namespace

extern "C" {

weft_status weft_ult_spawn(weft_pool* pool, void (*body)(void*), void* argument, const weft_unit_options* options,
                           weft_unit** unit) noexcept {
    return spawn<false>(to_pool(pool), body, argument, options, unit, __builtin_return_address(0));
}

weft_status weft_tasklet_spawn(weft_pool* pool, void (*body)(void*), void* argument, const weft_unit_options* options,
                               weft_unit** unit) noexcept {
    return spawn<true>(to_pool(pool), body, argument, options, unit, __builtin_return_address(0));
}

weft_status weft_ult_spawn_at(weft_pool* pool, void (*body)(void*), void* argument, const weft_unit_options* options,
                              weft_unit** unit, const void* site) noexcept {
    return spawn<false>(to_pool(pool), body, argument, options, unit, site);
}

weft_status weft_tasklet_spawn_at(weft_pool* pool, void (*body)(void*), void* argument, const weft_unit_options* options,
                                  weft_unit** unit, const void* site) noexcept {
    return spawn<true>(to_pool(pool), body, argument, options, unit, site);
}

weft_status weft_unit_spawn_many(weft_pool* pool, size_t count, void (*body)(void*), void* const* arguments,
                                 const weft_unit_options* options, weft_unit** units) noexcept {
    if (body == nullptr) return is_null("body");
    if (process_or_null() == nullptr) return not_initialized();
    if (count == 0) return WEFT_OK;
    Stream* stream = current_or_null();
    const bool tasklets = options != nullptr && options->size >= sizeof(size_t) + sizeof(weft_kind) && number_of(options->kind) == WEFT_KIND_TASKLET;
    Plan chosen;
    if (weft_status status = plan(options, tasklets, chosen); status != WEFT_OK) return status;
    if (chosen.child_first || chosen.stack != nullptr || chosen.data != nullptr) {
        return fail(WEFT_INVALID, "units spawned together cannot be child-first or share one stack or one pointer of the program's");
    }
    Pool* named = to_pool(pool);
    if (chosen.placed) {
        if (weft_status status = place(chosen, stream, &named); status != WEFT_OK) return status;
    }
    Pool& home = named == nullptr ? standard_pool(stream) : *named;
    if (weft_status status = fits(chosen, home); status != WEFT_OK) return status;
    const Given given{count, body, arguments, units, __builtin_return_address(0)};
    decide(chosen, home, given.site, body);
    const Unit::Birth birth = birth_in(home, chosen.kind);
    const Made row = make_row(stream, home, birth, given, chosen.asks_for_more() ? &chosen : nullptr, chosen.learner);
    if (row.status != WEFT_OK) [[unlikely]] return row.status;
    if (home.kind == WEFT_POOL_USER && !enter_all(row.first, count)) {
        take_back(stream, row.first, count, units);
        return not_admitted();
    }
    if ((birth.marks & Unit::observed) != 0) [[unlikely]] observe_all_created(row.first, count);
    pool::push_many(home, row.first, row.last, count, pool::Place::spawned);
    return WEFT_OK;
}

weft_status weft_unit_join(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return join(*to_unit(unit));
}

weft_status weft_unit_try_join(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    Unit* of = to_unit(unit);
    if (!of->joint.done()) return fail(WEFT_BUSY, "the unit has not ended");
    if (!of->joint.done_and_known()) learn(*of);
    return outcome(*of);
}

weft_status weft_unit_join_many(weft_unit* const* units, size_t count) noexcept {
    if (units == nullptr && count != 0) return is_null("units");
    return join_many(units, count);
}

weft_status weft_unit_free(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    Unit* of = to_unit(unit);
    Stream* stream = current_or_null();
    if (stream != nullptr && stream->callable->ready.front() == of) {
        if (may_call_at_once(*stream, *of)) [[likely]] return free_by_call<Out::first>(*stream, *stream->running, *of);
        if (may_call_tasklet_at_once(*stream, *of)) return free_tasklet_by_call<Out::first>(*stream, *stream->running, *of);
    }
    return of->joint.done_and_known() ? free_ended(*of) : free_unended(*of);
}

weft_status weft_unit_free_many(weft_unit** units, size_t count) noexcept {
    if (units == nullptr && count != 0) return is_null("units");
    return join_many(units, count);
}

weft_status weft_unit_detach(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return detach(*to_unit(unit));
}

void* weft_unit_exception(const weft_unit* unit) noexcept {
    if (unit == nullptr) return nullptr;
    Unit* of = to_unit(unit);
    return of->joint.done() && of->outcome == WEFT_EXCEPTION ? &of->exception() : nullptr;
}

weft_status weft_unit_exit(void) noexcept {
    Unit* self = running_or_null();
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a ULT can exit");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet ends by returning");
    if (self->has(Unit::primary) && !self->has_forked()) return fail(WEFT_WRONG_STATE, "the primary unit ends with the program");
    if (is_scheduler(*self)) return fail(WEFT_WRONG_STATE, "a scheduler ends by returning from run");
    if (!may_end(current(), *self)) return still_forked();
    self->outcome = WEFT_OK;
    finish();
}

weft_status weft_unit_cancel(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    if constexpr (!config::cancel) return built_without("cancellation", "WEFT_CANCEL");
    Unit* of = to_unit(unit);
    if (of->has_now(Unit::primary)) return fail(WEFT_WRONG_STATE, "the primary unit ends with the program");
    if (of->joint.done()) return fail(WEFT_WRONG_STATE, "unit %llu has ended", static_cast<unsigned long long>(of->id));
    if (of->marked(Unit::observed)) observe(trace::Event::cancel, *of);
    of->mark(Unit::cancel);
    return WEFT_OK;
}

weft_status weft_unit_end_disable() noexcept {
    Unit* self = running_or_null();
    if (self == nullptr || self->kind == Kind::tasklet) return fail(WEFT_WRONG_CONTEXT, "only a ULT can disable its end");
    ++self->jobs_out;
    return WEFT_OK;
}

weft_status weft_unit_end_enable() noexcept {
    Unit* self = running_or_null();
    if (self == nullptr || self->kind == Kind::tasklet) return fail(WEFT_WRONG_CONTEXT, "only a ULT can enable its end");
    if (self->jobs_out == 0) return fail(WEFT_WRONG_STATE, "unit %llu has not disabled its end", static_cast<unsigned long long>(self->id));
    --self->jobs_out;
    return WEFT_OK;
}

weft_status weft_unit_migrate_to_pool(weft_unit* unit, weft_pool* pool) noexcept {
    if (unit == nullptr || pool == nullptr) return is_null(unit == nullptr ? "unit" : "pool");
    return ask_to_move(*to_unit(unit), *to_pool(pool));
}

weft_status weft_unit_migrate_to_stream(weft_unit* unit, weft_stream* stream) noexcept {
    if (unit == nullptr || stream == nullptr) return is_null(unit == nullptr ? "unit" : "stream");
    return ask_to_move(*to_unit(unit), main_pool_of(*to_stream(stream)));
}

weft_status weft_unit_migrate_to_sched(weft_unit* unit, weft_sched* sched) noexcept {
    if (unit == nullptr || sched == nullptr) return is_null(unit == nullptr ? "unit" : "sched");
    return ask_to_move_to(*to_unit(unit), *to_sched(sched));
}

weft_status weft_unit_migrate(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return ask_to_move_anywhere(*to_unit(unit));
}

weft_status weft_unit_migrate_wait(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return wait_for_move(*to_unit(unit));
}

weft_status weft_unit_on_migration(weft_unit* unit, void (*callback)(weft_unit*, void*), void* argument) noexcept {
    if (unit == nullptr) return is_null("unit");
    return set_on_migration(*to_unit(unit), callback, argument);
}

weft_status weft_unit_migratable_set(weft_unit* unit, bool migratable) noexcept {
    if (unit == nullptr) return is_null("unit");
    Unit* of = to_unit(unit);
    if (of->has_now(Unit::bound)) return fail(WEFT_WRONG_STATE, "the unit is bound to its stream and stays in its pool");
    if (migratable) {
        if constexpr (!config::migration) return no_migration();
        of->unmark(Unit::fixed);
    } else {
        of->mark(Unit::fixed);
    }
    return WEFT_OK;
}

weft_status weft_unit_migratable(const weft_unit* unit, bool* migratable) noexcept {
    if (unit == nullptr || migratable == nullptr) return is_null(unit == nullptr ? "unit" : "migratable");
    const Unit* of = to_unit(unit);
    *migratable = config::migration && !of->has_now(Unit::bound) && !of->marked(Unit::fixed);
    return WEFT_OK;
}

weft_status weft_unit_yield(void) noexcept { return yield_now(); }

weft_status weft_unit_yield_to(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return yield_to(*to_unit(unit));
}

weft_status weft_unit_suspend_to(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return leave_for(*to_unit(unit), Leaving::suspends, Named::ready);
}

weft_status weft_unit_exit_to(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return leave_for(*to_unit(unit), Leaving::ends, Named::ready);
}

weft_status weft_unit_resume_yield_to(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return leave_for(*to_unit(unit), Leaving::yields, Named::suspended);
}

weft_status weft_unit_resume_suspend_to(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return leave_for(*to_unit(unit), Leaving::suspends, Named::suspended);
}

weft_status weft_unit_resume_exit_to(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return leave_for(*to_unit(unit), Leaving::ends, Named::suspended);
}

weft_status weft_unit_yield_to_popped(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return leave_for(*to_unit(unit), Leaving::yields, Named::popped);
}

weft_status weft_unit_suspend_to_popped(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return leave_for(*to_unit(unit), Leaving::suspends, Named::popped);
}

weft_status weft_unit_exit_to_popped(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return leave_for(*to_unit(unit), Leaving::ends, Named::popped);
}

weft_status weft_unit_run(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    Stream* const stream = current_or_null();
    Unit* const self = stream == nullptr ? nullptr : stream->running;
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a ULT runs another unit; this is none");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet runs no other unit; make it a ULT");
    if (self->kind == Kind::hosted) return fail(WEFT_WRONG_KIND, "a hosted unit runs no other unit by its thread pointer; spawn it, or yield to it");
    Unit& child = *to_unit(unit);
    if (!child.life.is(State::ready)) {
        return fail(WEFT_WRONG_STATE, "unit %llu is not ready: only one that was popped can be run", static_cast<unsigned long long>(child.id));
    }
    if (child.has_now(Unit::local)) {
        if (const weft_status status = may_run_here(child); status != WEFT_OK) return status;
    }
    run_child(*stream, *self, &child);
    return WEFT_OK;
}

weft_status weft_unit_revive(weft_pool* pool, void (*body)(void*), void* argument, weft_unit* unit) noexcept {
    return revive_at(pool, body, argument, unit, __builtin_return_address(0), false);
}

weft_status weft_unit_revive_with(weft_pool* pool, void (*body)(void*), void* argument, const weft_revive_options* options,
                                  weft_unit* unit) noexcept {
    weft_revive_options given{};
    if (options != nullptr && (options->size < sizeof(std::size_t) || options->size > 4096)) {
        return fail(WEFT_INVALID, "weft_revive_options.size is %zu; set it to sizeof(weft_revive_options)", options->size);
    }
    if (options != nullptr) std::memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
    return revive_at(pool, body, argument, unit, given.site == nullptr ? __builtin_return_address(0) : given.site, given.child_first);
}

weft_status weft_unit_suspend(void (*publish)(weft_unit*, void*), void* argument) noexcept {
    Unit* self = running_or_null();
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a unit can suspend itself");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet cannot suspend; make it a ULT");
    suspend_by(*current_or_null(), *self, publish, argument);
    return WEFT_OK;
}

weft_status weft_unit_resume(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    Unit* of = to_unit(unit);
    if (!of->life.claim()) {
        const bool waits = of->life.is(State::waiting);
        return fail(WEFT_WRONG_STATE, "unit %llu %s", static_cast<unsigned long long>(of->id),
                    waits ? "waits for something else, such as a join, and is resumed by that" : "is not suspended");
    }
    resume_claimed(current_or_null(), *of);
    return WEFT_OK;
}

// What <weft/here.h> says of units, besides where the one that runs is found (process/stream.hpp).
static_assert(offsetof(Unit, kind) == offsetof(weft_running, kind) && sizeof(Kind) == 1);
static_assert(mem::slab_bytes == WEFT_BLOCK_BYTES && sizeof(mem::Slab) == WEFT_BLOCK_HEAD && sizeof(Unit) == WEFT_BLOCK_UNIT);
static_assert(offsetof(Extras, data) == offsetof(weft_hanging, data) && generation_shift == WEFT_HANDLE_BITS);

weft_unit* weft_unit_self(void) noexcept { return weft::to_handle(running_or_null()); }

weft_kind weft_unit_self_kind(void) noexcept {
    const Unit* const self = running_or_null();
    return self == nullptr ? WEFT_KIND_DEFAULT : static_cast<weft_kind>(self->kind);
}

void weft_unit_outlived(const weft_unit* unit, const char* owner) noexcept { tell_outlived(unit, owner == nullptr ? "handle" : owner); }

uint64_t weft_unit_id(const weft_unit* unit) noexcept { return unit == nullptr ? 0 : to_unit(unit)->id; }

const char* weft_unit_name(const weft_unit* unit) noexcept { return unit == nullptr ? "" : to_unit(unit)->name; }

weft_status weft_unit_name_set(weft_unit* unit, const char* name) noexcept {
    if (unit == nullptr || name == nullptr) return is_null(unit == nullptr ? "unit" : "name");
    Unit* of = to_unit(unit);
    std::strncpy(of->name, name, sizeof of->name - 1);
    of->name[sizeof of->name - 1] = '\0';
    return WEFT_OK;
}

weft_status weft_unit_data_set(weft_unit* unit, void* data, void (*release)(void*)) noexcept {
    if (unit == nullptr || data == nullptr) return is_null(unit == nullptr ? "unit" : "data");
    if (give_data(*to_unit(unit), data, release, current_or_null())) return WEFT_OK;
    if (extras_of(*to_unit(unit)) == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a unit's data");
    return fail(WEFT_WRONG_STATE, "the unit has data; they are given once");
}

void* weft_unit_data(const weft_unit* unit) noexcept {
    const Unit* of = unit == nullptr ? running_or_null() : to_unit(unit);
    const Extras* extras = of == nullptr ? nullptr : extras_of(*of);
    return extras == nullptr ? nullptr : extras->data.load(std::memory_order_acquire);   // acquire: pairs with give_data()
}

weft_status weft_unit_argument(const weft_unit* unit, void** argument) noexcept {
    if (unit == nullptr || argument == nullptr) return is_null(unit == nullptr ? "unit" : "argument");
    const Unit* of = to_unit(unit);
    if (of->joint.done() && of->outcome == WEFT_EXCEPTION) return fail(WEFT_WRONG_STATE, "the unit has ended by an exception, which is kept where its argument was");
    *argument = of->argument;
    return WEFT_OK;
}

weft_status weft_unit_argument_set(weft_unit* unit, void* argument) noexcept {
    if (unit == nullptr) return is_null("unit");
    Unit* of = to_unit(unit);
    if (of->joint.done()) return fail(WEFT_WRONG_STATE, "unit %llu has ended", static_cast<unsigned long long>(of->id));
    of->argument = argument;
    return WEFT_OK;
}

const void* weft_unit_spawn_site(const weft_unit* unit) noexcept { return unit == nullptr ? nullptr : to_unit(unit)->spawned_at(); }

weft_status weft_unit_detached(const weft_unit* unit, bool* detached) noexcept {
    if (unit == nullptr || detached == nullptr) return is_null(unit == nullptr ? "unit" : "detached");
    *detached = to_unit(unit)->joint.announced().detached();
    return WEFT_OK;
}

weft_status weft_unit_kind(const weft_unit* unit, weft_kind* kind) noexcept {
    if (unit == nullptr || kind == nullptr) return is_null(unit == nullptr ? "unit" : "kind");
    *kind = static_cast<weft_kind>(to_unit(unit)->kind);
    return WEFT_OK;
}

weft_status weft_unit_state_get(const weft_unit* unit, weft_unit_state* state) noexcept {
    if (unit == nullptr || state == nullptr) return is_null(unit == nullptr ? "unit" : "state");
    *state = static_cast<weft_unit_state>(shown(to_unit(unit)->life.seen()));
    return WEFT_OK;
}

weft_status weft_unit_priority(const weft_unit* unit, int* priority) noexcept {
    if (unit == nullptr || priority == nullptr) return is_null(unit == nullptr ? "unit" : "priority");
    *priority = to_unit(unit)->priority();
    return WEFT_OK;
}

weft_status weft_unit_priority_set(weft_unit* unit, int priority) noexcept {
    if (unit == nullptr) return is_null("unit");
    if (!is_priority(priority)) return no_such_priority(priority);
    Unit& named = *to_unit(unit);
    if (priority != 0 && !has_priorities(*named.pool_now())) return no_priorities(priority);
    named.set_priority(priority);
    return WEFT_OK;
}

weft_status weft_unit_pool(const weft_unit* unit, weft_pool** pool) noexcept {
    if (unit == nullptr || pool == nullptr) return is_null(unit == nullptr ? "unit" : "pool");
    *pool = to_handle(to_unit(unit)->pool_now());
    return WEFT_OK;
}

weft_status weft_unit_pool_set(weft_unit* unit, weft_pool* pool) noexcept {
    if (unit == nullptr || pool == nullptr) return is_null(unit == nullptr ? "unit" : "pool");
    return set_pool(*to_unit(unit), *to_pool(pool));
}

weft_status weft_unit_bind(weft_pool** former) noexcept {
    if (former == nullptr) return is_null("former");
    Pool* before = nullptr;
    const weft_status status = bind_here(before);
    if (status == WEFT_OK) *former = to_handle(before);
    return status;
}

weft_status weft_unit_unbind(weft_pool* former) noexcept { return unbind(former == nullptr ? nullptr : to_pool(former)); }

weft_status weft_unit_stack(const weft_unit* unit, weft_stack_info* info) noexcept {
    if (unit == nullptr || info == nullptr) return is_null(unit == nullptr ? "unit" : "info");
    const Unit* of = to_unit(unit);
    if (of->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet runs on its scheduler's stack and has none");
    weft_stack_info told{};
    told.size = info->size;
    told.guarded = WEFT_UNSUPPORTED;
    const mem::Stack* stack = of->stack;
    if (stack == nullptr && of == running_or_null()) stack = current().home.stack;   // it stands on its scheduler's
    if (stack != nullptr && !of->joint.done()) {
        told.lowest = stack->lowest;
        told.bytes = stack->bytes;
        if (of->has(Unit::measured)) told.most_bytes = mem::measure(*stack);
        told.guarded = stack->guarded == mem::Guard::none ? WEFT_UNSUPPORTED : WEFT_OK;
    } else if (of->joint.done() && of->has(Unit::measured) && of->kind != Kind::hosted) {
        told.most_bytes = reinterpret_cast<std::uintptr_t>(of->context);
    }
    std::memcpy(info, &told, info->size < sizeof told ? info->size : sizeof told);
    return WEFT_OK;
}

weft_status weft_unit_info_get(const weft_unit* unit, weft_unit_info* info) noexcept {
    if (unit == nullptr || info == nullptr) return is_null(unit == nullptr ? "unit" : "info");
    const size_t size = info->size;
    weft_unit_info told;
    look_at_unit(*to_unit(unit), told);
    told.size = size;
    std::memcpy(info, &told, size < sizeof told ? size : sizeof told);
    return WEFT_OK;
}

weft_status weft_site_each(void (*visit)(const weft_site_info*, void*), void* argument) noexcept {
    if (visit == nullptr) return is_null("visit");
    if (process_or_null() == nullptr) return not_initialized();
    sites.each(visit, argument);
    return WEFT_OK;
}

weft_status weft_unit_each(void (*visit)(const weft_unit_info*, void*), void* argument) noexcept {
    if (visit == nullptr) return is_null("visit");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    each_unit(*of, visit, argument);
    return WEFT_OK;
}

weft_status weft_pool_unit_each(const weft_pool* pool, void (*visit)(const weft_unit_info*, void*), void* argument) noexcept {
    if (pool == nullptr || visit == nullptr) return is_null(pool == nullptr ? "pool" : "visit");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    each_unit(*of, visit, argument, to_pool(pool));
    return WEFT_OK;
}

}  // extern "C"
