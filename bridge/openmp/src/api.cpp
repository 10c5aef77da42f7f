// The routines that programs call by name: omp_*, for C and, with an underscore behind them, for Fortran.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <ctime>

#include "export.hpp"
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

// The team at a level of nesting, and the number of this thread's ancestor there; null: there is no such level.
const Team* team_at(int level, unsigned* number) {
    const Team* team = me().team;
    const Slot* slot = me().slot;
    if (level < 0 || static_cast<unsigned>(level) > team->level) return nullptr;
    for (; team->level > static_cast<unsigned>(level); team = team->outer) slot = team->outer_slot;
    if (number != nullptr) *number = slot->number;
    return team;
}

enum : unsigned { monotonic_bit = 0x80000000U };

}  // namespace

// A routine without arguments, in both languages.
#define QUERY(type, name, ...)                                \
    OPENMP_API type name() { __VA_ARGS__ }                    \
    OPENMP_API type name##_() { return name(); }
// One that takes a number; Fortran's come by reference, in 4 bytes or, with _8_ behind the name, in 8.
#define SETTER(type, name, ...)                                                                               \
    OPENMP_API type name(int value) { __VA_ARGS__ }                                                           \
    OPENMP_API type name##_(const std::int32_t* value) { return name(*value); }                               \
    OPENMP_API type name##_8_(const std::int64_t* value) { return name(static_cast<int>(std::clamp<std::int64_t>(*value, INT_MIN, INT_MAX))); }

QUERY(int, omp_get_thread_num, return static_cast<int>(me().slot->number);)
QUERY(int, omp_get_num_threads, return static_cast<int>(me().team->size);)
QUERY(int, omp_get_max_threads, return static_cast<int>(max_threads(me()));)
QUERY(int, omp_in_parallel, return me().team->active_level > 0 ? 1 : 0;)
QUERY(int, omp_get_level, return static_cast<int>(me().team->level);)
QUERY(int, omp_get_active_level, return static_cast<int>(me().team->active_level);)
QUERY(int, omp_get_dynamic, return me().icv().dynamic ? 1 : 0;)
QUERY(int, omp_get_nested, return me().icv().max_active_levels > me().team->active_level && me().icv().max_active_levels > 1 ? 1 : 0;)
QUERY(int, omp_get_max_active_levels, return me().icv().max_active_levels;)
QUERY(int, omp_get_supported_active_levels, return supported_active_levels;)
QUERY(int, omp_get_thread_limit, return static_cast<int>(std::min<unsigned>(me().icv().thread_limit, INT_MAX));)
QUERY(int, omp_in_final, return me().task->final() ? 1 : 0;)
QUERY(int, omp_get_cancellation, return environment().cancellation ? 1 : 0;)
QUERY(int, omp_get_proc_bind, return static_cast<int>(me().icv().bind);)
QUERY(int, omp_get_max_task_priority, return environment().max_task_priority;)
QUERY(int, omp_get_num_procs, return static_cast<int>(processors());)

SETTER(void, omp_set_num_threads, me().foreign = false; change_icv([value](Icv& icv) { icv.threads = value > 0 ? static_cast<unsigned>(value) : 1; });)
SETTER(void, omp_set_dynamic, change_icv([value](Icv& icv) { icv.dynamic = value != 0; });)
SETTER(void, omp_set_nested, change_icv([value](Icv& icv) {
    if (value != 0) icv.max_active_levels = supported_active_levels;
    else icv.max_active_levels = std::min<std::uint8_t>(icv.max_active_levels, 1);
});)
SETTER(void, omp_set_max_active_levels, if (value >= 0) change_icv([value](Icv& icv) {
    icv.max_active_levels = static_cast<std::uint8_t>(std::min<int>(value, supported_active_levels));
});)
SETTER(int, omp_get_ancestor_thread_num, unsigned number = 0; return team_at(value, &number) != nullptr ? static_cast<int>(number) : -1;)
SETTER(int, omp_get_team_size, const Team* const team = team_at(value, nullptr); return team != nullptr ? static_cast<int>(team->size) : -1;)

OPENMP_API void omp_set_schedule(unsigned kind, int chunk) {
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
OPENMP_API void omp_set_schedule_(const std::int32_t* kind, const std::int32_t* chunk) { omp_set_schedule(static_cast<unsigned>(*kind), *chunk); }
OPENMP_API void omp_set_schedule_8_(const std::int32_t* kind, const std::int64_t* chunk) {
    omp_set_schedule(static_cast<unsigned>(*kind), static_cast<int>(std::clamp<std::int64_t>(*chunk, INT_MIN, INT_MAX)));
}
OPENMP_API void omp_get_schedule(unsigned* kind, int* chunk) {
    const Icv& icv = me().icv();
    *kind = static_cast<unsigned>(icv.schedule) | (icv.monotonic ? static_cast<unsigned>(monotonic_bit) : 0U);
    *chunk = icv.chunk;
}
OPENMP_API void omp_get_schedule_(std::int32_t* kind, std::int32_t* chunk) { omp_get_schedule(reinterpret_cast<unsigned*>(kind), chunk); }
OPENMP_API void omp_get_schedule_8_(std::int32_t* kind, std::int64_t* chunk) {
    int plain = 0;
    omp_get_schedule(reinterpret_cast<unsigned*>(kind), &plain);
    *chunk = plain;
}

// ---- time ------------------------------------------------------------------------------------------

QUERY(double, omp_get_wtime, timespec now{}; clock_gettime(CLOCK_MONOTONIC, &now); return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;)
QUERY(double, omp_get_wtick, timespec tick{}; clock_getres(CLOCK_MONOTONIC, &tick); return static_cast<double>(tick.tv_sec) + static_cast<double>(tick.tv_nsec) * 1e-9;)
