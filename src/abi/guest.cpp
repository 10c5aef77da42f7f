// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/guest.h"

#include "share/guest.hpp"

using namespace weft;

extern "C" {

weft_status weft_guest_enter(void) noexcept { return enter_as_guest(); }

weft_status weft_guest_leave(void) noexcept { return leave_as_guest(); }

void weft_guest_in_vain(void) noexcept { wait_in_vain(); }

weft_unit* weft_guest_here(void) noexcept {
    const Stream* const stream = current_or_null();
    return stream == nullptr || stream->role.guest == nullptr ? nullptr : to_handle(stream->role.guest->unit);
}

bool weft_guest_awaited(void) noexcept {
    const Stream* const stream = current_or_null();
    return stream != nullptr && claims_hart(*stream);
}

}   // extern "C"
