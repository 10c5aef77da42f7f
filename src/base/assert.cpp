#include "base/assert.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace weft {

void assertion_failed(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "weft: this does not hold: %s (%s:%d)\n", expression, file, line);
    std::abort();
}

void fatal(const char* format, ...) {
    std::fputs("weft: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
    std::abort();
}

}  // namespace weft
