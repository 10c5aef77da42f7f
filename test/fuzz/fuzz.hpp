// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fuzzers share: reading an input piece by piece, and ending with a message when a
// property does not hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace weft_test {

// Ends the process if `holds` is false; libFuzzer reports that as a crash of this input.
inline void check(bool holds, const char* what, std::string_view shown = {}) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s: '%.*s'\n", what, static_cast<int>(shown.size()), shown.data());
    std::abort();
}

// An input that is consumed from the front; it yields zeros when it is empty.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

    bool empty() const { return at_ == end_; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    std::uint8_t byte() { return empty() ? 0 : *at_++; }
    std::uint32_t below(std::uint32_t limit) { return byte() % limit; }

    std::uint32_t word() {
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i) value = value << 8 | byte();
        return value;
    }

    // At most `size` bytes, as an input of their own.
    Input part(std::size_t size) {
        const std::uint8_t* from = at_;
        at_ += size < left() ? size : left();
        return {from, static_cast<std::size_t>(at_ - from)};
    }

    // The text before the next `mark`, which is consumed as well; everything if there is no mark.
    std::string text(char mark) {
        std::string read;
        while (!empty()) {
            const char one = static_cast<char>(byte());
            if (one == mark) break;
            read += one;
        }
        return read;
    }

    std::string rest() {
        std::string read(reinterpret_cast<const char*>(at_), left());
        at_ = end_;
        return read;
    }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

}   // namespace weft_test
