// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel regions, and what the threads of a region do together, except for loops.
#include <atomic>
#include <cstdint>

#include "export.hpp"
#include "lock.hpp"
#include "loop.hpp"
#include "team.hpp"

using namespace weft_openmp;   // NOLINT: entry points

namespace {

constexpr unsigned bind_bits = 7;

Bind bind_of(unsigned flags) { return static_cast<Bind>(flags & bind_bits); }

void run_region(void (*body)(void*), void* data, unsigned threads, unsigned flags, std::uintptr_t* reductions = nullptr,
                void (*prepare)(Team&, void*) = nullptr, void* argument = nullptr) {
    Thread& me = this_thread();
    begin_region(me, body, data, threads_for(me, threads), bind_of(flags), reductions, prepare, argument);
    body(data);
    end_region(me);
}

// A loop that all threads begin with: it is made before they start.
struct Loop {
    Schedule schedule;
    long start, end, step, chunk;
};

void prepare_loop(Team& team, void* raw) {
    const auto& loop = *static_cast<Loop*>(raw);
    begin_with_loop(team, loop.schedule, loop.start, loop.end, loop.step, loop.chunk);
}

void prepare_sections(Team& team, void* raw) {
    begin_with_loop(team, Schedule::dynamic, 1, static_cast<long>(*static_cast<unsigned*>(raw)) + 1, 1, 1);
}

}   // namespace

OPENMP_API void GOMP_parallel_start(void (*body)(void*), void* data, unsigned threads) {
    Thread& me = this_thread();
    begin_region(me, body, data, threads_for(me, threads), Bind::no);
}
OPENMP_API void GOMP_parallel_end() { end_region(this_thread()); }
OPENMP_API void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
    run_region(body, data, threads, flags);
}
OPENMP_API unsigned GOMP_parallel_reductions(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
    Thread& me = this_thread();
    const unsigned size = threads_for(me, threads);
    auto* const reductions = *static_cast<std::uintptr_t**>(data);
    make_reductions(reductions, size);
    begin_region(me, body, data, size, bind_of(flags), reductions, [](Team& team, void*) {
        for (unsigned i = 0; i < team.size; ++i) enter_reductions(team.team_pool->slots[i]->implicit, team.reductions);
    });
    body(data);
    end_region(me);
    return size;
}

#define PARALLEL_LOOP(name, schedule)                                                                                \
    OPENMP_API void GOMP_parallel_loop_##name##_start(void (*body)(void*), void* data, unsigned threads, long start, \
                                                      long end, long step, long chunk) {                             \
        Thread& me = this_thread();                                                                                  \
        Loop loop{schedule, start, end, step, chunk};                                                                \
        begin_region(me, body, data, threads_for(me, threads), Bind::no, nullptr, prepare_loop, &loop);              \
    }                                                                                                                \
    PARALLEL_LOOP_AT_ONCE(name, schedule)
#define PARALLEL_LOOP_AT_ONCE(name, schedule)                                                                          \
    OPENMP_API void GOMP_parallel_loop_##name(void (*body)(void*), void* data, unsigned threads, long start, long end, \
                                              long step, long chunk, unsigned flags) {                                 \
        Loop loop{schedule, start, end, step, chunk};                                                                  \
        run_region(body, data, threads, flags, nullptr, prepare_loop, &loop);                                          \
    }
PARALLEL_LOOP(static, Schedule::is_static)
PARALLEL_LOOP(dynamic, Schedule::dynamic)
PARALLEL_LOOP(guided, Schedule::guided)
PARALLEL_LOOP_AT_ONCE(nonmonotonic_dynamic, Schedule::dynamic)
PARALLEL_LOOP_AT_ONCE(nonmonotonic_guided, Schedule::guided)

#define PARALLEL_LOOP_RUNTIME(name)                                                                                    \
    OPENMP_API void GOMP_parallel_loop_##name(void (*body)(void*), void* data, unsigned threads, long start, long end, \
                                              long step, unsigned flags) {                                             \
        Loop loop{Schedule::by_icv, start, end, step, 0};                                                              \
        run_region(body, data, threads, flags, nullptr, prepare_loop, &loop);                                          \
    }
