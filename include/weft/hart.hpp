// Harts in C++: how many hardware threads may be used, how they are, and where they lie.
#pragma once

#include <weft/language.hpp>

#include <cstddef>

#include <weft/hart.h>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** How harts are shared among those who want more than there are; see weft_hart_policy. */
enum class hart_policy {
    fair = WEFT_HART_FAIR,            /**< as many to each, as far as they want them */
    weighted = WEFT_HART_WEIGHTED,    /**< in proportion to their weights */
    first_come = WEFT_HART_FIRST_COME /**< as many as are wanted to whoever came first */
};

/** How the harts are used at this moment. */
struct hart_use {
    std::size_t limit;          /**< harts the process may use, at least 1 */
    std::size_t granted;        /**< tokens held now; idle streams hold none */
    std::size_t oversubscribed; /**< how many of them are beyond the limit */
    std::size_t streams;        /**< streams alive */
    std::size_t available;      /**< harts that could be granted at once */
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

/** The caller has waited for another hart of its library for longer than usual
 * (weft_hart_overdue). */
inline void hart_overdue() noexcept { weft_hart_overdue(); }

/** The caller has looked in vain for what somebody else is to do, and yields, to those that have no
 * hart, too (weft_hart_make_way). False: nobody could use the hart, and nothing has happened. */
inline bool make_way() noexcept { return weft_hart_make_way(); }

/** From now on harts are shared so; see weft_hart_policy_set. */
inline void set_hart_policy(hart_policy policy) { check(weft_hart_policy_set(static_cast<weft_hart_policy>(policy))); }

/** How the harts are used. */
inline hart_use harts_in_use() {
    weft_hart_use use{};
    use.size = sizeof use;
    check(weft_hart_use_get(&use));
    return {use.limit, use.granted, use.oversubscribed, use.streams, use.available};
}

/** Where hart number `hart` lies. The first question about topology loads hwloc. Works without a
 * runtime. */
inline hart_place place_of_hart(std::size_t hart) {
    weft_hart_place place{};
    place.size = sizeof place;
    check(weft_hart_place_get(hart, &place));
    return {place.cpu, place.core, place.package, place.numa};
}

/** How many NUMA nodes have CPUs of this process. Loads hwloc. Works without a runtime. */
inline std::size_t numa_count() {
    std::size_t count = 0;
    check(weft_numa_count_get(&count));
    return count;
}

}   // namespace v0
}   // namespace weft
