// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/spmd.h"

#include <cstdint>

#include "abi/convert.hpp"
#include "forkjoin/spmd.hpp"
#include "share/guest.hpp"

using namespace weft;

extern "C" {

weft_status weft_spmd(size_t count, void (*fn)(void*), void* argument) noexcept {
    if (fn == nullptr) return is_null("fn");
    return as_guest([&] { return run_team(count, fn, argument); });
}

size_t weft_spmd_member(void) noexcept {
    std::size_t number = 0, count = 0;
    return team_place(number, count) ? number : SIZE_MAX;
}

size_t weft_spmd_size(void) noexcept {
    std::size_t number = 0, count = 0;
    return team_place(number, count) ? count : 0;
}

}   // extern "C"
