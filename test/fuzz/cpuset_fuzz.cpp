// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU sets as the kernel writes them: an accepted text means what it says, and comes back from the
// set's own text; a refused text changes nothing.
#include "os/cpuset.hpp"

#include "test/fuzz/fuzz.hpp"

using namespace weft_test;
using weft::os::CpuSet;

namespace {

// The grammar by itself, plain and slow: numbers below the limit, ranges that do not descend,
// commas, one newline at the end.
bool plainly(std::string text, CpuSet& cpus) {
    if (!text.empty() && text.back() == '\n') text.pop_back();
    text += ',';
    std::size_t at = 0;
    auto number = [&](std::size_t& value) {
        const std::size_t begin = at;
        for (value = 0; text[at] >= '0' && text[at] <= '9'; ++at) {
            value = value * 10 + static_cast<std::size_t>(text[at] - '0');
            if (value >= CpuSet::limit) value = CpuSet::limit;   // it stays too large
        }
        return at > begin && value < CpuSet::limit;
    };
    while (at < text.size()) {
        std::size_t first, last;
        if (!number(first)) return false;
        last = first;
        if (text[at] == '-' && (++at, !number(last) || last < first)) return false;
        if (text[at++] != ',') return false;
        for (std::size_t cpu = first; cpu <= last; ++cpu) cpus.add(cpu);
    }
    return true;
}

void check_text(const std::string& text) {
    CpuSet before;
    before.add(7);
    CpuSet read = before, meant;
    if (!read.parse(text.c_str())) {
        check(!plainly(text, meant), "a list is refused", text);
        check(read == before, "a refused list changes nothing", text);
        return;
    }
    check(plainly(text, meant), "what is no list is refused", text);
    check(read == meant, "a list means what it says", text);
    const std::string written = read.text();
    CpuSet again;
    check(again.parse(written.c_str()) && again == read, "a text comes back as the set that it was made of", written);
    check(!read.empty() && read.has(read.at(0)) && read.at(read.count()) == CpuSet::limit, "the set counts its CPUs",
          written);
    check(read.within(read) && (read & before).within(before), "a part lies within the whole", written);
}

// A set of arbitrary bits: reading its text gives the set again.
void check_set(Input input) {
    CpuSet made;
    while (!input.empty()) {
        std::size_t cpu = (input.byte() << 8 | input.byte()) % CpuSet::limit;
        for (std::size_t length = input.byte() % 80; length > 0 && cpu < CpuSet::limit; --length, ++cpu) made.add(cpu);
    }
    const std::string written = made.text();
    CpuSet read;
    check(read.parse(written.c_str()) == !made.empty(), "a text is refused if and only if the set is empty", written);
    check(read == made, "a set comes back from its text", written);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    if (input.byte() == '#') {
        check_set(input);
    } else {
        const std::string text(reinterpret_cast<const char*>(data), size);
        check_text(text.c_str());   // up to the first null byte: the parser takes no length
    }
    return 0;
}
