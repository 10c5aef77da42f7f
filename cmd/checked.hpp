// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values of WEFT_CHECKED: `weft run` acts on them, and `weft info` checks whether a value is
// legal.
#pragma once

#include <cstdlib>
#include <cstring>

namespace weft_command {

inline constexpr const char* checked_words = "1, on, 0, off";

inline bool checked_is_on() {
    const char* const text = std::getenv("WEFT_CHECKED");
    return text != nullptr && (std::strcmp(text, "1") == 0 || std::strcmp(text, "on") == 0);
}

// Whether the variable is unset or has one of these values.
inline bool checked_is_legal() {
    const char* const text = std::getenv("WEFT_CHECKED");
    return text == nullptr || *text == '\0' || checked_is_on() || std::strcmp(text, "0") == 0 ||
           std::strcmp(text, "off") == 0;
}

}   // namespace weft_command
