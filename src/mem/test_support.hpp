// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests of this layer share: the process's mappings as the kernel reports them, and calls
// that fail on demand.
#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/atomic.hpp"
#include "base/config.hpp"
#include "os/fault.hpp"

namespace weft::mem::test {

inline constexpr bool sanitized = config::address_sanitizer || config::thread_sanitizer;

struct Mappings {
    std::size_t count = 0;
    std::size_t bytes = 0;
    bool holds = false;   // whether the given address is mapped
};

inline Mappings mappings(const void* address = nullptr) {
    Mappings found;
    std::FILE* file = std::fopen("/proc/self/maps", "re");
    if (file == nullptr) return found;
    char line[1024];
    while (std::fgets(line, sizeof line, file) != nullptr) {
        std::uintptr_t first, last;
        if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &last) != 2) continue;
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        ++found.count;
        found.bytes += last - first;
        if (first <= at && at < last) found.holds = true;
    }
    std::fclose(file);
    return found;
}

inline std::size_t resident_pages() {
    std::size_t all = 0, resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%zu %zu", &all, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    return resident;
}

// During its lifetime calls through the seams fail: the k-th of all counted calls (`fail_kth`), or
// all calls of one seam.
class Faults {
public:
    Faults() {
        calls_.store(0);
        kth_.store(0);
        seams_.store(0);
        os::fault_hook.store(hook);
    }
    ~Faults() { os::fault_hook.store(nullptr); }
    Faults(const Faults&) = delete;

    void fail_kth(std::uint32_t k) {
        calls_.store(0);
        kth_.store(k);
    }
    void fail_all(os::Seam seam) { seams_.fetch_or(1u << static_cast<unsigned>(seam)); }
    bool reached() const { return kth_.load() != 0 && calls_.load() >= kth_.load(); }

private:
    static bool hook(os::Seam seam) {
        if (seams_.load() >> static_cast<unsigned>(seam) & 1) return true;
        return calls_.fetch_add(1) + 1 == kth_.load();
    }
    static inline atomic<std::uint32_t> calls_{0}, kth_{0}, seams_{0};
};

// The seed of a randomised test, printed so that a failure can be repeated: WEFT_TEST_SEED sets it.
inline std::uint64_t seed() {
    const char* given = std::getenv("WEFT_TEST_SEED");
    const auto now = static_cast<std::uint64_t>(std::time(nullptr));
    const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : now;
    std::printf("WEFT_TEST_SEED=%" PRIu64 "\n", seed);
    return seed;
}

}   // namespace weft::mem::test
