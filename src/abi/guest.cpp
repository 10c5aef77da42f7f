#include "weft/guest.h"

#include "stream/guest.hpp"

using namespace weft;

extern "C" {

weft_status weft_guest_enter(void) noexcept { return enter_as_guest(); }

weft_status weft_guest_leave(void) noexcept { return leave_as_guest(); }

}  // extern "C"
