#include "fatal.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft_openmp {

namespace {

// One write, so that lines of several threads stay whole.
void print(bool blank_before, const char* format, std::va_list arguments) {
    char line[1024];
    const std::size_t head = static_cast<std::size_t>(std::snprintf(line, sizeof line, "%slibgomp: ", blank_before ? "\n" : ""));
    std::vsnprintf(line + head, sizeof line - head - 1, format, arguments);
    std::strcat(line, "\n");
    std::fputs(line, stderr);
}

}  // namespace

void complain(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    print(false, format, arguments);
    va_end(arguments);
}

void fatal_error(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    print(true, format, arguments);   // as libgomp ends
    va_end(arguments);
    std::exit(EXIT_FAILURE);
}

void fatal(const char* what, weft_status status) { fatal_error("%s: %s (%s)", what, weft_error_text(), weft_status_name(status)); }

void fatal_no_thread(weft_status status) {
    if (status == WEFT_SYSTEM) fatal_error("Thread creation failed: %s", std::strerror(EAGAIN));
    fatal("Thread creation failed", status);
}

}  // namespace weft_openmp

// Called where an allocation of this library's fails (os/linux/late_cxx.cpp).
extern "C" [[gnu::visibility("hidden")]] void weft_no_memory(std::size_t bytes) { weft_openmp::fatal_error("Out of memory allocating %zu bytes", bytes); }
