// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line of text assembled in a signal handler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

// Appends to a text of fixed size; async-signal-safe, unlike snprintf.
class Line {
public:
    Line(char* text, std::size_t bytes) : at_(text), end_(text + bytes - 1) {}
    ~Line() { *at_ = '\0'; }

    Line& operator<<(const char* word) {
        while (*word != '\0' && at_ < end_) *at_++ = *word++;
        return *this;
    }
    Line& operator<<(std::uint64_t number) { return digits(number, 10); }
    Line& hexadecimal(std::uint64_t number) { return (*this << "0x").digits(number, 16); }

private:
    Line& digits(std::uint64_t number, unsigned base) {
        char text[21];
        char* first = text + 20;
        *first = '\0';
        do *--first = "0123456789abcdef"[number % base];
        while ((number /= base) != 0);
        return *this << first;
    }

    char* at_;
    char* end_;
};

}   // namespace weft
