// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seams to affinity, and a set of CPUs.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::os {

// A set of the operating system's CPU numbers.
class CpuSet {
public:
    // above the largest NR_CPUS of the kernels in the supported distributions
    static constexpr std::size_t limit = 4096;

    void add(std::size_t cpu) { bits_.set(cpu); }
    bool has(std::size_t cpu) const { return cpu < limit && bits_.test(cpu); }
    std::size_t count() const { return bits_.count(); }
    bool empty() const { return bits_.none(); }
    bool within(const CpuSet& other) const { return (bits_ & ~other.bits_).none(); }
    bool operator==(const CpuSet&) const = default;

    // CPU number `index` of the set, counting from the lowest; limit when the set has fewer.
    std::size_t at(std::size_t index) const;

    // "0-3,8", as the kernel writes it. parse() is false when `text` is not such a list. write():
    // writes as much as there is room for, zero-terminated, without allocating; returns the length
    // of the whole text.
    std::size_t write(char* buffer, std::size_t bytes) const;
    std::string text() const;
    bool parse(const char* text);

    CpuSet operator&(const CpuSet& other) const {
        CpuSet both;
        both.bits_ = bits_ & other.bits_;
        return both;
    }

private:
    std::bitset<limit> bits_;
};

// Thread 0 is the calling one. False: the kernel refused.
bool affinity_get(std::uint32_t thread, CpuSet& cpus);
bool affinity_set(std::uint32_t thread, const CpuSet& cpus);

// For how long those CPUs have been idle, in total. False: the kernel does not say.
bool idle_time(const CpuSet& cpus, std::uint64_t& ns);

}   // namespace weft::os
