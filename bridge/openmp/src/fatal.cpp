// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fatal.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace weft_openmp {

namespace {

constexpr char head[] = "\nlibgomp: ";   // with the line feed that libgomp has before each message
constexpr std::size_t head_length = sizeof head - 1;

// Memory for a text: within this object where that is enough, else from the heap. Null: there is
// none.
class Room {
public:
    explicit Room(std::size_t bytes)
        : memory_(bytes <= sizeof small_ ? small_ : static_cast<char*>(std::malloc(bytes))) {}
    ~Room() {
        if (memory_ != small_) std::free(memory_);
    }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    char* memory() { return memory_; }

private:
    char small_[512];
    char* memory_;
};

// In one write, so that lines of several threads stay whole; in several writes only where there is
// no memory for a long line.
void say(std::string_view what, std::string_view text) {
    const std::size_t length = head_length + what.size() + text.size() + 1;
    Room room(length);
    if (char* const line = room.memory()) {
        std::memcpy(line, head, head_length);
        what.copy(line + head_length, what.size());
        text.copy(line + head_length + what.size(), text.size());
        line[length - 1] = '\n';
        std::fwrite(line, 1, length, stderr);
        return;
    }
    for (const std::string_view part : {std::string_view(head, head_length), what, text, std::string_view("\n")}) {
        std::fwrite(part.data(), 1, part.size(), stderr);
    }
}

void print(const char* format, std::va_list arguments) {
    std::va_list once_more;
    va_copy(once_more, arguments);
    const int wanted = std::vsnprintf(nullptr, 0, format, arguments);
    const std::size_t length = wanted < 0 ? 0 : static_cast<std::size_t>(wanted);
    Room room(length + 1);
    if (char* const text = room.memory()) {
        std::vsnprintf(text, length + 1, format, once_more);
        say({}, {text, length});
    } else {
        say("Out of memory", {});
    }
    va_end(once_more);
}

}   // namespace

void complain(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

void complain_of(std::string_view what, std::string_view text) { say(what, text); }

void fatal_error(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    std::exit(EXIT_FAILURE);
}

void fatal(const char* what, weft_status status) {
    fatal_error("%s: %s (%s)", what, weft_error_text(), weft_status_name(status));
}

void fatal_no_thread(weft_status status) {
    if (status == WEFT_SYSTEM) fatal_error("Thread creation failed: %s", std::strerror(EAGAIN));
    fatal("Thread creation failed", status);
}

}   // namespace weft_openmp

// Called when an allocation of this library fails (os/linux/late_cxx.cpp).
extern "C" [[gnu::visibility("hidden")]] void weft_no_memory(std::size_t bytes) {
    weft_openmp::fatal_error("Out of memory allocating %zu bytes", bytes);
}
