// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "loop.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <new>

#include "export.hpp"
#include "fatal.hpp"
#include "team.hpp"

namespace weft_openmp {

// How far each row of an ordered(n) loop has come. A row is an iteration of the outermost loop;
// within it the iterations of the inner loops run one after the other.
struct Doacross {
    unsigned inner = 0;   // inner loops
    std::uint64_t rows = 0;
    std::unique_ptr<std::uint64_t[]> counts;        // iterations of each of them
    std::atomic<std::uint64_t>* posted = nullptr;   // for each row: how many of its iterations have posted, in order
    ~Doacross() { std::free(posted); }
};

void free_doacross(Doacross* doacross) { delete doacross; }

namespace {

std::uint64_t count(bool up, std::uint64_t distance, std::uint64_t step) {
    const std::uint64_t stride = up ? step : -step;
    return stride == 0 ? 0 : (distance - 1) / stride + 1;
}

// Whether additions of a chunk, of which each thread makes one too many, stay below the largest
// number.
bool may_add(const Share& share, unsigned threads) {
    return share.iterations < ~std::uint64_t{0} - (threads + 1) * share.chunk && share.chunk < std::uint64_t{1} << 32;
}

void shape(Share& share, const Icv& icv, unsigned threads, Schedule schedule, std::uint64_t chunk, bool ordered) {
    if (schedule == Schedule::by_icv) {
        schedule = icv.schedule;
        chunk = static_cast<std::uint64_t>(std::max(icv.chunk, 0));
    }
    if (schedule == Schedule::automatic) {
        schedule = Schedule::is_static;
        chunk = 0;
    }
    if (schedule != Schedule::is_static) chunk = std::max<std::uint64_t>(chunk, 1);
    if (threads == 1 && !ordered && schedule != Schedule::is_static) {   // in any chunks, the one thread runs all
        schedule = Schedule::is_static;
        chunk = 0;
    }
    share.schedule = schedule;
    share.chunk = std::min(chunk, std::max<std::uint64_t>(share.iterations, 1));
    share.ordered = ordered;
    // simple_loop belongs to an OS thread; a task that is a unit may go on on another
    share.simple = schedule == Schedule::dynamic && !ordered && may_add(share, threads) &&
                   !environment().cancellation && !tasks_are_units;
    // relaxed: published with the share
    share.cursor.store(0, std::memory_order_relaxed);
    share.turn.store(0, std::memory_order_relaxed);
}

void extent(Share& share, long start, long end, long step) {
    share.up = step > 0;
    share.start = static_cast<std::uint64_t>(start);
    share.end = static_cast<std::uint64_t>(end);
    share.step = static_cast<std::uint64_t>(step);
    const bool any = step > 0 ? start < end : start > end;
    share.iterations =
        any ? count(share.up, share.up ? share.end - share.start : share.start - share.end, share.step) : 0;
}

void extent(Share& share, bool up, std::uint64_t start, std::uint64_t end, std::uint64_t step) {
    share.up = up;
    share.start = start;
    share.end = end;
    share.step = step;
    const bool any = up ? start < end : start > end;
    share.iterations = any ? count(up, up ? end - start : start - end, step) : 0;
}

// By compare-and-swap only where an addition might pass the largest number.
bool take_dynamic(Share& share, unsigned threads, LoopPlace& place) {
    const std::uint64_t all = share.iterations;
    std::uint64_t first;
    if (may_add(share, threads)) [[likely]] {
        // Each thread adds once too often, at most: no load before, which would fetch the line
        // twice.
        first = share.cursor.fetch_add(share.chunk, std::memory_order_relaxed);   // relaxed: iterations are independent
        if (first >= all) return false;
    } else {
        first = share.cursor.load(std::memory_order_relaxed);   // relaxed: iterations are independent
        do {
            if (first >= all) return false;
            // relaxed: iterations are independent
        } while (!share.cursor.compare_exchange_weak(first, first + std::min(share.chunk, all - first),
                                                     std::memory_order_relaxed));
    }
    place.first = first;
    place.last = first + std::min(share.chunk, all - first);
    return true;
}

// Takes a thread's part of what is left, and no less than a chunk.
bool take_guided(Share& share, unsigned threads, LoopPlace& place) {
    std::uint64_t first = share.cursor.load(std::memory_order_relaxed), next;   // relaxed: iterations are independent
    do {
        if (first >= share.iterations) return false;
        const std::uint64_t left = share.iterations - first;
        next = first + std::min(left, std::max(left / threads + (left % threads != 0 ? 1 : 0), share.chunk));
        // relaxed: iterations are independent
    } while (!share.cursor.compare_exchange_weak(first, next, std::memory_order_relaxed));
    place.first = first;
    place.last = next;
    return true;
}

bool take_static(const Share& share, unsigned number, unsigned threads, LoopPlace& place) {
    const std::uint64_t all = share.iterations;
    if (share.chunk == 0 || threads == 1) {
        if (place.trips++ != 0) return false;
        const std::uint64_t each = all / threads, more = all % threads;
        place.first = each * number + std::min<std::uint64_t>(number, more);
        place.last = place.first + each + (number < more ? 1 : 0);
        return place.first != place.last;
    }
    // By division, since a product might pass the largest number.
    const std::uint64_t chunks = (all - 1) / share.chunk + 1;
    if (all == 0 || number >= chunks || place.trips > (chunks - 1 - number) / threads) return false;
    place.first = (place.trips++ * threads + number) * share.chunk;
    place.last = place.first + std::min(share.chunk, all - place.first);
    return true;
}

bool take(Thread& me, Share& share) {
    LoopPlace& place = me.slot->loop;
    switch (share.schedule) {
    case Schedule::dynamic: return take_dynamic(share, me.team->size, place);
    case Schedule::guided: return take_guided(share, me.team->size, place);
    default: return take_static(share, me.slot->number, me.team->size, place);
    }
}

void await_turn(Team& team, Share& share, const LoopPlace& place) {
    share.sleepers.wait([&] {
        // acquire: pairs with pass_turn
        return share.turn.load(std::memory_order_acquire) == place.first || team.cancelled.load();
    });
}

// Chunks pass the turn on in the order of their iterations, whether or not they have used it.
void pass_turn(Team& team, Share& share, const LoopPlace& place) {
    await_turn(team, share, place);
    share.turn.store(place.last);
    share.sleepers.wake();
}

}   // namespace

void make_loop(Thread& me, Share& share, Schedule schedule, long start, long end, long step, long chunk, bool ordered) {
    extent(share, start, end, step);
    shape(share, me.icv(), me.team->size, schedule, static_cast<std::uint64_t>(std::max(chunk, 0L)), ordered);
}

void make_loop(Thread& me, Share& share, Schedule schedule, bool up, unsigned long long start, unsigned long long end,
               unsigned long long step, unsigned long long chunk, bool ordered) {
    extent(share, up, start, end, step);
    shape(share, me.icv(), me.team->size, schedule, chunk, ordered);
}

void begin_with_loop(Team& team, Schedule schedule, long start, long end, long step, long chunk) {
    Share& share = begin_with_share(team);
    extent(share, start, end, step);
    shape(share, *team.icv, team.size, schedule, static_cast<std::uint64_t>(std::max(chunk, 0L)), false);
    for (unsigned i = 0; i < team.size; ++i) team.team_pool->slots[i]->loop.simple = share.simple;
}

namespace {

[[gnu::noinline]] bool leave_simple_loop() {
    LoopPlace& place = this_thread().slot->loop;
    place.simple = false;
    place.over = true;
    simple_loop = nullptr;
    return false;
}

template <class Value>
[[gnu::always_inline]] inline bool simple_chunk(const Share& share, std::uint64_t from, Value* first, Value* last) {
    if (from >= share.iterations) [[unlikely]]
        return leave_simple_loop();
    const std::uint64_t begin = share.start + from * share.step;
    *first = static_cast<Value>(begin);
    *last = static_cast<Value>(share.iterations - from <= share.chunk ? share.end : begin + share.chunk * share.step);
    return true;
}

// In a function of its own: it makes calls, for which a simple loop's chunk would have to save
// registers.
template <class Value>
[[gnu::noinline]] bool next_of_other_loop(Value* first, Value* last) {
    return next_chunk(this_thread(), first, last);
}

// The next chunk, whichever kind of loop was begun.
template <class Value>
bool next_of_loop(Value* first, Value* last) {
    Share* const share = simple_loop;
    if (share == nullptr) return next_of_other_loop(first, last);
    // relaxed: iterations are independent
    return simple_chunk(*share, share->cursor.fetch_add(share->chunk, std::memory_order_relaxed), first, last);
}

}   // namespace

template <class Value>
bool next_chunk(Thread& me, Value* first, Value* last) {
    Share& share = *me.slot->share;
    LoopPlace& place = me.slot->loop;
    if (share.ordered && place.taken) pass_turn(*me.team, share, place);
    // relaxed: noticed now or later
    place.taken = !place.over && !me.team->cancelled.load(std::memory_order_relaxed) && take(me, share);
    if (!place.taken) {
        place.over = true;
        return false;
    }
    *first = static_cast<Value>(share.start + place.first * share.step);
    *last = static_cast<Value>(place.last == share.iterations ? share.end : share.start + place.last * share.step);
    return true;
}
template bool next_chunk(Thread& me, long* first, long* last);
template bool next_chunk(Thread& me, unsigned long long* first, unsigned long long* last);

void make_extras(Thread& me, std::uintptr_t* reductions, void** memory) {
    Share& share = *me.slot->share;
    if (reductions != nullptr) enter_made_reductions(me, reductions);
    if (memory != nullptr) *memory = memory_of(*me.team, share, reinterpret_cast<std::uintptr_t>(*memory));
}

void take_extras(Thread& me, std::uintptr_t* reductions, void** memory) {
    const Share& share = *me.slot->share;
    if (reductions != nullptr) enter_shared_reductions(me, reductions);
    if (memory != nullptr) *memory = share.memory;
}

namespace {

// without the monotonic bit: all loops here are monotonic
Schedule schedule_of(long word) { return static_cast<Schedule>(word & 7); }

bool start_loop(Schedule schedule, bool ordered, long start, long end, long step, long chunk, long* first, long* last,
                std::uintptr_t* reductions = nullptr, void** memory = nullptr) {
    Thread& me = this_thread();
    if (reductions == nullptr && memory == nullptr) {
        const bool made = enter_filled_share(me, [&](Share& share) {
            make_loop(me, share, schedule, start, end, step, chunk, ordered);
            // The thread that makes the loop takes the first chunk before other threads can see it.
            // relaxed: published with the share
            if (share.simple && first != nullptr) share.cursor.store(share.chunk, std::memory_order_relaxed);
        });
        if (begin_simple_loop(*me.slot) && first != nullptr)
            return made ? simple_chunk(*me.slot->share, 0, first, last) : next_of_loop(first, last);
    } else if (enter_share(me)) {
        make_loop(me, *me.slot->share, schedule, start, end, step, chunk, ordered);
        make_extras(me, reductions, memory);
        share_made(*me.slot->share);
    } else {
        take_extras(me, reductions, memory);
    }
    return first == nullptr || next_chunk(me, first, last);
}

using Ull = unsigned long long;

bool start_loop(Schedule schedule, bool ordered, bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* first,
                Ull* last, std::uintptr_t* reductions = nullptr, void** memory = nullptr) {
    Thread& me = this_thread();
    if (reductions == nullptr && memory == nullptr) {
        const bool made = enter_filled_share(me, [&](Share& share) {
            make_loop(me, share, schedule, up, start, end, step, chunk, ordered);
            // The thread that makes the loop takes the first chunk before other threads can see it.
            // relaxed: published with the share
            if (share.simple && first != nullptr) share.cursor.store(share.chunk, std::memory_order_relaxed);
        });
        if (begin_simple_loop(*me.slot) && first != nullptr)
            return made ? simple_chunk(*me.slot->share, 0, first, last) : next_of_loop(first, last);
    } else if (enter_share(me)) {
        make_loop(me, *me.slot->share, schedule, up, start, end, step, chunk, ordered);
        make_extras(me, reductions, memory);
        share_made(*me.slot->share);
    } else {
        take_extras(me, reductions, memory);
    }
    return first == nullptr || next_chunk(me, first, last);
}

template <class Value>
void make_doacross(Team& team, Share& share, unsigned loops, const Value* counts) {
    auto made = std::make_unique<Doacross>();
    made->inner = loops - 1;
    made->rows = static_cast<std::uint64_t>(counts[0]);
    made->counts = std::make_unique<std::uint64_t[]>(loops);
    for (unsigned i = 1; i < loops; ++i) made->counts[i - 1] = static_cast<std::uint64_t>(counts[i]);
    // Pages that no iteration reaches are never touched.
    made->posted = static_cast<std::atomic<std::uint64_t>*>(
        std::calloc(std::max<std::size_t>(made->rows, 1), sizeof(std::uint64_t)));
    if (made->posted == nullptr)
        fatal_error("Out of memory allocating %zu bytes", static_cast<std::size_t>(made->rows) * sizeof(std::uint64_t));
    share.doacross = made.release();
    team.shares_hold_memory.store(true, std::memory_order_relaxed);   // relaxed: as in memory_of
}

template <class Value>
bool start_doacross(Schedule schedule, unsigned loops, const Value* counts, Value chunk, Value* first, Value* last,
                    std::uintptr_t* reductions = nullptr, void** memory = nullptr) {
    Thread& me = this_thread();
    if (enter_share(me)) {
        if constexpr (std::is_signed_v<Value>)
            make_loop(me, *me.slot->share, schedule, 0L, counts[0], 1L, chunk, false);
        else make_loop(me, *me.slot->share, schedule, true, Ull{0}, counts[0], Ull{1}, chunk, false);
        make_doacross(*me.team, *me.slot->share, loops, counts);
        make_extras(me, reductions, memory);
        share_made(*me.slot->share);
    } else {
        take_extras(me, reductions, memory);
    }
    return first == nullptr || next_chunk(me, first, last);
}

// The position of an iteration within its row, from the inner counts that `next` returns.
template <class Next>
bool place_in_row(const Doacross& doacross, std::uint64_t& place, Next next) {
    place = 0;
    for (unsigned i = 0; i < doacross.inner; ++i) {
        const auto at = static_cast<std::uint64_t>(next());
        if (at >= doacross.counts[i]) return false;
        place = place * doacross.counts[i] + at;
    }
    return true;
}

template <class Value>
void post(const Value* at) {
    Share& share = *this_thread().slot->share;
    const Doacross& doacross = *share.doacross;
    const auto row = static_cast<std::uint64_t>(*at++);
    std::uint64_t place;
    if (row >= doacross.rows || !place_in_row(doacross, place, [&at] { return *at++; })) return;
    doacross.posted[row].store(place + 1);
    share.sleepers.wake();
}

template <class Next>
void await_post(std::uint64_t row, Next next) {
    Thread& me = this_thread();
    Share& share = *me.slot->share;
    const Doacross& doacross = *share.doacross;
    std::uint64_t place;
    // outside of the iterations there is nothing to wait for
    if (row >= doacross.rows || !place_in_row(doacross, place, next)) return;
    const std::atomic<std::uint64_t>& posted = doacross.posted[row];
    // acquire: pairs with post
    share.sleepers.wait([&] { return posted.load(std::memory_order_acquire) > place || me.team->cancelled.load(); });
}

}   // namespace

}   // namespace weft_openmp

