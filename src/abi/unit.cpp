// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/unit.h"

#include <cstring>

#include "abi/convert.hpp"
#include "carrier/level.hpp"
#include "core/finish.hpp"
#include "core/join.hpp"
#include "core/migrate.hpp"
#include "core/plan.hpp"
#include "core/requests.hpp"
#include "core/resume.hpp"
#include "core/revive.hpp"
#include "core/spawn.hpp"
#include "core/suspend.hpp"
#include "core/yield_to.hpp"
#include "inspect/list.hpp"
#include "local/extras.hpp"
#include "process/may_end.hpp"
#include "process/outlived.hpp"

using namespace weft;

namespace {

weft_status revive_at(weft_pool* pool, void (*body)(void*), void* argument, weft_unit* unit, const void* site,
                      bool child_first) {
    if (body == nullptr || unit == nullptr) return is_null(body == nullptr ? "body" : "unit");
    if (process_or_null() == nullptr) return not_initialized();
    Pool& home = pool == nullptr ? standard_pool(current_or_null()) : *to_pool(pool);
    return revive(*to_unit(unit), home, body, argument, site, child_first ? Revived::first : Revived::pushed);
}

void* data_of(const Unit& unit) {
    const Extras* const extras = extras_of(unit);
    // acquire: pairs with give_data()
    return extras == nullptr ? nullptr : extras->data.load(std::memory_order_acquire);
}

}   // namespace

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
                              const void* site, weft_unit** unit) noexcept {
    return spawn<false>(to_pool(pool), body, argument, options, unit, site);
}

weft_status weft_tasklet_spawn_at(weft_pool* pool, void (*body)(void*), void* argument,
                                  const weft_unit_options* options, const void* site, weft_unit** unit) noexcept {
    return spawn<true>(to_pool(pool), body, argument, options, unit, site);
}

weft_status weft_unit_spawn_many(weft_pool* pool, size_t count, void (*body)(void*), void* const* arguments,
                                 const weft_unit_options* options, weft_unit** units) noexcept {
    if (body == nullptr) return is_null("body");
    return spawn_many(to_pool(pool), count, body, arguments, options, units, __builtin_return_address(0));
}

weft_status weft_unit_join(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return join(*to_unit(unit));
}

weft_status weft_unit_try_join(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return try_join(*to_unit(unit));
}

weft_status weft_unit_join_many(weft_unit* const* units, size_t count) noexcept {
    if (units == nullptr && count != 0) return is_null("units");
    return join_many(units, count);
}

// Enumerations of the interface that have counterparts in the core.
static_assert(WEFT_BY_YIELD == static_cast<int>(Leaving::yields) &&
              WEFT_BY_SUSPEND == static_cast<int>(Leaving::suspends) &&
              WEFT_BY_EXIT == static_cast<int>(Leaving::ends));
static_assert(WEFT_TO_READY == static_cast<int>(Named::ready) &&
              WEFT_TO_SUSPENDED == static_cast<int>(Named::suspended) &&
              WEFT_TO_POPPED == static_cast<int>(Named::popped));
static_assert(WEFT_OUTCOME_RETURNED == static_cast<int>(Outcome::returned) &&
              WEFT_OUTCOME_EXCEPTION == static_cast<int>(Outcome::exception) &&
              WEFT_OUTCOME_CANCELLED == static_cast<int>(Outcome::cancelled) &&
              WEFT_OUTCOME_NO_STACK == static_cast<int>(Outcome::no_stack) &&
              WEFT_OUTCOME_NO_PTHREAD == static_cast<int>(Outcome::no_pthread));

weft_status weft_unit_outcome_get(const weft_unit* unit, weft_unit_outcome* outcome) noexcept {
    if (unit == nullptr || outcome == nullptr) return is_null(unit == nullptr ? "unit" : "outcome");
    const Unit& of = *to_unit(unit);
    if (!of.join_state.done()) return not_ended(of);
    *outcome = static_cast<weft_unit_outcome>(of.outcome);
    return WEFT_OK;
}

weft_status weft_unit_free(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return free_if_ended(*to_unit(unit));
}

weft_status weft_unit_join_free(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return join_and_free(*to_unit(unit));
}

weft_status weft_unit_join_free_many(weft_unit** units, size_t count) noexcept {
    if (units == nullptr && count != 0) return is_null("units");
    return join_many(units, count);
}

weft_status weft_unit_detach(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return detach(*to_unit(unit));
}

