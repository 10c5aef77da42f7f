// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Other OpenMP runtimes in the process: LLVM's libomp, Intel's libiomp5, and any library with their
// entry points.
//
// The loader binds by name. A library whose omp_ references carry no version (because it is linked
// without its runtime: MKL, some of what clang and icx compile) gets ours, since we come first,
// while its regions (__kmpc_) are another runtime's. So each omp_ call is answered by the runtime
// in whose region the calling thread is:
//
// - A question about where a thread is (its number, its team, its level) is answered by the
//   innermost region's runtime.
// - A question about the thread's next region (max_threads, dynamic, ...) is answered by the
//   runtime of the caller's regions: ours where the reference carries a version of libgomp's. For a
//   caller without regions, the innermost region's runtime answers.
// - Setters go where a question would, and outside of all regions to all runtimes.
// - The compiler lays out locks and events: those of a caller with __kmpc_ references belong to its
//   runtime.
// - Memory, places and clocks are ours.
//
// References without a version are bound to functions of their own (any_...; routine.hpp), so
// members of our regions pay for none of this. doc/decisions/0035-several-openmp-runtimes.md says
// why.
#pragma once

#include <atomic>

#include "team.hpp"

namespace weft_openmp {

// What we call of another runtime: X(result, name, arguments).
// clang-format off
#define OPENMP_OF_OTHERS(X)                                                                                         \
    X(int, omp_get_level, ()) X(int, omp_get_active_level, ()) X(int, omp_in_parallel, ()) X(int, omp_in_final, ()) \
    X(int, omp_get_thread_num, ())                                                                                  \
    X(int, omp_get_num_threads, ()) X(int, omp_get_team_num, ()) X(int, omp_get_num_teams, ())                      \
    X(int, omp_get_ancestor_thread_num, (int)) X(int, omp_get_team_size, (int))                                     \
    X(int, omp_get_max_threads, ()) X(void, omp_set_num_threads, (int))                                             \
    X(int, omp_get_dynamic, ())                                                                                     \
    X(void, omp_set_dynamic, (int)) X(int, omp_get_nested, ()) X(void, omp_set_nested, (int))                       \
    X(int, omp_get_max_active_levels, ()) X(void, omp_set_max_active_levels, (int))                                 \
    X(void, omp_get_schedule, (unsigned*, int*)) X(void, omp_set_schedule, (unsigned, int))                         \
    X(int, omp_get_thread_limit, ()) X(int, omp_get_proc_bind, ()) X(void, omp_fulfill_event, (void*))              \
    X(void, omp_init_lock, (void*)) X(void, omp_destroy_lock, (void*)) X(void, omp_set_lock, (void*))               \
    X(void, omp_unset_lock, (void*)) X(int, omp_test_lock, (void*))                                                 \
    X(void, omp_init_nest_lock, (void*))                                                                            \
    X(void, omp_destroy_nest_lock, (void*)) X(void, omp_set_nest_lock, (void*))                                     \
    X(void, omp_unset_nest_lock, (void*)) X(int, omp_test_nest_lock, (void*))
// clang-format on

// A function that the runtime lacks is null.
struct OtherRuntime {
#define MEMBER(result, name, arguments) result(*name) arguments = nullptr;
    OPENMP_OF_OTHERS(MEMBER)
#undef MEMBER
};

// Whether another runtime may be at work. Never unset: that runtime is kept loaded.
inline constinit std::atomic<bool> others_work{false};
// relaxed: a thread in the other runtime's region has seen it begin, and the look-up that follows
// takes a lock
inline bool others() { return others_work.load(std::memory_order_relaxed); }

// `caller`, here and below: the return address of the call, which tells which object calls. Null:
// code whose regions are ours. Returns the runtime of the innermost region around the calling
// thread; null: the region is ours, or the thread is in none.
const OtherRuntime* other_around(const void* caller);
// The runtime to ask about the caller's next region; null: ours.
const OtherRuntime* other_of_settings(const void* caller);
// The runtime that the caller's locks and events belong to. It is begun if it has not begun; null:
// ours.
const OtherRuntime* other_of_code(const void* caller);
// How many regions of other runtimes the calling thread is in.
int levels_of_others();
// Calls set(runtime, value) for each other runtime that a setter reaches. Returns whether it
// reaches ours, too.
bool set_in_others(const void* caller, void (*set)(const OtherRuntime& runtime, const void* value), const void* value);

// Called by a hosted unit that ends, so that no other unit gets its pthread. A runtime notes in
// plain thread-local memory that it knows a thread, and the next unit would find that note. The
// runtime forgets the thread when the pthread's keys are destroyed.
void use_thread_up();

// Whether the caller's reference to omp_in_parallel would be null without this library: it is weak,
// and no OpenMP runtime is in the scope in which it is looked up.
bool lacks_in_parallel_without_us(const void* caller);

}   // namespace weft_openmp
