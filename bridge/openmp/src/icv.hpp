// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Internal control variables (OpenMP 5.1, section 2.4): those of each task, and those of the
// process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/kind.h>
#include <weft/unit.h>

namespace weft_openmp {

enum class Schedule : std::uint8_t { by_icv = 0, is_static = 1, dynamic = 2, guided = 3, automatic = 4 };
enum class Bind : std::uint8_t { no = 0, yes = 1, primary = 2, close = 3, spread = 4 };

// A task's set. Sets never change: a change of a variable selects another set. There is one set for
// each combination of values, and it is never freed, so a task inherits by a pointer.
struct Icv {
    unsigned threads = 1;           // nthreads-var
    unsigned thread_limit = ~0U;    // thread-limit-var
    int chunk = 1;                  // run-sched-var: 0 stands for none
    int device = 0;                 // default-device-var
    std::uintptr_t allocator = 1;   // def-allocator-var: omp_default_mem_alloc
    Schedule schedule = Schedule::dynamic;
    bool monotonic = false;   // as the program has set it
    bool dynamic = false;     // dyn-var
    std::uint8_t max_active_levels = 1;
    Bind bind = Bind::no;   // bind-var

    friend bool operator==(const Icv&, const Icv&) = default;
};

// The one set with these values.
const Icv* interned(const Icv& values);
// The set with a thread_limit clause, which overrides OMP_THREAD_LIMIT, as on libgomp; 0: there is
// no clause.
const Icv* limited(const Icv* icv, unsigned thread_limit);

// The values from the environment, and what holds for the process.
struct Environment {
    const Icv* initial = nullptr;    // of the initial task of each thread that is in no team
    std::vector<unsigned> threads;   // OMP_NUM_THREADS: a value for each level
    std::vector<Bind> bind;          // OMP_PROC_BIND: likewise
    std::size_t stack_bytes = 0;     // OMP_STACKSIZE, GOMP_STACKSIZE; 0: not set
    // The stack size that units ask for. Where less is set than a stack may have, libgomp
    // complains, and uses a size that is possible.
    std::size_t unit_stack_bytes() const { return stack_bytes == 0 ? 0 : std::max(stack_bytes, WEFT_STACK_LEAST); }
    bool cancellation = false;   // OMP_CANCELLATION
    bool wait_policy_said = false, wait_actively = false;
    // GOMP_SPINCOUNT, or from OMP_WAIT_POLICY: as it was set; SpinBudget has the number in use
    std::uint64_t spins = 0;
    int max_task_priority = 0;               // OMP_MAX_TASK_PRIORITY
    int teams = 0, teams_thread_limit = 0;   // OMP_NUM_TEAMS, OMP_TEAMS_THREAD_LIMIT; 0: not set
    bool display_affinity = false;
    enum { silent, shown, verbose } display = silent;   // OMP_DISPLAY_ENV
    // WEFT_OMP_TASK_KIND: the kind of the units that deferred tasks are; by default they are no
    // units
    weft_kind task_kind = WEFT_KIND_DEFAULT;
    bool follows_load = false;   // WEFT_OMP_MAX_THREADS: foreign threads get what the load allows
    std::string affinity_format;
    // OMP_PLACES or GOMP_CPU_AFFINITY: their CPUs, in order; empty where nothing is bound
    std::vector<std::vector<int>> places;
    const char* offload = "DEFAULT";   // OMP_TARGET_OFFLOAD, as it was set
    bool offload_is_mandatory = false;
};

// Deferred tasks are units of their own (unit_task.hpp). Written once, when the environment is
// read.
inline bool tasks_are_units = false;

// CPUs that the calling thread may use, or could use if it were not bound to a place.
unsigned processors();

inline constexpr std::uint8_t supported_active_levels = 255;

// Read at the first use, which is the library's constructor at the latest.
Environment& environment();

}   // namespace weft_openmp
