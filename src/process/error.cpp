// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/error.hpp"

#include <cstdarg>
#include <cstdio>

#include "os/error_text.hpp"

namespace weft {

weft_status fail(weft_status status, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(os::error_text(), os::error_text_bytes, format, arguments);
    va_end(arguments);
    return status;
}

}   // namespace weft
