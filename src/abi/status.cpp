// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/status.h"

#include "os/error_text.hpp"

extern "C" {

const char* weft_status_name(weft_status status) noexcept {
    switch (status) {
    case WEFT_OK: return "WEFT_OK";
    case WEFT_NO_MEMORY: return "WEFT_NO_MEMORY";
    case WEFT_INVALID: return "WEFT_INVALID";
    case WEFT_WRONG_KIND: return "WEFT_WRONG_KIND";
    case WEFT_WRONG_STATE: return "WEFT_WRONG_STATE";
    case WEFT_WRONG_CONTEXT: return "WEFT_WRONG_CONTEXT";
    case WEFT_NOT_INITIALIZED: return "WEFT_NOT_INITIALIZED";
    case WEFT_BUSY: return "WEFT_BUSY";
    case WEFT_UNSUPPORTED: return "WEFT_UNSUPPORTED";
    case WEFT_NOT_RETURNED: return "WEFT_NOT_RETURNED";
    case WEFT_ENVIRONMENT: return "WEFT_ENVIRONMENT";
    case WEFT_SYSTEM: return "WEFT_SYSTEM";
    case WEFT_TIMED_OUT: return "WEFT_TIMED_OUT";
    case WEFT_CLOSED: return "WEFT_CLOSED";
    }
    return "WEFT_?";
}

const char* weft_error_text(void) noexcept { return weft::os::error_text(); }

}   // extern "C"
