// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Affinity formats: how a thread describes itself by them, on request and under
// OMP_DISPLAY_AFFINITY.
#include <pthread.h>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "export.hpp"
#include "fatal.hpp"
#include "icv.hpp"
#include "places.hpp"
#include "wait.hpp"

namespace weft_openmp {

namespace {

SpinLock setting;   // guards affinity-format-var, which any thread may set and read
// in the child of a fork, where the thread that may have held it is gone
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { setting.unlock(); });

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The fields of a format, one after the other (OpenMP 5.1, section 6.14): "%[[[0].]size]type". A
// format that libgomp refuses ends the process with libgomp's message.
class Fields {
public:
    explicit Fields(std::string_view format) : rest_(format) {}

    std::string shown() {
        std::string text;
        while (!rest_.empty()) {
            if (!accept('%')) text += take();
            else if (accept('%')) text += '%';
            else text += field();
        }
        return text;
    }

private:
    std::string field() {
        const bool zeros = accept('0');
        if (zeros && !at('.')) fatal_error("leading zero not followed by dot in affinity format");
        const bool right = accept('.');
        const std::size_t least = size();
        if (right && least == 0) fatal_error("leading zero or right justification in affinity format requires size");
        std::string value = accept('{') ? by_name() : by_letter();
        if (value.size() >= least) return value;
        const std::size_t missing = least - value.size();
        if (!right) value.append(missing, ' ');
        else if (zeros && is_number(value)) value.insert(value[0] == '-' ? 1 : 0, missing, '0');
        else value.insert(0, missing, ' ');
        return value;
    }

    // 0: the format gives none.
    std::size_t size() {
        constexpr std::size_t most = std::size_t{1} << 40;   // more than memory has room for
        std::size_t least = 0;
        while (!rest_.empty() && is_digit(rest_[0]) && (least != 0 || !at('0'))) {
            least = std::min(most, least * 10 + static_cast<std::size_t>(take() - '0'));
        }
        return least;
    }

    std::string by_name() {
        const std::size_t end = rest_.find('}');
        const std::string_view name = rest_.substr(0, end);
        const int length = static_cast<int>(name.size());
        if (end == std::string_view::npos) {
            fatal_error("unterminated long type name '%.*s' in affinity format", length, name.data());
        }
        const auto value = name.size() > 1 ? affinity_field(name) : std::nullopt;
        if (!value) fatal_error("unsupported long type name '%.*s' in affinity format", length, name.data());
        rest_.remove_prefix(end + 1);
        return *value;
    }

    std::string by_letter() {
        if (rest_.empty()) fatal_error("affinity format ends within a field");
        const auto value = affinity_field(rest_.substr(0, 1));
        if (!value) fatal_error("unsupported type %c in affinity format", rest_[0]);
        rest_.remove_prefix(1);
        return *value;
    }

    static bool is_number(std::string_view value) {
        if (value.size() > 1 && value[0] == '-') value.remove_prefix(1);
        return !value.empty() && std::all_of(value.begin(), value.end(), is_digit);
    }

    bool at(char wanted) const { return !rest_.empty() && rest_[0] == wanted; }
    bool accept(char wanted) { return at(wanted) && (take(), true); }
    char take() {
        const char first = rest_[0];
        rest_.remove_prefix(1);
        return first;
    }

    std::string_view rest_;
};

}   // namespace

std::string affinity_format() {
    const std::lock_guard guard(setting);
    return environment().affinity_format;
}

std::string affinity_of_this_thread(std::string_view format) {
    return format.empty() ? Fields(affinity_format()).shown() : Fields(format).shown();
}

}   // namespace weft_openmp

using namespace weft_openmp;   // NOLINT: entry points

namespace {

// A Fortran format has a length, and all its blanks count. A null character ends it, as in C.
std::string_view fortran(const char* text, std::size_t length) { return {text, strnlen(text, length)}; }
std::int32_t to_fortran(std::string_view text, char* buffer, std::size_t length) {
    const std::size_t copied = std::min(text.size(), length);
    std::memcpy(buffer, text.data(), copied);
    std::memset(buffer + copied, ' ', length - copied);
    return static_cast<std::int32_t>(text.size());
}
std::size_t to_c(std::string_view text, char* buffer, std::size_t bytes) {
    if (bytes != 0) {
        const std::size_t copied = std::min(text.size(), bytes - 1);
        std::memcpy(buffer, text.data(), copied);
        buffer[copied] = '\0';
    }
    return text.size();
}

void set(std::string_view format) {
    std::string text(format);
    const std::lock_guard guard(setting);
    environment().affinity_format.swap(text);
}

void display(std::string_view format) { std::fputs((affinity_of_this_thread(format) + "\n").c_str(), stderr); }
std::string_view from_c(const char* format) { return format == nullptr ? std::string_view() : format; }

}   // namespace

OPENMP_API void omp_set_affinity_format(const char* format) { set(format); }
OPENMP_API void omp_set_affinity_format_(const char* format, std::size_t length) { set(fortran(format, length)); }
OPENMP_API std::size_t omp_get_affinity_format(char* buffer, std::size_t bytes) {
    return to_c(affinity_format(), buffer, bytes);
}
OPENMP_API std::int32_t omp_get_affinity_format_(char* buffer, std::size_t length) {
    return to_fortran(affinity_format(), buffer, length);
}
OPENMP_API void omp_display_affinity(const char* format) { display(from_c(format)); }
OPENMP_API void omp_display_affinity_(const char* format, std::size_t length) { display(fortran(format, length)); }
OPENMP_API std::size_t omp_capture_affinity(char* buffer, std::size_t bytes, const char* format) {
    return to_c(affinity_of_this_thread(from_c(format)), buffer, bytes);
}
OPENMP_API std::int32_t omp_capture_affinity_(char* buffer, const char* format, std::size_t length,
                                              std::size_t format_length) {
    return to_fortran(affinity_of_this_thread(fortran(format, format_length)), buffer, length);
}
