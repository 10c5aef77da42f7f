// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/hart.h"

#include <cstring>
#include <mutex>

#include "abi/convert.hpp"
#include "hart/quota.hpp"
#include "hart/topology.hpp"
#include "local/concurrent.hpp"
#include "share/guest.hpp"

using namespace weft;

namespace {

weft_status told(hart::Answer answer, std::size_t number) {
    switch (answer) {
    case hart::Answer::ok: return WEFT_OK;
    case hart::Answer::no_such: return fail(WEFT_INVALID, "there is no hart %zu", number);
    case hart::Answer::unsupported:
        return fail(WEFT_UNSUPPORTED, "the topology is known only with hwloc; install libhwloc15");
    case hart::Answer::no_memory: return fail(WEFT_NO_MEMORY, "no memory for the topology");
    }
    return WEFT_INVALID;
}

weft_status no_unit() {
    return fail(WEFT_WRONG_CONTEXT, "only a unit is one of several; an OS thread enters first (weft_guest_enter)");
}

}   // namespace

extern "C" {

size_t weft_hart_limit(void) noexcept { return hart::limit(); }

void weft_hart_overdue(void) noexcept {
    if (Process* const of = process_or_null()) wait_is_overdue(*of);
}

bool weft_hart_make_way(void) noexcept { return make_way(); }

weft_status weft_hart_use_get(weft_hart_use* use) noexcept {
    if (use == nullptr) return is_null("use");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    weft_hart_use now{};
    now.size = use->size;
    now.limit = hart::limit();
    now.granted = of->base.granted();
    now.available = of->base.available();
    now.oversubscribed = now.granted > now.limit ? now.granted - now.limit : 0;
    {
        std::lock_guard guard(of->lock);
        now.streams = of->stream_count;
    }
    std::memcpy(use, &now, use->size < sizeof now ? use->size : sizeof now);
    return WEFT_OK;
}

weft_status weft_concurrent_begin(void) noexcept {
    Unit* const self = running_or_null();
    if (self == nullptr) return no_unit();
    return begin_concurrent(*self, current_or_null()) ? WEFT_OK : fail(WEFT_NO_MEMORY, "no memory for a unit's values");
}

weft_status weft_concurrent_end(void) noexcept {
    Unit* const self = running_or_null();
    if (self == nullptr) return no_unit();
    return end_concurrent(*self, current_or_null())
               ? WEFT_OK
               : fail(WEFT_WRONG_STATE, "unit %llu has not called weft_concurrent_begin, or has ended that already",
                      static_cast<unsigned long long>(self->id));
}

bool weft_concurrent(void) noexcept {
    const Unit* const self = running_or_null();
    return self != nullptr && is_concurrent(*self);
}

weft_status weft_hart_policy_set(weft_hart_policy policy) noexcept {
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    const auto number = static_cast<unsigned>(policy);
    if (number > WEFT_HART_FIRST_COME) return fail(WEFT_INVALID, "there is no policy %u for harts", number);
    of->base.set_policy(static_cast<hart::Policy>(number));
    return WEFT_OK;
}

weft_status weft_hart_place_get(size_t hart, weft_hart_place* place) noexcept {
    if (place == nullptr) return is_null("place");
    hart::Position found;
    if (weft_status status = told(hart::place(hart, found), hart); status != WEFT_OK) return status;
    const weft_hart_place full{place->size, found.cpu, found.core, found.package, found.numa};
    std::memcpy(place, &full, place->size < sizeof full ? place->size : sizeof full);
    return WEFT_OK;
}

weft_status weft_numa_count_get(size_t* count) noexcept {
    if (count == nullptr) return is_null("count");
    return told(hart::numa_count(*count), 0);
}

}   // extern "C"
