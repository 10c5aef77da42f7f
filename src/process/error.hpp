// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a call says why it failed: a status, and one sentence for the OS thread that called.
#pragma once

#include <cstddef>
#include <cstring>

#include "os/error_text.hpp"
#include "weft/status.h"

namespace weft {

// Stores the sentence for weft_error_text and returns `status`. A value that Weft has not written
// is shown with a precision ("%.100s"): a long one would cut off the remedy behind it.
[[gnu::cold, gnu::noinline, gnu::format(printf, 2, 3)]] weft_status fail(weft_status status, const char* format, ...);
[[gnu::cold, gnu::noinline]] inline weft_status not_admitted() {
    return fail(WEFT_NO_MEMORY, "the pool has no memory for what it keeps of another unit (weft_pool_ops.admit)");
}

[[gnu::cold]] inline weft_status is_null(const char* what) {
    return fail(WEFT_INVALID, "%s is null; it is required", what);
}

[[gnu::cold]] inline weft_status not_initialized() {
    return fail(WEFT_NOT_INITIALIZED, "the runtime does not run; call weft_init first");
}

// The feature was left out when the library was built: `option` is the CMake option.
inline weft_status built_without(const char* what, const char* option) {
    return fail(WEFT_UNSUPPORTED, "this library was built without %s; configure it with -D%s=ON", what, option);
}

// Like fail(), with a sentence that needs no formatting: for results that do not surprise the
// caller (a try that fails).
template <std::size_t bytes>
weft_status say(weft_status status, const char (&text)[bytes]) {
    static_assert(bytes <= os::error_text_bytes);
    std::memcpy(os::error_text(), text, bytes);
    return status;
}

}   // namespace weft
