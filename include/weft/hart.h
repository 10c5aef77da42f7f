/* Harts: hardware threads that may be used now (the word is Lithe's: Pan, Hindman, Asanovic, PLDI
 * 2010, section 2). A hart is a token, lent and never owned. The process has as many as its CPU set
 * and the CPU quota of its cgroups allow. Streams, domains (domain.h) and guests (guest.h) share
 * them. */
#ifndef WEFT_HART_H
#define WEFT_HART_H

#include <stddef.h>

#include <stdbool.h>

#include <weft/status.h>

WEFT_BEGIN

/** How harts are shared among those who want them: the streams, which count as one, the domains
 * that no other domain lends to (domain.h), and guests. Whoever has more than his share while
 * others lack theirs is asked to give them back: domains learn it by weft_domain_wanted, streams
 * lend theirs between two units. */
typedef enum weft_hart_policy {
    WEFT_HART_FAIR = 0,      /**< as many to each, as far as they want them */
    WEFT_HART_WEIGHTED = 1,  /**< in proportion to their weights; see weft_domain_weight_set */
    WEFT_HART_FIRST_COME = 2 /**< as many as are wanted to whoever came first, and so on */
} weft_hart_policy;

/** How the harts are used at this moment. The numbers are read one after the other. */
typedef struct weft_hart_use {
    /** sizeof(weft_hart_use), set by the caller */
    size_t size;
    /** harts the process may use: min(CPU set, cgroup quota), at least 1 */
    size_t limit;
    /** tokens held now; idle streams hold none */
    size_t granted;
    /** how many of them are beyond the limit */
    size_t oversubscribed;
    /** streams alive */
    size_t streams;
    /** harts that could be granted at once: nobody holds them, or a guest has left them loose
     * (guest.h). Since 0.6 */
    size_t available;
} weft_hart_use;

/** The number of harts the process may use: CPUs in its affinity mask, or fewer when a cgroup (v1
 * or v2, the process's own or an ancestor) has a CPU quota: floor(quota / period), at least 1. The
 * quota is read anew at most once a second. The mask is that of the OS thread that asks first in
 * the process; while there is a runtime it is read anew every second from a thread of Weft's that
 * is bound to no CPU. So a change for the whole process is followed then (a cgroup's cpuset,
 * taskset -a -p), and a thread that binds itself alone changes nothing. Works before weft_init.
 * From any thread or unit; never switches. Since 0.1. */
WEFT_API size_t weft_hart_limit(void) WEFT_NOTHROW;

/** The caller has a hart, and has looked for what another hart of its library is to do for longer
 * than usual, by some tens of microseconds. Where other processes compute on the processors of this
 * one, and it comes to that again and again, some harts are withheld for a while (WEFT_NEIGHBOURS).
 * Looks at most once in 10 ms. From anywhere but signal handlers; never switches. Since 0.6. */
WEFT_API void weft_hart_overdue(void) WEFT_NOTHROW;

/** The caller has looked in vain, and more than once, for what somebody else is to do and no call
 * of Weft's tells of, and yields. weft_unit_yield goes to those who are ready on the caller's hart;
 * this, to those as well that have none: a guest lets domains have its hart that could use more,
 * until one of those has nothing to do, or also looks in vain (or WEFT_SLICE_NS are over); a
 * context of a domain lets a guest or another domain have one that lacks it. True: so it was, and
 * the caller has its turn again. False: nobody could use the hart, or the caller is neither, and
 * nothing has happened.
 * From anywhere but signal handlers and callbacks; switches. Since 0.6. */
WEFT_API bool weft_hart_make_way(void) WEFT_NOTHROW;

/** From now on harts are shared so, whatever weft_settings.hart_policy has said. Returns WEFT_OK,
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
 * process's affinity mask. The first question about topology loads hwloc (5 to 15 ms).
 * Returns WEFT_OK, WEFT_INVALID (no such hart), WEFT_UNSUPPORTED (hwloc is not installed),
 * WEFT_NO_MEMORY. Works before weft_init. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_hart_place_get(size_t hart, weft_hart_place *place) WEFT_NOTHROW;

/** The number of NUMA nodes that have CPUs of this process. Loads hwloc. Returns as
 * weft_hart_place_get. Works before weft_init. From any thread or unit; never switches. Since
 * 0.1. */
WEFT_API weft_status weft_numa_count_get(size_t *count) WEFT_NOTHROW;

WEFT_END

#endif
