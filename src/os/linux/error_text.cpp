// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/error_text.hpp"

namespace weft::os {
namespace {

// Cold, and the library itself never reads it across a switch, so the compiler's own thread-local
// access is good enough here.
thread_local char text[error_text_bytes];

}   // namespace

[[gnu::noinline]] char* error_text() {
    asm volatile("");
    return text;
}

}   // namespace weft::os
