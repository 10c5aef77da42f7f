// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The routines that programs call by name: omp_*, for C and, with a trailing underscore, for
// Fortran.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <ctime>
#include <utility>

#include "routine.hpp"
#include "team.hpp"

using namespace weft_openmp;   // NOLINT: entry points

namespace {

Thread& me() { return this_thread(); }

template <class Change>
void change_icv(Change change) {
    Thread& thread = me();
    Icv values = thread.icv();
    change(values);
    thread.set_icv(values);
}

// The team at a level of nesting, and the number that this thread's ancestor has there. Null: there
// is no such level.
const Team* team_at(const Thread& thread, int level, unsigned* number) {
    const Team* team = thread.team;
    const Slot* slot = thread.slot;
    if (level < 0 || static_cast<unsigned>(level) > team->level) return nullptr;
    for (; team->level > static_cast<unsigned>(level); team = team->outer) slot = team->outer_slot;
    if (number != nullptr) *number = slot->number;
    return team;
}

enum : unsigned { monotonic_bit = 0x80000000U };

}   // namespace

PLACE_QUERY(omp_get_thread_num, return static_cast<int>(me.slot->number);)
PLACE_QUERY(omp_get_num_threads, return static_cast<int>(me.team->size);)
PLACE_QUERY(omp_in_parallel, return me.team->active_level > 0 ? 1 : 0;)
PLACE_QUERY(omp_get_level, return static_cast<int>(me.team->level);)
PLACE_QUERY(omp_get_active_level, return static_cast<int>(me.team->active_level);)
PLACE_QUERY(omp_in_final, return me.task->final() ? 1 : 0;)
ANY_PLACE_QUERY(omp_get_thread_num)
ANY_PLACE_QUERY(omp_get_num_threads)
ANY_PLACE_QUERY(omp_get_level)
ANY_PLACE_QUERY(omp_get_active_level)
ANY_PLACE_QUERY(omp_in_final)
ANCESTOR_QUERY(omp_get_ancestor_thread_num, unsigned number = 0;
               return team_at(me, value, &number) != nullptr ? static_cast<int>(number) : -1;)
ANCESTOR_QUERY(omp_get_team_size, const Team* const team = team_at(me, value, nullptr);
               return team != nullptr ? static_cast<int>(team->size) : -1;)

namespace {

// lacks_in_parallel_without_us takes locks. So its answer for the last caller is kept while this
// thread stays in the region: the caller cannot be unloaded there.
bool lacks_in_parallel_here(const void* caller) {
    struct Known {
        const void* caller = nullptr;
        const Team* team = nullptr;
        std::uint64_t region = 0;
        bool lacks = false;
    };
    static thread_local constinit Known known [[gnu::tls_model("initial-exec")]];
    const Thread* const me = thread_in_region;
    // only regions of several threads are numbered
    if (me == nullptr || me->team->size == 1) return lacks_in_parallel_without_us(caller);
    const Team* const team = me->team;
    if (known.caller != caller || known.team != team || known.region != team->team_pool->regions)
        known = {caller, team, team->team_pool->regions, lacks_in_parallel_without_us(caller)};
    return known.lacks;
}

}   // namespace

// OpenBLAS with threads of its own has a weak reference, and warns on standard error when it is
// called in a region. Without this library that reference stays null in most processes.
OPENMP_ANY int any_omp_in_parallel() {
    const int answer = placed_omp_in_parallel(OPENMP_CALLER, others());
    return answer != 0 && lacks_in_parallel_here(OPENMP_CALLER) ? 0 : answer;
}
OPENMP_ANY int any_omp_in_parallel_() { return placed_omp_in_parallel(OPENMP_CALLER, others()); }
OPENMP_ANY_NAMED(omp_in_parallel)
OPENMP_ANY_NAMED(omp_in_parallel_)

SETTING_QUERY(omp_get_max_threads, return static_cast<int>(max_threads(me()));)
SETTING_QUERY(omp_get_dynamic, return me().icv().dynamic ? 1 : 0;)
SETTING_QUERY(omp_get_nested,
              return me().icv().max_active_levels > me().team->active_level && me().icv().max_active_levels > 1 ? 1
                                                                                                                : 0;)
SETTING_QUERY(omp_get_max_active_levels, return me().icv().max_active_levels;)
SETTING_QUERY(omp_get_thread_limit, return static_cast<int>(std::min<unsigned>(me().icv().thread_limit, INT_MAX));)
SETTING_QUERY(omp_get_proc_bind, return static_cast<int>(me().icv().bind);)
// These hold for the process and come from the environment, which other runtimes read as well.
QUERY(int, omp_get_supported_active_levels, return supported_active_levels;)
QUERY(int, omp_get_cancellation, return environment().cancellation ? 1 : 0;)
QUERY(int, omp_get_max_task_priority, return environment().max_task_priority;)
QUERY(int, omp_get_num_procs, return static_cast<int>(processors());)

