// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/assert.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace weft {
namespace {

const char* epilogue = nullptr;

[[noreturn]] void end() {
    if (epilogue != nullptr) std::fputs(epilogue, stderr);
    std::abort();
}

}   // namespace

void fatal_epilogue_set(const char* text) {
    if (epilogue != text) epilogue = text;
}

void assertion_failed(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "weft: this does not hold: %s (%s:%d)\n", expression, file, line);
    end();
}

void fatal(const char* format, ...) {
    std::fputs("weft: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
    end();
}

}   // namespace weft