using namespace weft_openmp;   // NOLINT: entry points

// In the order of libgomp's names: long, then unsigned long long; each schedule, with and without
// `ordered`.
#define LOOP_START(name, schedule, ordered)                                                                          \
    OPENMP_API bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long* first, long* last) { \
        return start_loop(schedule, ordered, start, end, step, chunk, first, last);                                  \
    }                                                                                                                \
    OPENMP_API bool GOMP_loop_ull_##name##_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* first,       \
                                                 Ull* last) {                                                        \
        return start_loop(schedule, ordered, up, start, end, step, chunk, first, last);                              \
    }                                                                                                                \
    LOOP_NEXT(name)
#define LOOP_START_BY_ICV(name, ordered)                                                                         \
    OPENMP_API bool GOMP_loop_##name##_start(long start, long end, long step, long* first, long* last) {         \
        return start_loop(Schedule::by_icv, ordered, start, end, step, 0, first, last);                          \
    }                                                                                                            \
    OPENMP_API bool GOMP_loop_ull_##name##_start(bool up, Ull start, Ull end, Ull step, Ull* first, Ull* last) { \
        return start_loop(Schedule::by_icv, ordered, up, start, end, step, 0, first, last);                      \
    }                                                                                                            \
    LOOP_NEXT(name)
