// A place in the program: what std::source_location is, also for compilers that have none (clang
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

    /** Where this is called; as a default argument: where the function is called that has it. */
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
    /** The line, from 1 on; 0 for no place. */
    constexpr std::uint_least32_t line() const noexcept { return line_; }

private:
    const char* file_ = "";
    const char* function_ = "";
    std::uint_least32_t line_ = 0;
};

}   // namespace v0
}   // namespace weft
