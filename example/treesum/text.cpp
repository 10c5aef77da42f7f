// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text.hpp"

#include <algorithm>
#include <cstdio>

namespace treesum {
namespace {

constexpr std::string_view escaped_characters = "\n\r\\";

std::string escaped(std::string_view name) {
    std::string text;
    text.reserve(name.size() + 8);
    for (const char c : name) {
        switch (c) {
        case '\n': text += "\\n"; break;
        case '\r': text += "\\r"; break;
        case '\\': text += "\\\\"; break;
        default: text += c;
        }
    }
    return text;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string name;
    name.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            name += text[i];
            continue;
        }
        if (++i == text.size()) return std::nullopt;
        switch (text[i]) {
        case 'n': name += '\n'; break;
        case 'r': name += '\r'; break;
        case '\\': name += '\\'; break;
        default: return std::nullopt;
        }
    }
    return name;
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<Digest> digest_of(std::string_view text) {
    Digest digest;
    if (text.size() != 2 * digest.size()) return std::nullopt;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        const int high = hex_value(text[2 * i]);
        const int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        digest[i] = static_cast<unsigned char>(high * 16 + low);
    }
    return digest;
}

std::optional<Expectation> expectation(std::string_view digest, std::string_view name, bool is_escaped) {
    const auto bytes = digest_of(digest);
    const auto plain = is_escaped ? unescaped(name) : std::string(name);
    if (!bytes || !plain || plain->empty()) return std::nullopt;
    return Expectation{*bytes, *plain};
}

// Reads "(NAME) = DIGEST", the text behind "SHA256 ". The name may contain parentheses: the last
// one ends it.
std::optional<Expectation> read_tagged(std::string_view rest, bool is_escaped) {
    const auto end = rest.rfind(')');
    if (rest.empty() || rest.front() != '(' || end == std::string_view::npos) return std::nullopt;
    const std::string_view name = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    const auto equals = rest.find_first_not_of(" \t");
    if (equals == std::string_view::npos || rest[equals] != '=') return std::nullopt;
    const auto digest = rest.find_first_not_of(" \t", equals + 1);
    if (digest == std::string_view::npos) return std::nullopt;
    return expectation(rest.substr(digest), name, is_escaped);
}

// Whether a shell never gives the character a meaning of its own.
bool is_plain(char c) {
    return static_cast<unsigned char>(c) >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || std::string_view("%+,-./@]_").find(c) != std::string_view::npos;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// The escape of a control character within $'...'.
std::string control_escape(char c) {
    constexpr std::string_view known = "\a\b\t\n\v\f\r";
    constexpr std::string_view letters = "abtnvfr";
    const auto place = known.find(c);
    if (place != std::string_view::npos) return std::string("\\") + letters[place];
    char octal[8];
    std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
    return octal;
}

// The name in single quotes, with characters that a terminal would act upon as $'\n'; in double
// quotes when a single quote is all that needs quoting.
std::string shell_quoted(std::string_view name) {
    const auto mild = [](char c) { return is_plain(c) || c == ' ' || c == '\'' || c == ':'; };
    if (name.find('\'') != std::string_view::npos && std::all_of(name.begin(), name.end(), mild)) {
        return '"' + std::string(name) + '"';
    }
    std::string text = "'";
    bool in_control = false;
    for (const char c : name) {
        if (is_control(c) != in_control) text += in_control ? "''" : "'$'";
        in_control = is_control(c);
        if (in_control) {
            text += control_escape(c);
        } else if (c == '\'') {
            text += "'\\''";
        } else {
            text += c;
        }
    }
    return text + "'";
}

}   // namespace

std::string checksum_line(const Digest& digest, std::string_view name) {
    static constexpr char digits[] = "0123456789abcdef";
    const bool escape = name.find_first_of(escaped_characters) != std::string_view::npos;
    std::string line;
    line.reserve(2 * digest.size() + name.size() + 12);
    if (escape) line += '\\';
    for (const unsigned char byte : digest) {
        line += digits[byte >> 4];
        line += digits[byte & 15];
    }
    line += "  ";
    if (escape) {
        line += escaped(name);
    } else {
        line += name;
    }
    line += '\n';
    return line;
}

std::string verdict_name(std::string_view name) {
    if (name.find('\n') == std::string_view::npos) return std::string(name);
    return '\\' + escaped(name);
}

std::string quoted(std::string_view name) {
    // '#' and '~' have a meaning for a shell at the beginning only, '{' and '}' only as a whole
    // word.
    const auto harmless = [](char c) { return is_plain(c) || c == '#' || c == '~' || c == '{' || c == '}'; };
    const bool asks = name.empty() || name == "{" || name == "}" || name.front() == '#' || name.front() == '~' ||
                      !std::all_of(name.begin(), name.end(), harmless);
    return asks ? shell_quoted(name) : std::string(name);
}

std::optional<Expectation> LineReader::read(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool is_escaped = line.starts_with('\\');
    if (is_escaped) line.remove_prefix(1);
    if (line.starts_with("SHA256 ")) return read_tagged(line.substr(7), is_escaped);

    constexpr std::size_t digits = 2 * std::tuple_size_v<Digest>;
    if (line.size() < digits + 2 || (line[digits] != ' ' && line[digits] != '\t')) return std::nullopt;
    const std::string_view digest = line.substr(0, digits);
    std::string_view name = line.substr(digits + 1);
    const bool marked = name.size() > 1 && (name.front() == ' ' || name.front() == '*');
    if (!digest_of(digest)) return std::nullopt;
    if (!marked && separator_ == Separator::two) return std::nullopt;
    if (separator_ == Separator::undecided) separator_ = marked ? Separator::two : Separator::one_blank;
    if (separator_ == Separator::two) name.remove_prefix(1);
    return expectation(digest, name, is_escaped);
}

}   // namespace treesum
