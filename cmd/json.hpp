// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strings of JSON.
#pragma once

#include <string_view>

namespace weft_command {

// Length of the UTF-8 sequence that the text begins with; 0: it begins with none, since a path may
// be any bytes.
inline std::size_t utf8_length(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xC2 && first < 0xE0 ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    if (length == 0 || length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
    }
    return length;
}

// `text` as a JSON string. A byte that is not UTF-8 becomes the replacement character.
template <class String>
String quoted(std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    String json = "\"";
    while (!text.empty()) {
        const auto byte = static_cast<unsigned char>(text[0]);
        const std::size_t length = utf8_length(text);
        if (length == 0) json += "\xEF\xBF\xBD";
        else if (byte < 0x20) json += {'\\', 'u', '0', '0', digits[byte / 16], digits[byte % 16]};
        else if (byte == '"' || byte == '\\') json += {'\\', text[0]};
        else json.append(text.substr(0, length));
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return json + "\"";
}

}   // namespace weft_command