weft_status weft_unit_exception_get(const weft_unit* unit, void** exception) noexcept {
    if (unit == nullptr || exception == nullptr) return is_null(unit == nullptr ? "unit" : "exception");
    Unit& of = *to_unit(unit);
    if (!of.join_state.done()) return not_ended(of);
    *exception = of.outcome == Outcome::exception ? &of.exception() : nullptr;
    return WEFT_OK;
}

weft_status weft_unit_exit(void) noexcept { return exit_unit(); }

weft_status weft_unit_cancel(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return ask_to_end(*to_unit(unit));
}

weft_status weft_unit_end_disable() noexcept { return disable_end(); }

weft_status weft_unit_end_enable() noexcept { return enable_end(); }

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
    return let_move(*to_unit(unit), migratable);
}

weft_status weft_unit_migratable_get(const weft_unit* unit, bool* migratable) noexcept {
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

weft_status weft_unit_hand_off(weft_unit* unit, weft_hand_off_to to, weft_hand_off_by by) noexcept {
    if (unit == nullptr) return is_null("unit");
    if (to < WEFT_TO_READY || to > WEFT_TO_POPPED)
        return fail(WEFT_INVALID, "%d is no weft_hand_off_to", static_cast<int>(to));
    if (by < WEFT_BY_YIELD || by > WEFT_BY_EXIT)
        return fail(WEFT_INVALID, "%d is no weft_hand_off_by", static_cast<int>(by));
    return hand_off_to(*to_unit(unit), static_cast<Leaving>(by), static_cast<Named>(to));
}

weft_status weft_unit_run(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    Unit& child = *to_unit(unit);
    if (const weft_status status = may_run_child(child); status != WEFT_OK) return status;
    run_child(current(), *current().running, &child);
    return WEFT_OK;
}

weft_status weft_unit_revive(weft_unit* unit, weft_pool* pool, void (*body)(void*), void* argument) noexcept {
    return revive_at(pool, body, argument, unit, __builtin_return_address(0), false);
}

weft_status weft_unit_revive_with(weft_unit* unit, weft_pool* pool, void (*body)(void*), void* argument,
                                  const weft_revive_options* options) noexcept {
    weft_revive_options given{};
    if (options != nullptr && (options->size < sizeof(std::size_t) || options->size > 4096)) {
        return fail(WEFT_INVALID, "weft_revive_options.size is %zu; set it to sizeof(weft_revive_options)",
                    options->size);
    }
    if (options != nullptr) std::memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
    return revive_at(pool, body, argument, unit, given.site == nullptr ? __builtin_return_address(0) : given.site,
                     given.child_first);
}

weft_status weft_unit_suspend(void (*publish)(weft_unit*, void*), void* argument) noexcept {
    return suspend_now(publish, argument);
}

weft_status weft_unit_resume(weft_unit* unit) noexcept {
    if (unit == nullptr) return is_null("unit");
    return resume(*to_unit(unit));
}

// The declarations that follow, and the assertions of process/stream.hpp, are layout 1: a change of
// what they say needs another number.
static_assert(WEFT_EMBED_LAYOUT == 1);
const char weft_embed_layout_1 = 1;
uint32_t weft_embed_layout(void) noexcept { return WEFT_EMBED_LAYOUT; }

// What <weft/embed/here.h> says of units, besides where to find the running one
// (process/stream.hpp).
static_assert(offsetof(Unit, kind) == offsetof(weft_running, kind) && sizeof(Kind) == 1);
static_assert(mem::slab_bytes == WEFT_BLOCK_BYTES && sizeof(mem::Slab) == WEFT_BLOCK_HEAD &&
              sizeof(Unit) == WEFT_BLOCK_UNIT);
static_assert(offsetof(Extras, data) == offsetof(weft_hanging, data) && generation_shift == WEFT_HANDLE_BITS);

weft_unit* weft_unit_self(void) noexcept { return weft::to_handle(running_or_null()); }

weft_kind weft_unit_self_kind(void) noexcept {
    const Unit* const self = running_or_null();
    return self == nullptr ? WEFT_KIND_DEFAULT : static_cast<weft_kind>(self->kind);
}

void weft_unit_outlived(const weft_unit* unit, const char* owner) noexcept {
    tell_outlived(unit, owner == nullptr ? "handle" : owner);
}

weft_status weft_unit_id_get(const weft_unit* unit, uint64_t* id) noexcept {
    if (unit == nullptr || id == nullptr) return is_null(unit == nullptr ? "unit" : "id");
    *id = to_unit(unit)->id;
    return WEFT_OK;
}

weft_status weft_unit_name_get(const weft_unit* unit, const char** name) noexcept {
    if (unit == nullptr || name == nullptr) return is_null(unit == nullptr ? "unit" : "name");
    *name = to_unit(unit)->name;
    return WEFT_OK;
}

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

weft_status weft_unit_data_get(const weft_unit* unit, void** data) noexcept {
    if (unit == nullptr || data == nullptr) return is_null(unit == nullptr ? "unit" : "data");
    *data = data_of(*to_unit(unit));
    return WEFT_OK;
}

void* weft_unit_self_data(void) noexcept {
    const Unit* const self = running_or_null();
    return self == nullptr ? nullptr : data_of(*self);
}

weft_status weft_unit_argument_get(const weft_unit* unit, void** argument) noexcept {
    if (unit == nullptr || argument == nullptr) return is_null(unit == nullptr ? "unit" : "argument");
    const Unit* of = to_unit(unit);
    if (of->join_state.done() && of->outcome == Outcome::exception)
        return fail(WEFT_WRONG_STATE, "the unit has ended by an exception, which is kept where its argument was");
    *argument = of->argument;
    return WEFT_OK;
}

weft_status weft_unit_argument_set(weft_unit* unit, void* argument) noexcept {
    if (unit == nullptr) return is_null("unit");
    Unit* of = to_unit(unit);
    if (of->join_state.done())
        return fail(WEFT_WRONG_STATE, "unit %llu has ended", static_cast<unsigned long long>(of->id));
    of->argument = argument;
    return WEFT_OK;
}

weft_status weft_unit_spawn_site_get(const weft_unit* unit, const void** site) noexcept {
    if (unit == nullptr || site == nullptr) return is_null(unit == nullptr ? "unit" : "site");
    *site = to_unit(unit)->spawned_at();
    return WEFT_OK;
}

weft_status weft_unit_detached_get(const weft_unit* unit, bool* detached) noexcept {
    if (unit == nullptr || detached == nullptr) return is_null(unit == nullptr ? "unit" : "detached");
    *detached = to_unit(unit)->join_state.announced().detached();
    return WEFT_OK;
}

weft_status weft_unit_kind_get(const weft_unit* unit, weft_kind* kind) noexcept {
    if (unit == nullptr || kind == nullptr) return is_null(unit == nullptr ? "unit" : "kind");
    *kind = static_cast<weft_kind>(to_unit(unit)->kind);
    return WEFT_OK;
}

weft_status weft_unit_state_get(const weft_unit* unit, weft_unit_state* state) noexcept {
    if (unit == nullptr || state == nullptr) return is_null(unit == nullptr ? "unit" : "state");
    *state = static_cast<weft_unit_state>(shown(to_unit(unit)->life.seen()));
    return WEFT_OK;
}

weft_status weft_unit_priority_get(const weft_unit* unit, int* priority) noexcept {
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

weft_status weft_unit_pool_get(const weft_unit* unit, weft_pool** pool) noexcept {
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

weft_status weft_unit_unbind(weft_pool* former) noexcept {
    return unbind(former == nullptr ? nullptr : to_pool(former));
}

weft_status weft_unit_stack_get(const weft_unit* unit, weft_stack_info* info) noexcept {
    if (unit == nullptr || info == nullptr) return is_null(unit == nullptr ? "unit" : "info");
    const Unit* of = to_unit(unit);
    if (of->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet runs on its scheduler's stack and has none");
    weft_stack_info told{};
    told.size = info->size;
    told.guarded = WEFT_UNSUPPORTED;
    const mem::Stack* stack = of->stack;
    if (stack == nullptr && of == running_or_null())
        stack = current().sched_context.stack;   // it stands on its scheduler's stack
    if (stack != nullptr && !of->join_state.done()) {
        told.lowest = stack->lowest;
        told.bytes = stack->bytes;
        if (of->has(Unit::measured)) told.most_bytes = mem::measure(*stack);
        told.guarded = stack->guarded == mem::Guard::none ? WEFT_UNSUPPORTED : WEFT_OK;
    } else if (of->join_state.done() && of->has(Unit::measured) && of->kind != Kind::hosted) {
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

weft_status weft_pool_unit_each(const weft_pool* pool, void (*visit)(const weft_unit_info*, void*),
                                void* argument) noexcept {
    if (pool == nullptr || visit == nullptr) return is_null(pool == nullptr ? "pool" : "visit");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    each_unit(*of, visit, argument, to_pool(pool));
    return WEFT_OK;
}

}   // extern "C"
