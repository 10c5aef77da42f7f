// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/cpuset.hpp"

#include <cstdio>
#include <cstdlib>

namespace weft::os {

std::size_t CpuSet::at(std::size_t index) const {
    for (std::size_t cpu = 0; cpu < limit; ++cpu) {
        if (bits_.test(cpu) && index-- == 0) return cpu;
    }
    return limit;
}

std::size_t CpuSet::write(char* buffer, std::size_t bytes) const {
    std::size_t length = 0;
    const auto put = [&](const char* mark, std::size_t number) {
        const std::size_t room = length < bytes ? bytes - length : 0;
        length +=
            static_cast<std::size_t>(std::snprintf(room != 0 ? buffer + length : nullptr, room, "%s%zu", mark, number));
    };
    if (bytes != 0) *buffer = '\0';
    for (std::size_t cpu = 0; cpu < limit; ++cpu) {
        if (!bits_.test(cpu)) continue;
        std::size_t last = cpu;
        while (last + 1 < limit && bits_.test(last + 1)) ++last;
        put(length == 0 ? "" : ",", cpu);
        if (last > cpu) put("-", last);
        cpu = last;
    }
    return length;
}

std::string CpuSet::text() const {
    std::string text(write(nullptr, 0), '\0');
    write(text.data(), text.size() + 1);   // the string has room for the zero
    return text;
}

bool CpuSet::parse(const char* text) {
    CpuSet read;
    const char* at = text;
    auto number = [&at](std::size_t& value) {
        if (*at < '0' || *at > '9') return false;
        char* end;
        const unsigned long parsed = std::strtoul(at, &end, 10);
        at = end;
        value = parsed;
        return parsed < limit;
    };
    do {
        std::size_t first, last;
        if (!number(first)) return false;
        last = first;
        if (*at == '-') {
            ++at;
            if (!number(last) || last < first) return false;
        }
        for (std::size_t cpu = first; cpu <= last; ++cpu) read.add(cpu);
    } while (*at++ == ',');
    if (at[-1] == '\n' ? *at != '\0' : at[-1] != '\0') return false;   // the kernel's files end in a newline
    *this = read;
    return true;
}

}   // namespace weft::os
