// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A place in the program's source, as std::source_location, for compilers that lack it, too (clang
// 14).
#pragma once

#include <weft/language.hpp>

#include <cstdint>

namespace weft {
inline namespace v0 {

/** A place in the program's source. Since 0.7. */
class location {
public:
    /** No place. */
    constexpr location() noexcept = default;

    /** The place of this call. As a default argument: the place where the function that has the
     * argument is called. */
    static constexpr location current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                                      std::uint_least32_t line = __builtin_LINE()) noexcept {
        location made;
        made.file_ = file;
        made.function_ = function;
        made.line_ = line;
        return made;
    }

    /** The file's name as the compiler was given it; "" for no place. */
    constexpr const char* file_name() const noexcept { return file_; }
    /** The function's name; "" for no place. */
    constexpr const char* function_name() const noexcept { return function_; }
    /** The line, counted from 1; 0 for no place. */
    constexpr std::uint_least32_t line() const noexcept { return line_; }

private:
    const char* file_ = "";
    const char* function_ = "";
    std::uint_least32_t line_ = 0;
};

}   // namespace v0
}   // namespace weft
