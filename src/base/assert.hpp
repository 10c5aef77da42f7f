// The one assertion. In checked builds (debug, asan, tsan) a broken invariant ends the process with
// the words of the expression; in a release build it costs nothing and is not evaluated.
#pragma once

#include "base/config.hpp"

namespace weft {

// Prints "weft: <what> does not hold: <expression> (<file>:<line>)" and aborts.
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed(const char* expression, const char* file, int line);

// Prints "weft: <message>" and aborts: for what no status can carry, in every build.
[[noreturn, gnu::cold, gnu::noinline, gnu::format(printf, 1, 2)]] void fatal(const char* format, ...);

// A text that follows the message of either; null, as at first: none. It must live as long as the
// process. Called before the runtime starts any thread, which is why no atomic is needed.
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
