// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starting and stopping the runtime from C++, and its settings.
#pragma once

#include <weft/language.hpp>

#include <cstddef>
#include <cstdio>
#include <utility>

#include <weft/runtime.h>
#include <weft/hart.hpp>
#include <weft/pool.hpp>
#include <weft/sched.hpp>
#include <weft/status.hpp>
#include <weft/unit.hpp>

namespace weft {
inline namespace v0 {

/** As many streams as the process may use harts. */
inline constexpr std::size_t all_harts = WEFT_ALL_HARTS;

/** How stacks are guarded against overflow. */
enum class guard_kind {
    automatic = WEFT_GUARD_AUTO,    /**< the first of the next three that works */
    install = WEFT_GUARD_INSTALL,   /**< MADV_GUARD_INSTALL: Linux 6.13 and later */
    mprotect = WEFT_GUARD_MPROTECT, /**< mprotect: near 32,000 stacks, canaries beyond */
    canary = WEFT_GUARD_CANARY,     /**< a word at the end of the stack */
    none = WEFT_GUARD_NONE          /**< none: an overflow overwrites the memory below the stack */
};

/** What the runtime does when no unit can ever continue; see weft_deadlock. */
enum class deadlock_kind {
    report = WEFT_DEADLOCK_REPORT, /**< the waiting units are reported on standard error; the program waits on */
    abort = WEFT_DEADLOCK_ABORT,   /**< the waiting units are reported, and abort() ends the process */
    ignore = WEFT_DEADLOCK_IGNORE  /**< the runtime does not check for deadlocks */
};

/** What happens to units that could run while their streams block, spin or compute; see
 * weft_rescue. */
enum class rescue_kind {
    unspecified = WEFT_RESCUE_DEFAULT, /**< as on */
    on = WEFT_RESCUE_ON,               /**< OS threads beside the streams run units that several streams may run */
    off = WEFT_RESCUE_OFF,             /**< the units wait; a wait that lasts is reported on standard error */
    all = WEFT_RESCUE_ALL,             /**< as on, also for units of pools from which one stream alone draws */
    ignore = WEFT_RESCUE_IGNORE        /**< the units wait, and the runtime does not check for them */
};

/** Whether the process uses fewer harts for a while when other processes compute on the same
 * processors; see weft_neighbours. */
enum class neighbours_kind {
    unspecified = WEFT_NEIGHBOURS_DEFAULT, /**< as withhold */
    withhold = WEFT_NEIGHBOURS_WITHHOLD,   /**< it does */
    ignore = WEFT_NEIGHBOURS_IGNORE        /**< the runtime does not check for such processes */
};

/** The settings that a program can give the runtime; to be written with designated initialisers.
 * Zero means the default. The environment variable of a setting takes precedence; see runtime.h. */
struct settings {
    /** streams to start; 0, all_harts: as many as the process may use harts */
    std::size_t streams = 0;
    /** a thread's stack, at least WEFT_STACK_LEAST; 0: 65536 */
    std::size_t stack_bytes = 0;
    /** the size of the guard; 0: one page */
    std::size_t guard_bytes = 0;
    /** how stacks are guarded */
    guard_kind guard = guard_kind::automatic;
    /** the kind of a thread whose attributes do not specify one */
    unit_kind kind = unit_kind::unspecified;
    /** the kind of the streams' main pools */
    pool_kind pool = pool_kind::unspecified;
    /** the kind of the streams' schedulers; unspecified: as fits the pools */
    scheduler_kind scheduler = scheduler_kind::unspecified;
    /** the size of the stack on which schedulers and tasklets run; 0: 262144 */
    std::size_t scheduler_stack_bytes = 0;
    /** idle memory above this goes back to the system; 0: 67108864 */
    std::size_t idle_memory_bytes = 0;
    /** how long an idle stream spins for work before it sleeps; 0: 20000 */
    std::size_t spin_ns = 0;
    /** maintain the counters of the time in units and in schedulers */
    bool timing = false;
    /** a signal that makes the process write a dump to standard error; 0: none. Since 0.3 */
    int dump = 0;
    /** a file for a trace of all units and streams; null: none. Since 0.7 */
    const char* trace = nullptr;
    /** how many events of each stream the trace holds; 0: 1048576. Since 0.7 */
    std::size_t trace_events = 0;
    /** no thread of kind automatic runs on its scheduler's stack. Since 0.7 */
    bool own_stacks = false;
    /** the primary unit waits in stream 0's main pool as other units do. Since 0.5 */
    bool roaming_primary = false;
    /** how harts are shared when the claimants want more than there are. Since 0.7 */
    hart_policy sharing = hart_policy::fair;
    /** how long a claimant keeps a hart when claimants take turns; 0: 5000000. Since 0.7 */
    std::size_t slice_ns = 0;
    /** what to do when no unit can ever continue. Since 0.7 */
    deadlock_kind deadlock = deadlock_kind::report;
    /** what to do when streams are stuck while units could run. Since 0.7 */
    rescue_kind rescue = rescue_kind::unspecified;
    /** the most OS threads that rescue at the same time; 0: as many as there are live units. Since
     * 0.7 */
    std::size_t rescue_bound = 0;
    /** the most harts to use; 0: as many as the CPU set and the quota allow. Since 0.6 */
    std::size_t harts = 0;
    /** what to do when other processes compute on the same processors. Since 0.7 */
    neighbours_kind neighbours = neighbours_kind::unspecified;
    /** every unit has a floating-point environment of its own. Since 0.7 */
    bool own_float = false;
};

/** The runtime, from construction to destruction:
 *
 *     weft::runtime runtime;
 *
 * The constructing thread becomes the primary unit of stream 0. Runtimes nest; the settings of
 * inner ones are ignored. The thread that constructed a runtime must destroy it. */
class runtime {
public:
    /** Starts the runtime with the default settings. Throws weft::error; see weft_init. */
    runtime() : runtime(weft::settings{}) {}

    /** Starts the runtime with the settings `wanted`. Throws weft::error; see weft_init. */
    explicit runtime(const weft::settings& wanted) {
        weft_settings asked{};
        asked.size = sizeof asked;
        asked.streams = wanted.streams;
        asked.stack_bytes = wanted.stack_bytes;
        asked.guard_bytes = wanted.guard_bytes;
        asked.guard = static_cast<weft_guard>(wanted.guard);
        asked.kind = static_cast<weft_kind>(wanted.kind);
        asked.pool = static_cast<weft_pool_kind>(wanted.pool);
        asked.scheduler = static_cast<weft_sched_kind>(wanted.scheduler);
        asked.scheduler_stack_bytes = wanted.scheduler_stack_bytes;
        asked.idle_memory_bytes = wanted.idle_memory_bytes;
        asked.spin_ns = wanted.spin_ns;
        asked.timing = wanted.timing;
        asked.dump = wanted.dump;
        asked.trace = wanted.trace;
        asked.trace_events = wanted.trace_events;
        asked.own_stacks = wanted.own_stacks;
        asked.roaming_primary = wanted.roaming_primary;
        asked.hart_policy = static_cast<weft_hart_policy>(wanted.sharing);
        asked.slice_ns = wanted.slice_ns;
        asked.deadlock = static_cast<weft_deadlock>(wanted.deadlock);
        asked.rescue = static_cast<weft_rescue>(wanted.rescue);
        asked.rescue_bound = wanted.rescue_bound;
        asked.harts = wanted.harts;
        asked.neighbours = static_cast<weft_neighbours>(wanted.neighbours);
        asked.own_float = wanted.own_float;
        check(weft_init(&asked));
        started_ = true;
    }

    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;

    /** Ends what the constructor began, unless finalize() has done so. Units that are still
     * suspended never continue, and are not reported; finalize() reports them. */
    ~runtime() {
        if (started_) weft_finalize();
    }

    /** Ends what the constructor began: runs what is ready, stops the streams, frees everything.
     * Throws weft::error with WEFT_BUSY when units were still suspended (everything is freed
     * nevertheless), with WEFT_WRONG_CONTEXT when the caller is not the primary unit, and with
     * WEFT_NO_MEMORY as weft_finalize does (nothing is done). */
    void finalize() {
        const weft_status status = weft_finalize();
        started_ = started_ && (status == WEFT_WRONG_CONTEXT || status == WEFT_NO_MEMORY);
        check(status);
    }

    /** Whether a runtime runs. */
    static bool running() noexcept { return weft_initialized(); }

    /** The settings in force, including the environment's. */
    static weft::settings settings_in_force() {
        weft_settings force{};
        force.size = sizeof force;
        check(weft_settings_get(&force));
        return {.streams = force.streams,
                .stack_bytes = force.stack_bytes,
                .guard_bytes = force.guard_bytes,
                .guard = static_cast<guard_kind>(force.guard),
                .kind = static_cast<unit_kind>(force.kind),
                .pool = static_cast<pool_kind>(force.pool),
                .scheduler = static_cast<scheduler_kind>(force.scheduler),
                .scheduler_stack_bytes = force.scheduler_stack_bytes,
                .idle_memory_bytes = force.idle_memory_bytes,
                .spin_ns = force.spin_ns,
                .timing = force.timing,
                .dump = force.dump,
                .trace = force.trace,
                .trace_events = force.trace_events,
                .own_stacks = force.own_stacks,
                .roaming_primary = force.roaming_primary,
                .sharing = static_cast<hart_policy>(force.hart_policy),
                .slice_ns = force.slice_ns,
                .deadlock = static_cast<deadlock_kind>(force.deadlock),
                .rescue = static_cast<rescue_kind>(force.rescue),
                .rescue_bound = force.rescue_bound,
                .harts = force.harts,
                .neighbours = static_cast<neighbours_kind>(force.neighbours),
                .own_float = force.own_float};
    }

    /** Writes each environment variable to `file`: name, legal values, default, meaning. */
    static void print_environment(std::FILE* file) { check(weft_environment_print(file)); }
    /** Throws when a variable's value is not legal, and writes a line for each to `file`; see
     * weft_environment_check. */
    static void check_environment(std::FILE* file = nullptr) { check(weft_environment_check(file)); }

    /** Returns idle memory of the calling stream and of the common store to the system. */
    static void trim_memory() { check(weft_memory_trim()); }

private:
    bool started_ = false;
};

}   // namespace v0
}   // namespace weft
