// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sim/replay.hpp"

#include <cstdlib>

namespace weft::sim {
namespace {

bool number(const char*& at, std::uint64_t& value) {
    if (*at < '0' || *at > '9') return false;
    char* end;
    value = std::strtoull(at, &end, 10);
    at = end;
    return true;
}

bool parse_one(const char*& at, Deviation& made) {
    std::uint64_t value = 0;
    if (!number(at, value) || value > 0xffff || *at++ != '@') return false;
    made.hart = static_cast<std::uint16_t>(value);
    if (!number(at, made.step)) return false;
    if (*at == '=' || *at == ':') made.moment = *at++ == '=' ? Moment::block : Moment::pause;
    switch (*at++) {
    case '>': made.act = Act::go; break;
    case '!': made.act = Act::rouse; break;
    case '^': made.act = Act::jump; break;
    default: return false;
    }
    if (made.act != Act::jump) {
        if (!number(at, value) || value > 0xffff) return false;
        made.to = static_cast<std::uint16_t>(value);
    }
    if (*at == '~') {
        if (!number(++at, value) || value > 0xff || *at++ != '/') return false;
        made.keep = static_cast<std::uint8_t>(value);
        if (!number(at, value) || value > 0xff) return false;
        made.hold = static_cast<std::uint8_t>(value);
    }
    if (*at == '-') {
        if (!number(++at, value) || value > 0xffff) return false;
        made.out = static_cast<std::uint16_t>(value);
    }
    return true;
}

}   // namespace

std::string replay_text(const std::vector<Deviation>& deviations) {
    std::string text;
    for (const Deviation& one : deviations) {
        if (!text.empty()) text += ',';
        text += std::to_string(one.hart) + '@' + std::to_string(one.step);
        if (one.moment != Moment::point) text += one.moment == Moment::block ? '=' : ':';
        text += one.act == Act::go ? '>' : one.act == Act::rouse ? '!' : '^';
        if (one.act != Act::jump) text += std::to_string(one.to);
        if (one.hold != 0) text += '~' + std::to_string(one.keep) + '/' + std::to_string(one.hold);
        if (one.out != 0) text += '-' + std::to_string(one.out);
    }
    return text.empty() ? "plain" : text;
}

bool parse_replay(const char* text, std::vector<Deviation>& deviations, std::string& wrong) {
    deviations.clear();
    if (std::string(text) == "plain") return true;
    const char* at = text;
    do {
        const char* const begin = at;
        Deviation made;
        if (!parse_one(at, made) || (*at != ',' && *at != '\0')) {
            wrong = "'" + std::string(begin) +
                    "' is no deviation: one reads 0@57>2 (hart, '@', step, what), as reports print them";
            return false;
        }
        deviations.push_back(made);
    } while (*at++ == ',');
    return true;
}

}   // namespace weft::sim
