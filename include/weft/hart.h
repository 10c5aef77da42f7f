/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Harts: hardware threads that may be used now (the word is Lithe's: Pan, Hindman, Asanovic, PLDI
 * 2010, section 2). A hart is a token, lent and never owned. The process has as many as its CPU set
 * and the CPU quota of its cgroups allow. Streams, domains (domain.h) and guests (guest.h) share
 * the harts. */
#ifndef WEFT_HART_H
#define WEFT_HART_H

#include <stddef.h>

#include <stdbool.h>

#include <weft/status.h>

WEFT_BEGIN

/** How harts are shared among the claimants: the streams, which count as one, the domains that no
 * other domain lends to (domain.h), and guests. A claimant that has more than its share while
 * another lacks its own is asked to give harts back: domains learn this by weft_domain_wanted,
 * streams lend their harts between two units. */
typedef enum weft_hart_policy {
    WEFT_HART_FAIR = 0,      /**< the same number to each, as far as each wants them */
    WEFT_HART_WEIGHTED = 1,  /**< in proportion to their weights; see weft_domain_weight_set */
    WEFT_HART_FIRST_COME = 2 /**< as many as it wants to the first to arrive, then to the second, and so on */
} weft_hart_policy;

/** How the harts are used at this moment. The numbers are read one after the other. */
typedef struct weft_hart_use {
    /** sizeof(weft_hart_use), set by the caller */
    size_t size;
    /** harts that the process may use: min(CPU set, cgroup quota), at least 1 */
    size_t limit;
    /** tokens held now; idle streams hold none */
    size_t granted;
    /** how many of the granted tokens are beyond the limit */
    size_t oversubscribed;
    /** streams alive */
    size_t streams;
    /** harts that could be granted at once: free ones, and reclaimable ones, whose guest is outside
     * (guest.h). Since 0.6 */
    size_t available;
} weft_hart_use;

/** The number of harts that the process may use: CPUs in its affinity mask, or fewer when a cgroup
 * (v1 or v2, the process's own or an ancestor) has a CPU quota: floor(quota / period), at least 1.
 * The quota is read again at most once a second. The mask is that of the OS thread that makes the
 * first call in the process; while there is a runtime it is read again every second from a thread
 * of Weft that is bound to no CPU. So a change for the whole process takes effect while there is a
 * runtime (a cgroup's cpuset, taskset -a -p), and a thread that binds only itself changes nothing.
 * Works before weft_init. From any thread or unit; never switches. Since 0.1. */
WEFT_API size_t weft_hart_limit(void) WEFT_NOTHROW;

/** Reports a long wait: the caller has a hart, and has polled for something that another hart of
 * its library is to do for longer than usual, by some tens of microseconds. Where other processes
 * compute on the processors of this process, and such reports come again and again, some harts are
 * withheld for a while (WEFT_NEIGHBOURS). The call examines this at most once in 10 ms. From
 * anywhere but signal handlers; never switches. Since 0.6. */
WEFT_API void weft_hart_overdue(void) WEFT_NOTHROW;

/** Yields the hart. For a caller that has polled more than once, without success, for something
 * that another thread or unit is to do and that no call of Weft reports. weft_unit_yield yields to
 * units that are ready on the caller's hart; this call yields also to claimants that have no hart.
 * A guest lends its hart to domains that could use more, until one of these has nothing to do, or
 * also polls without success (or WEFT_SLICE_NS are over). A context of a domain yields a hart to a
 * guest or another domain that lacks one. True: the hart was yielded, and the caller has its turn
 * again. False: no claimant could use the hart, or the caller is neither a guest nor a context, and
 * nothing has happened. From anywhere but signal handlers and callbacks; switches. Since 0.6. */
WEFT_API bool weft_hart_make_way(void) WEFT_NOTHROW;

/** Reports that the caller is one of several: a parallel library runs the calling unit beside
 * others that compute, until weft_concurrent_end. For bridges, and other libraries that call code
 * of the program's in parallel: in contexts of theirs, and in threads of the program that have
 * called them. What such a unit is told of its share of the machine may then follow the load: in
 * Weft's OpenMP omp_get_max_threads() returns how many harts could be granted at the moment, and
 * regions without a num_threads clause follow that (doc/openmp.md). Calls nest.
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (no unit calls: see weft_guest_enter). From
 * any unit; never switches. Since 0.7. */
WEFT_API weft_status weft_concurrent_begin(void) WEFT_NOTHROW;

/** Ends what one weft_concurrent_begin of the calling unit has begun, as the unit's end does. A
 * guest's unit ends when the guest leaves.
 *
 * Returns WEFT_OK, WEFT_WRONG_STATE (nothing has begun), WEFT_WRONG_CONTEXT (no unit calls). From
 * any unit; never switches. Since 0.7. */
WEFT_API weft_status weft_concurrent_end(void) WEFT_NOTHROW;

/** Whether the caller is between weft_concurrent_begin and the weft_concurrent_end that belongs to
 * it. False where no unit calls. From anywhere but signal handlers; never switches. Since 0.7. */
WEFT_API bool weft_concurrent(void) WEFT_NOTHROW;

/** Sets how harts are shared from now on, whatever weft_settings.hart_policy was. Returns WEFT_OK,
 * WEFT_INVALID (there is no such policy), WEFT_NOT_INITIALIZED. From anywhere but signal handlers;
 * never switches. Since 0.6. */
WEFT_API weft_status weft_hart_policy_set(weft_hart_policy policy) WEFT_NOTHROW;

/** How the harts are used. Returns WEFT_OK, WEFT_INVALID or WEFT_NOT_INITIALIZED. From anywhere but
 * signal handlers; never switches. Since 0.1. */
WEFT_API weft_status weft_hart_use_get(weft_hart_use *use) WEFT_NOTHROW;

/** Where a hart lies in the machine. */
typedef struct weft_hart_place {
    size_t size;      /**< sizeof(weft_hart_place), set by the caller */
    unsigned cpu;     /**< the operating system's number of the hardware thread */
    unsigned core;    /**< logical index of the core it belongs to */
    unsigned package; /**< logical index of the package */
    unsigned numa;    /**< the operating system's number of the nearest NUMA node */
} weft_hart_place;

/** Where hart number `hart` lies; harts are numbered from 0 in the order of the CPUs in the
 * process's affinity mask. The first query of the topology loads hwloc (5 to 15 ms). Returns
 * WEFT_OK, WEFT_INVALID (no such hart), WEFT_UNSUPPORTED (hwloc is not installed), WEFT_NO_MEMORY.
 * Works before weft_init. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_hart_place_get(size_t hart, weft_hart_place *place) WEFT_NOTHROW;

/** The number of NUMA nodes that have CPUs of this process. Loads hwloc. Returns the statuses of
 * weft_hart_place_get. Works before weft_init. From any thread or unit; never switches. Since
 * 0.1. */
WEFT_API weft_status weft_numa_count_get(size_t *count) WEFT_NOTHROW;

WEFT_END

#endif
