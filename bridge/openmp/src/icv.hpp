// Internal control variables (OpenMP 5.1, section 2.4): those that each task has its own of, and
// those of the process.
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

// A task's set. Sets never change: who changes a variable gets another set, of which there is one
// for the same values, for ever. So a task inherits by a pointer.
struct Icv {
    unsigned threads = 1;           // nthreads-var
    unsigned thread_limit = ~0U;    // thread-limit-var
    int chunk = 1;                  // run-sched-var: 0 stands for none
    int device = 0;                 // default-device-var
    std::uintptr_t allocator = 1;   // def-allocator-var: omp_default_mem_alloc
    Schedule schedule = Schedule::dynamic;
    bool monotonic = false;   // as the program has said it
    bool dynamic = false;     // dyn-var
    std::uint8_t max_active_levels = 1;
    Bind bind = Bind::no;   // bind-var

    friend bool operator==(const Icv&, const Icv&) = default;
};

// The one set of these values.
const Icv* interned(const Icv& values);
// With a thread_limit clause, which holds whatever OMP_THREAD_LIMIT has said, as on libgomp; 0:
// there is none.
const Icv* limited(const Icv* icv, unsigned thread_limit);

// What the environment has said, and what holds for the process.
struct Environment {
    const Icv* initial = nullptr;    // of the initial task of each thread that no team has
    std::vector<unsigned> threads;   // OMP_NUM_THREADS: a value for each level
    std::vector<Bind> bind;          // OMP_PROC_BIND: as well
    std::size_t stack_bytes = 0;     // OMP_STACKSIZE, GOMP_STACKSIZE; 0: not said
    // What units ask for: where less is said than a stack may have, libgomp complains, and takes
    // one that it can have.
    std::size_t unit_stack_bytes() const { return stack_bytes == 0 ? 0 : std::max(stack_bytes, WEFT_STACK_LEAST); }
    bool cancellation = false;   // OMP_CANCELLATION
    bool wait_policy_said = false, wait_actively = false;
    // GOMP_SPINCOUNT, or by OMP_WAIT_POLICY: as it was said; SpinBudget has what comes of it
    std::uint64_t spins = 0;
    int max_task_priority = 0;               // OMP_MAX_TASK_PRIORITY
    int teams = 0, teams_thread_limit = 0;   // OMP_NUM_TEAMS, OMP_TEAMS_THREAD_LIMIT; 0: not said
    bool display_affinity = false;
    enum { silent, shown, verbose } display = silent;   // OMP_DISPLAY_ENV
    // WEFT_OMP_TASK_KIND: of the units that deferred tasks are; the default: they are none
    weft_kind task_kind = WEFT_KIND_DEFAULT;
    bool follows_load = false;   // WEFT_OMP_MAX_THREADS: what foreign threads are promised
    std::string affinity_format;
    // OMP_PLACES or GOMP_CPU_AFFINITY: their CPUs, in order; none where nothing is bound
    std::vector<std::vector<int>> places;
    const char* offload = "DEFAULT";   // OMP_TARGET_OFFLOAD: as it was said
    bool offload_is_mandatory = false;
};

// Deferred tasks are units of their own (unit_task.hpp). Written once, as the environment is read.
inline bool tasks_are_units = false;

// CPUs that the calling thread may use, or could if it were not bound to a place.
unsigned processors();

inline constexpr std::uint8_t supported_active_levels = 255;

// Read at the first use, which is that of the library's constructor at the latest.
Environment& environment();

}   // namespace weft_openmp
