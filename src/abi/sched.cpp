// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/sched.h"
#include "process/registry.hpp"

#include <cstdlib>
#include <cstring>

#include "abi/convert.hpp"
#include "carrier/level.hpp"

using namespace weft;

namespace {

weft_status check_pools(const Process* of, weft_pool* const* pools, std::size_t count, weft_sched** sched) {
    if (pools == nullptr || sched == nullptr) return is_null(pools == nullptr ? "pools" : "sched");
    if (of == nullptr) return not_initialized();
    if (count == 0) return fail(WEFT_INVALID, "a scheduler needs at least one pool");
    for (std::size_t i = 0; i < count; ++i) {
        if (pools[i] == nullptr) return fail(WEFT_INVALID, "pool %zu of the scheduler is null", i);
    }
    return WEFT_OK;
}

weft_status admit(Process& of, Sched* made, weft_sched** sched) {
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a scheduler");
    enlist(of, *made);
    *sched = to_handle(made);
    return WEFT_OK;
}

// The stream that runs the scheduler, if the call comes from its `run`; null otherwise.
Stream* running(weft_sched* sched, const char* call = __builtin_FUNCTION()) {
    Stream* stream = current_or_null();
    return stream != nullptr && stream->running != nullptr && stream->running == to_sched(sched, call)->unit ? stream
                                                                                                             : nullptr;
}

// In a build that checks, handles are not the addresses of their objects.
Sched* create(weft_sched_kind kind, const weft_sched_ops* ops, void* self, weft_pool* const* pools, std::size_t count,
              [[maybe_unused]] const char* call = __builtin_FUNCTION()) {
    if constexpr (!config::checked) return sched::create(kind, ops, self, reinterpret_cast<Pool* const*>(pools), count);
    const auto of = static_cast<Pool**>(std::malloc(count * sizeof(Pool*)));
    if (of == nullptr) return nullptr;
    for (std::size_t i = 0; i < count; ++i) of[i] = to_pool(pools[i], call);
    Sched* const made = sched::create(kind, ops, self, of, count);
    std::free(of);
    return made;
}

}   // namespace

extern "C" {

weft_status weft_sched_create(weft_sched_kind kind, weft_pool* const* pools, size_t count,
                              weft_sched** sched) noexcept {
    Process* const of = process_or_null();
    if (weft_status status = check_pools(of, pools, count, sched); status != WEFT_OK) return status;
    if (kind == WEFT_SCHED_DEFAULT) kind = WEFT_SCHED_BASIC;
    if (kind < WEFT_SCHED_BASIC || kind > WEFT_SCHED_PRIORITY || kind == WEFT_SCHED_USER) {
        return fail(WEFT_INVALID, "there is no built-in scheduler of kind %d; see weft_sched_kind",
                    static_cast<int>(kind));
    }
    return admit(*of, create(kind, nullptr, nullptr, pools, count), sched);
}

weft_status weft_sched_create_user(const weft_sched_ops* ops, void* self, weft_pool* const* pools, size_t count,
                                   weft_sched** sched) noexcept {
    Process* const of = process_or_null();
    if (weft_status status = check_pools(of, pools, count, sched); status != WEFT_OK) return status;
    if (ops == nullptr) return is_null("ops");
    weft_sched_ops table{};
    std::memcpy(&table, ops, ops->size < sizeof table ? ops->size : sizeof table);
    if ((table.pick == nullptr) == (table.run == nullptr)) {
        return fail(WEFT_INVALID, "a scheduler's table has exactly one of pick and run; this has %s",
                    table.pick == nullptr ? "none" : "both");
    }
    return admit(*of, create(WEFT_SCHED_USER, &table, self, pools, count), sched);
}

weft_status weft_sched_free(weft_sched* sched) noexcept {
    if (sched == nullptr) return is_null("sched");
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();   // it has gone with its runtime
    Sched& ends = *to_sched(sched);
    if (ends.stream.load() != nullptr) return fail(WEFT_BUSY, "a stream runs this scheduler and frees it when it ends");
    dismiss(*of, ends);
    return WEFT_OK;
}

weft_status weft_sched_owned_set(weft_sched* sched, bool owned) noexcept {
    if (sched == nullptr) return is_null("sched");
    to_sched(sched)->owned = owned;
    return WEFT_OK;
}

weft_status weft_sched_push(weft_sched* sched, weft_pool* pool, const weft_sched_push_options* options,
                            weft_unit** unit) noexcept {
    if (pool == nullptr || sched == nullptr) return is_null(pool == nullptr ? "pool" : "sched");
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();
    weft_sched_push_options given{};
    if (options != nullptr && (options->size < sizeof(std::size_t) || options->size > 4096)) {
        return fail(WEFT_INVALID, "weft_sched_push_options.size is %zu; set it to sizeof(weft_sched_push_options)",
                    options->size);
    }
    if (options != nullptr) std::memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
    constexpr std::size_t usual = 61, most = ~0u;
    const std::size_t turn = given.turn == 0 ? usual : given.turn < most ? given.turn : most;
    Unit* made = nullptr;
    const weft_status status = push_sched(*of, *to_pool(pool), *to_sched(sched), static_cast<unsigned>(turn), &made,
                                          unit == nullptr, __builtin_return_address(0));
    if (status != WEFT_OK) return status;
    if (unit != nullptr) *unit = weft::to_handle(made);
    make_ready(current_or_null(), *made, pool::From::spawned);
    return WEFT_OK;
}

weft_status weft_sched_pool_count_get(const weft_sched* sched, size_t* count) noexcept {
    if (sched == nullptr || count == nullptr) return is_null(sched == nullptr ? "sched" : "count");
    *count = to_sched(sched)->count;
    return WEFT_OK;
}

weft_status weft_sched_pool_get(const weft_sched* sched, size_t index, weft_pool** pool) noexcept {
    if (sched == nullptr || pool == nullptr) return is_null(sched == nullptr ? "sched" : "pool");
    const Sched* of = to_sched(sched);
    if (index >= of->count) return fail(WEFT_INVALID, "pool %zu of a scheduler that has %zu", index, of->count);
    *pool = to_handle(of->pools[index]);
    return WEFT_OK;
}

weft_status weft_sched_stateless_get(const weft_sched* sched, bool* stateless) noexcept {
    if (sched == nullptr || stateless == nullptr) return is_null(sched == nullptr ? "sched" : "stateless");
    *stateless = to_sched(sched)->stateless();
    return WEFT_OK;
}

weft_status weft_sched_run_unit(weft_sched* sched, weft_unit* unit) noexcept {
    if (sched == nullptr || unit == nullptr) return is_null(sched == nullptr ? "sched" : "unit");
    Stream* stream = running(sched);
    if (stream == nullptr) return fail(WEFT_WRONG_CONTEXT, "only the run function of a scheduler runs units");
    Unit* next = to_unit(unit);
    if (!next->life.is(State::ready)) return fail(WEFT_WRONG_STATE, "only a ready unit that was popped can be run");
    run_below(*stream, *to_sched(sched), next);
    return WEFT_OK;
}

bool weft_sched_check_stop(weft_sched* sched) noexcept {
    Stream* stream = running(sched);
    if (stream == nullptr) return true;
    return run_should_stop(*stream, *to_sched(sched));
}

weft_status weft_sched_wait(weft_sched* sched) noexcept {
    if (sched == nullptr) return is_null("sched");
    Stream* stream = running(sched);
    if (stream == nullptr) return fail(WEFT_WRONG_CONTEXT, "only the run function of a scheduler waits for work");
    run_wait(*stream, *to_sched(sched));
    return WEFT_OK;
}

}   // extern "C"