#define LOOP_NEXT(name)                                                                                    \
    OPENMP_API bool GOMP_loop_##name##_next(long* first, long* last) { return next_of_loop(first, last); } \
    OPENMP_API bool GOMP_loop_ull_##name##_next(Ull* first, Ull* last) { return next_of_loop(first, last); }

LOOP_START(static, Schedule::is_static, false)
LOOP_START(dynamic, Schedule::dynamic, false)
LOOP_START(guided, Schedule::guided, false)
LOOP_START(nonmonotonic_dynamic, Schedule::dynamic, false)
LOOP_START(nonmonotonic_guided, Schedule::guided, false)
LOOP_START_BY_ICV(runtime, false)
LOOP_START_BY_ICV(nonmonotonic_runtime, false)
LOOP_START_BY_ICV(maybe_nonmonotonic_runtime, false)
LOOP_START(ordered_static, Schedule::is_static, true)
LOOP_START(ordered_dynamic, Schedule::dynamic, true)
LOOP_START(ordered_guided, Schedule::guided, true)
LOOP_START_BY_ICV(ordered_runtime, true)

// With the arguments that GOMP_loop_start and its like have besides the iterations.
#define LOOP_START_WITH(name, ordered)                                                                                \
    OPENMP_API bool GOMP_loop_##name(long start, long end, long step, long schedule, long chunk, long* first,         \
                                     long* last, std::uintptr_t* reductions, void** memory) {                         \
        return start_loop(schedule_of(schedule), ordered, start, end, step, chunk, first, last, reductions, memory);  \
    }                                                                                                                 \
    OPENMP_API bool GOMP_loop_ull_##name(bool up, Ull start, Ull end, Ull step, long schedule, Ull chunk, Ull* first, \
                                         Ull* last, std::uintptr_t* reductions, void** memory) {                      \
        return start_loop(schedule_of(schedule), ordered, up, start, end, step, chunk, first, last, reductions,       \
                          memory);                                                                                    \
    }
