// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fault injector's place behind the seams: in checked builds a test may make a call fail as the
// kernel would. In release builds there is no check.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/config.hpp"

namespace weft::os {

enum class Seam : unsigned char {
    allocate,
    map,
    guard,
    protect,
    thread,
    futex_wait,
    watch,
    safe_read,
    thread_doing,
    process_barrier
};

// True: this call shall fail. Called from any thread; must not call Weft.
using FaultHook = bool (*)(Seam seam);

inline atomic<FaultHook> fault_hook{nullptr};

inline bool fault([[maybe_unused]] Seam seam) {
    if constexpr (config::checked) {
        // acquire: pairs with the test's store of the hook, whose data it reads.
        if (auto hook = fault_hook.load(std::memory_order_acquire)) [[unlikely]]
            return hook(seam);
    }
    return false;
}

// What a test wants the kernel to report about delays and idle processors (thread.hpp, cpuset.hpp);
// in checked builds only. Called from any thread; must not call Weft.
struct Load {
    std::uint64_t (*delay_ns)(std::uint32_t thread);
    std::uint64_t (*idle_ns)();
};
inline atomic<const Load*> load_hook{nullptr};

inline const Load* load_for_test() {
    // acquire: pairs with the test's store
    if constexpr (config::checked) return load_hook.load(std::memory_order_acquire);
    return nullptr;
}

}   // namespace weft::os
