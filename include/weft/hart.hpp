// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Harts in C++: how many hardware threads may be used, how they are used, and where they lie.
#pragma once

#include <weft/language.hpp>

#include <cstddef>

#include <weft/hart.h>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** How harts are shared when the claimants want more than there are; see weft_hart_policy. */
enum class hart_policy {
    fair = WEFT_HART_FAIR,            /**< each claimant gets equally many, as far as it wants them */
    weighted = WEFT_HART_WEIGHTED,    /**< in proportion to the claimants' weights */
    first_come = WEFT_HART_FIRST_COME /**< each claimant gets as many as it wants, in the order of arrival */
};

/** How the harts are used at this moment. */
struct hart_use {
    std::size_t limit;          /**< harts the process may use, at least 1 */
    std::size_t granted;        /**< tokens held now; idle streams hold none */
    std::size_t oversubscribed; /**< how many of them are beyond the limit */
    std::size_t streams;        /**< streams alive */
    std::size_t available;      /**< harts that could be granted immediately */
};

/** Where a hart lies in the machine. */
struct hart_place {
    unsigned cpu;     /**< the operating system's number of the hardware thread */
    unsigned core;    /**< logical index of the core it belongs to */
    unsigned package; /**< logical index of the package */
    unsigned numa;    /**< the operating system's number of the nearest NUMA node */
};

/** How many harts the process may use: CPUs of its affinity mask, or fewer by the quota of its
 * cgroups. Works without a runtime. */
inline std::size_t hart_limit() noexcept { return weft_hart_limit(); }

/** Reports that the caller has waited for another hart of its library for longer than usual; see
 * weft_hart_overdue. */
inline void hart_overdue() noexcept { weft_hart_overdue(); }

/** For a caller that has polled without success for something that another thread is to do: yields,
 * also to guests and domains that have no hart; see weft_hart_make_way. False: no other guest or
 * domain could use the hart, and nothing has happened. */
inline bool make_way() noexcept { return weft_hart_make_way(); }

/** Declares the calling unit one of several that a parallel library runs side by side, for the
 * lifetime of the object; see weft_concurrent_begin. The unit that has made it destroys it. */
class concurrent {
public:
    concurrent() { check(weft_concurrent_begin()); }
    ~concurrent() { static_cast<void>(weft_concurrent_end()); }
    concurrent(const concurrent&) = delete;
    concurrent& operator=(const concurrent&) = delete;

    /** Whether the caller is such a unit. */
    static bool here() noexcept { return weft_concurrent(); }
};

/** Sets how harts are shared from now on; see weft_hart_policy_set. */
inline void set_hart_policy(hart_policy policy) { check(weft_hart_policy_set(static_cast<weft_hart_policy>(policy))); }

/** How the harts are used. */
inline hart_use harts_in_use() {
    weft_hart_use use{};
    use.size = sizeof use;
    check(weft_hart_use_get(&use));
    return {use.limit, use.granted, use.oversubscribed, use.streams, use.available};
}

/** Where hart number `hart` lies. The first query about the topology loads hwloc. Works without a
 * runtime. */
inline hart_place place_of_hart(std::size_t hart) {
    weft_hart_place place{};
    place.size = sizeof place;
    check(weft_hart_place_get(hart, &place));
    return {place.cpu, place.core, place.package, place.numa};
}

/** The number of NUMA nodes that have CPUs of this process. Loads hwloc. Works without a
 * runtime. */
inline std::size_t numa_count() {
    std::size_t count = 0;
    check(weft_numa_count_get(&count));
    return count;
}

}   // namespace v0
}   // namespace weft