LOOP_START_WITH(start, false)
LOOP_START_WITH(ordered_start, true)

#define DOACROSS_START(name, schedule)                                                                        \
    OPENMP_API bool GOMP_loop_doacross_##name##_start(unsigned loops, long* counts, long chunk, long* first,  \
                                                      long* last) {                                           \
        return start_doacross(schedule, loops, counts, chunk, first, last);                                   \
    }                                                                                                         \
    OPENMP_API bool GOMP_loop_ull_doacross_##name##_start(unsigned loops, Ull* counts, Ull chunk, Ull* first, \
                                                          Ull* last) {                                        \
        return start_doacross(schedule, loops, counts, chunk, first, last);                                   \
    }
DOACROSS_START(static, Schedule::is_static)
DOACROSS_START(dynamic, Schedule::dynamic)
DOACROSS_START(guided, Schedule::guided)
OPENMP_API bool GOMP_loop_doacross_runtime_start(unsigned loops, long* counts, long* first, long* last) {
    return start_doacross(Schedule::by_icv, loops, counts, 0L, first, last);
}
OPENMP_API bool GOMP_loop_ull_doacross_runtime_start(unsigned loops, Ull* counts, Ull* first, Ull* last) {
    return start_doacross(Schedule::by_icv, loops, counts, Ull{0}, first, last);
}
OPENMP_API bool GOMP_loop_doacross_start(unsigned loops, long* counts, long schedule, long chunk, long* first,
                                         long* last, std::uintptr_t* reductions, void** memory) {
    return start_doacross(schedule_of(schedule), loops, counts, chunk, first, last, reductions, memory);
}
OPENMP_API bool GOMP_loop_ull_doacross_start(unsigned loops, Ull* counts, long schedule, Ull chunk, Ull* first,
                                             Ull* last, std::uintptr_t* reductions, void** memory) {
    return start_doacross(schedule_of(schedule), loops, counts, chunk, first, last, reductions, memory);
}

OPENMP_API void GOMP_doacross_post(long* at) { post(at); }
OPENMP_API void GOMP_doacross_ull_post(Ull* at) { post(at); }
OPENMP_API void GOMP_doacross_wait(long row, ...) {
    std::va_list more;
    va_start(more, row);
    await_post(static_cast<std::uint64_t>(row), [&more] { return va_arg(more, long); });
    va_end(more);
}
OPENMP_API void GOMP_doacross_ull_wait(Ull row, ...) {
    std::va_list more;
    va_start(more, row);
    await_post(row, [&more] { return va_arg(more, Ull); });
    va_end(more);
}

OPENMP_API void GOMP_ordered_start() {
    Thread& me = this_thread();
    Share& share = *me.slot->share;
    if (share.ordered && me.slot->loop.taken) await_turn(*me.team, share, me.slot->loop);
}
OPENMP_API void GOMP_ordered_end() {}   // the turn passes on with the chunk

OPENMP_API void GOMP_loop_end() { meet(this_thread()); }
OPENMP_API bool GOMP_loop_end_cancel() { return meet_or_leave(this_thread()); }
OPENMP_API void GOMP_loop_end_nowait() {}
