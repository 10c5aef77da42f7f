// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one assertion. In checked builds (debug, asan, tsan) a broken invariant ends the process and
// prints the expression; in a release build it costs nothing and is not evaluated.
#pragma once

#include "base/config.hpp"

namespace weft {

// Prints "weft: <what> does not hold: <expression> (<file>:<line>)" and aborts.
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed(const char* expression, const char* file, int line);

// Prints "weft: <message>" and aborts: in every build, for errors that no status can report.
[[noreturn, gnu::cold, gnu::noinline, gnu::format(printf, 1, 2)]] void fatal(const char* format, ...);

// Sets a text that follows the message of either function; null, the initial value: none. The text
// must live as long as the process. Called before the runtime starts any thread, so no atomic is
// needed.
void fatal_epilogue_set(const char* text);

}   // namespace weft

// The only function-like macro of the core: it must name the expression.
#define WEFT_ASSERT(expression)                                            \
    do {                                                                   \
        if constexpr (::weft::config::checked) {                           \
            if (!(expression)) [[unlikely]]                                \
                ::weft::assertion_failed(#expression, __FILE__, __LINE__); \
        }                                                                  \
    } while (false)