PARALLEL_LOOP_RUNTIME(runtime)
PARALLEL_LOOP_RUNTIME(nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(maybe_nonmonotonic_runtime)
OPENMP_API void GOMP_parallel_loop_runtime_start(void (*body)(void*), void* data, unsigned threads, long start,
                                                 long end, long step) {
    Thread& me = this_thread();
    Loop loop{Schedule::by_icv, start, end, step, 0};
    begin_region(me, body, data, threads_for(me, threads), Bind::no, nullptr, prepare_loop, &loop);
}

OPENMP_API void GOMP_parallel_sections_start(void (*body)(void*), void* data, unsigned threads, unsigned count) {
    Thread& me = this_thread();
    begin_region(me, body, data, threads_for(me, threads), Bind::no, nullptr, prepare_sections, &count);
}
OPENMP_API void GOMP_parallel_sections(void (*body)(void*), void* data, unsigned threads, unsigned count,
                                       unsigned flags) {
    run_region(body, data, threads, flags, nullptr, prepare_sections, &count);
}

OPENMP_API void GOMP_barrier() { meet(this_thread()); }
OPENMP_API bool GOMP_barrier_cancel() { return meet_or_leave(this_thread()); }

// ---- single -------------------------------------------------------------------------------------

OPENMP_API bool GOMP_single_start() { return first_at_single(this_thread()); }

// The share passes on the first thread's pointer, and all threads read it before the second
// barrier's end lets any of them go on.
OPENMP_API void* GOMP_single_copy_start() {
    Thread& me = this_thread();
    if (enter_share(me)) {
        share_made(*me.slot->share);
        return nullptr;
    }
    Share& share = *me.slot->share;
    meet(me);
    return share.copied.load(std::memory_order_relaxed);   // relaxed: behind the barrier
}
OPENMP_API void GOMP_single_copy_end(void* data) {
    Thread& me = this_thread();
    me.slot->share->copied.store(data, std::memory_order_relaxed);   // relaxed: the barrier publishes
    meet(me);
}

OPENMP_API void GOMP_scope_start(std::uintptr_t* reductions) {
    Thread& me = this_thread();
    if (enter_share(me)) {
        enter_made_reductions(me, reductions);
        share_made(*me.slot->share);
    } else {
        enter_shared_reductions(me, reductions);
    }
}

// ---- sections -----------------------------------------------------------------------------------

namespace {

unsigned next_section() {
    Thread& me = this_thread();
    LoopPlace& place = me.slot->loop;
    // in a team of one, whose first chunk is all of the sections
    if (place.taken && place.first + 1 < place.last) return static_cast<unsigned>(++place.first) + 1;
    long first = 0, last = 0;
    return next_chunk(me, &first, &last) ? static_cast<unsigned>(first) : 0;
}

void start_sections(Thread& me, unsigned count) {
    enter_filled_share(me, [&](Share& share) {
        make_loop(me, share, Schedule::dynamic, 1, static_cast<long>(count) + 1, 1, 1, false);
    });
}

}   // namespace

OPENMP_API unsigned GOMP_sections_start(unsigned count) {
    start_sections(this_thread(), count);
    return next_section();
}
OPENMP_API unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
    Thread& me = this_thread();
    if (enter_share(me)) {
        make_loop(me, *me.slot->share, Schedule::dynamic, 1, static_cast<long>(count) + 1, 1, 1, false);
        make_extras(me, reductions, memory);
        share_made(*me.slot->share);
    } else {
        take_extras(me, reductions, memory);
    }
    return next_section();
}
OPENMP_API unsigned GOMP_sections_next() { return next_section(); }
OPENMP_API void GOMP_sections_end() { meet(this_thread()); }
OPENMP_API bool GOMP_sections_end_cancel() { return meet_or_leave(this_thread()); }
OPENMP_API void GOMP_sections_end_nowait() {}

// ---- critical, atomic ---------------------------------------------------------------------------

namespace {

Word unnamed_critical;
Word atomics;

}   // namespace

OPENMP_API void GOMP_critical_start() { lock_word(unnamed_critical); }
OPENMP_API void GOMP_critical_end() { unlock_word(unnamed_critical); }
OPENMP_API void GOMP_critical_name_start(void** name) { lock_word(*reinterpret_cast<Word*>(name)); }
OPENMP_API void GOMP_critical_name_end(void** name) { unlock_word(*reinterpret_cast<Word*>(name)); }
OPENMP_API void GOMP_atomic_start() { lock_word(atomics); }
OPENMP_API void GOMP_atomic_end() { unlock_word(atomics); }
