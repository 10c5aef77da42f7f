// How a call says why it failed: a status, and one sentence for the OS thread that called.
#pragma once

#include "weft/status.h"

namespace weft {

// Keeps the sentence for weft_error_text and returns `status`.
[[gnu::cold, gnu::noinline, gnu::format(printf, 2, 3)]] weft_status fail(weft_status status, const char* format, ...);

}  // namespace weft
