// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the stress, fault and race tests share: bounded waiting, seeds, counts that fit the build.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/config.hpp"
#include "base/random.hpp"
#include "test/behaviour/support.hpp"

namespace weft_test {

inline constexpr bool sanitized = weft::config::address_sanitizer || weft::config::thread_sanitizer;

// A count for release builds, a tenth of it for checked ones, a thirtieth under a sanitizer.
constexpr int scaled(int count) { return count / (sanitized ? 30 : weft::config::checked ? 10 : 1) + 1; }

// A test that would wait forever ends here: nothing after a lost wake-up can be trusted.
[[noreturn]] inline void give_up(const char* what) {
    std::fprintf(stderr, "did not happen: %s\n", what);
    weft_units_print(stderr);
    std::abort();
}

// Waits on the OS thread, without Weft.
template <class Condition>
void must_happen(const char* what, Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) give_up(what);
        std::this_thread::yield();
    }
}

// Ends the process when a test takes more than `seconds`, which is far more than it needs: a hang
// becomes a failure.
class Deadline {
public:
    explicit Deadline(unsigned seconds) : thread_([this, seconds] { watch(seconds); }) {}
    ~Deadline() {
        over_.store(true);
        thread_.join();
    }
    Deadline(const Deadline&) = delete;

private:
    void watch(unsigned seconds) const {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
        while (!over_.load()) {
            if (std::chrono::steady_clock::now() > end) give_up("the end of the test");
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    std::atomic<bool> over_{false};
    std::thread thread_;
};

// WEFT_SEED, or a seed that differs from run to run; printed, so that a failure can be repeated.
inline std::uint64_t first_seed() {
    const char* given = std::getenv("WEFT_SEED");
    const std::uint64_t seed =
        given != nullptr
            ? std::strtoull(given, nullptr, 10)
            : static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) % 1'000'000'007;
    std::printf("WEFT_SEED=%llu repeats this\n", static_cast<unsigned long long>(seed));
    return seed;
}

// Resident bytes of the process.
inline std::size_t resident_bytes() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    std::size_t total = 0, resident = 0;
    if (file == nullptr) return 0;
    if (std::fscanf(file, "%zu %zu", &total, &resident) != 2) resident = 0;
    std::fclose(file);
    return resident * 4096;
}

}   // namespace weft_test