SETTER(omp_set_num_threads, me().has_chosen = true;
       change_icv([value](Icv& icv) { icv.threads = value > 0 ? static_cast<unsigned>(value) : 1; });)
SETTER(omp_set_dynamic, change_icv([value](Icv& icv) { icv.dynamic = value != 0; });)
SETTER(omp_set_nested, change_icv([value](Icv& icv) {
           if (value != 0) icv.max_active_levels = supported_active_levels;
           else icv.max_active_levels = std::min<std::uint8_t>(icv.max_active_levels, 1);
       });)
SETTER(omp_set_max_active_levels, if (value >= 0) change_icv([value](Icv& icv) {
           icv.max_active_levels = static_cast<std::uint8_t>(std::min<int>(value, supported_active_levels));
       });)

namespace {
void set_schedule(unsigned kind, int chunk) {
    const unsigned plain = kind & ~monotonic_bit;
    if (plain < 1 || plain > 4) return;
    const auto schedule = static_cast<Schedule>(plain);
    if (schedule == Schedule::is_static) chunk = std::max(chunk, 0);
    else if (schedule != Schedule::automatic) chunk = std::max(chunk, 1);
    change_icv([&](Icv& icv) {
        icv.schedule = schedule;
        icv.monotonic = (kind & monotonic_bit) != 0;
        if (schedule != Schedule::automatic) icv.chunk = chunk;
    });
}

bool set_schedule_in_others(const void* caller, unsigned kind, int chunk) {
    const std::pair<unsigned, int> said{kind, chunk};
    return set_in_others(
        caller,
        [](const OtherRuntime& other, const void* argument) {
            const auto& schedule = *static_cast<const std::pair<unsigned, int>*>(argument);
            if (other.omp_set_schedule != nullptr) other.omp_set_schedule(schedule.first, schedule.second);
        },
        &said);
}

}   // namespace

OPENMP_API void omp_set_schedule(unsigned kind, int chunk) {
    set_schedule(kind, chunk);
    if (others() && thread_in_region == nullptr) set_schedule_in_others(nullptr, kind, chunk);
}
OPENMP_ANY void any_omp_set_schedule(unsigned kind, int chunk) {
    if (set_schedule_in_others(OPENMP_CALLER, kind, chunk)) set_schedule(kind, chunk);
}
OPENMP_ANY_NAMED(omp_set_schedule)
OPENMP_API void omp_set_schedule_(const std::int32_t* kind, const std::int32_t* chunk) {
    omp_set_schedule(static_cast<unsigned>(*kind), *chunk);
}
OPENMP_API void omp_set_schedule_8_(const std::int32_t* kind, const std::int64_t* chunk) {
    omp_set_schedule(static_cast<unsigned>(*kind),
                     static_cast<int>(std::clamp<std::int64_t>(*chunk, INT_MIN, INT_MAX)));
}
OPENMP_API void omp_get_schedule(unsigned* kind, int* chunk) {
    const Icv& icv = me().icv();
    *kind = static_cast<unsigned>(icv.schedule) | (icv.monotonic ? static_cast<unsigned>(monotonic_bit) : 0U);
    *chunk = icv.chunk;
}
OPENMP_ANY void any_omp_get_schedule(unsigned* kind, int* chunk) {
    const OtherRuntime* const other = others() ? other_of_settings(OPENMP_CALLER) : nullptr;
    if (other != nullptr && other->omp_get_schedule != nullptr) other->omp_get_schedule(kind, chunk);
    else omp_get_schedule(kind, chunk);
}
OPENMP_ANY_NAMED(omp_get_schedule)
OPENMP_API void omp_get_schedule_(std::int32_t* kind, std::int32_t* chunk) {
    omp_get_schedule(reinterpret_cast<unsigned*>(kind), chunk);
}
OPENMP_API void omp_get_schedule_8_(std::int32_t* kind, std::int64_t* chunk) {
    int plain = 0;
    omp_get_schedule(reinterpret_cast<unsigned*>(kind), &plain);
    *chunk = plain;
}

// ---- time ---------------------------------------------------------------------------------------

QUERY(double, omp_get_wtime, timespec now{}; clock_gettime(CLOCK_MONOTONIC, &now);
      return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;)
QUERY(double, omp_get_wtick, timespec tick{}; clock_getres(CLOCK_MONOTONIC, &tick);
      return static_cast<double>(tick.tv_sec) + static_cast<double>(tick.tv_nsec) * 1e-9;)
