// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What omp_display_env and OMP_DISPLAY_ENV print: in libgomp's format, which scripts read.

#include <cstdio>
#include <string>

#include "bind.hpp"
#include "export.hpp"
#include "places.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

const char* schedule_name(Schedule schedule) {
    switch (schedule) {
    case Schedule::dynamic: return "DYNAMIC";
    case Schedule::guided: return "GUIDED";
    case Schedule::automatic: return "AUTO";
    default: return "STATIC";
    }
}

const char* bind_name(Bind bind) {
    switch (bind) {
    case Bind::yes: return "TRUE";
    case Bind::primary: return "MASTER";
    case Bind::close: return "CLOSE";
    case Bind::spread: return "SPREAD";
    default: return "FALSE";
    }
}

const char* truth(bool value) { return value ? "TRUE" : "FALSE"; }

void line(std::string& text, const char* name, const std::string& value) {
    text.append("  ").append(name).append(" = '").append(value).append("'\n");
}

std::string all(bool verbose) {
    const Environment& said = environment();
    const Icv& icv = *said.initial;
    std::string threads, bind;
    for (const unsigned count : said.threads) threads += (threads.empty() ? "" : ",") + std::to_string(count);
    for (const Bind one : said.bind) bind += std::string(bind.empty() ? "" : ",") + bind_name(one);
    const bool is_static = icv.schedule == Schedule::is_static;
    std::string schedule = icv.monotonic == is_static ? "" : is_static ? "NONMONOTONIC:" : "MONOTONIC:";
    schedule += schedule_name(icv.schedule);
    if (icv.schedule != Schedule::automatic && icv.chunk > (is_static ? 0 : 1))
        schedule += "," + std::to_string(icv.chunk);
    static constexpr const char* allocators[] = {
        "omp_default_mem_alloc", "omp_large_cap_mem_alloc", "omp_const_mem_alloc", "omp_high_bw_mem_alloc",
        "omp_low_lat_mem_alloc", "omp_cgroup_mem_alloc",    "omp_pteam_mem_alloc", "omp_thread_mem_alloc"};
    std::string text = "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n";
    line(text, "_OPENMP", "201511");
    line(text, "OMP_DYNAMIC", truth(icv.dynamic));
    line(text, "OMP_NESTED", truth(icv.max_active_levels > 1));
    line(text, "OMP_NUM_THREADS", threads.empty() ? std::to_string(icv.threads) : threads);
    line(text, "OMP_SCHEDULE", schedule);
    line(text, "OMP_PROC_BIND", bind.empty() ? bind_name(icv.bind) : bind);
    line(text, "OMP_PLACES", places_text());
    line(text, "OMP_STACKSIZE", std::to_string(said.stack_bytes));
    line(text, "OMP_WAIT_POLICY", said.wait_actively ? "ACTIVE" : "PASSIVE");
    line(text, "OMP_THREAD_LIMIT", std::to_string(icv.thread_limit));
    line(text, "OMP_MAX_ACTIVE_LEVELS", std::to_string(icv.max_active_levels));
    line(text, "OMP_NUM_TEAMS", std::to_string(said.teams));
    line(text, "OMP_TEAMS_THREAD_LIMIT", std::to_string(said.teams_thread_limit));
    line(text, "OMP_CANCELLATION", truth(said.cancellation));
    line(text, "OMP_DEFAULT_DEVICE", std::to_string(icv.device));
    line(text, "OMP_MAX_TASK_PRIORITY", std::to_string(said.max_task_priority));
    line(text, "OMP_DISPLAY_AFFINITY", truth(said.display_affinity));
    line(text, "OMP_AFFINITY_FORMAT", affinity_format());
    line(text, "OMP_ALLOCATOR", allocators[icv.allocator - 1]);
    line(text, "OMP_TARGET_OFFLOAD", said.offload);
    if (verbose) {
        line(text, "GOMP_CPU_AFFINITY", "");   // shown above, as places
        line(text, "GOMP_STACKSIZE", std::to_string(said.stack_bytes));
        line(text, "GOMP_SPINCOUNT", std::to_string(said.spins));
    }
    return text + "OPENMP DISPLAY ENVIRONMENT END\n";
}

// Runs when the library is loaded, so that faults in the environment are reported even for a
// program that has no parallel region.
[[gnu::constructor]] void read_environment() {
    begin_binding();
    const Environment& said = environment();
    if (said.display != Environment::silent) std::fputs(all(said.display == Environment::verbose).c_str(), stderr);
}

}   // namespace

}   // namespace weft_openmp

OPENMP_API void omp_display_env(int verbose) { std::fputs(weft_openmp::all(verbose != 0).c_str(), stderr); }
OPENMP_API void omp_display_env_(const std::int32_t* verbose) { omp_display_env(*verbose); }
OPENMP_API void omp_display_env_8_(const std::int64_t* verbose) { omp_display_env(*verbose != 0 ? 1 : 0); }
