// The fault injector's place behind the doors: in checked builds a test may let a call fail as the
// kernel would. In release builds nothing is asked.
#pragma once

#include "base/atomic.hpp"
#include "base/config.hpp"

namespace weft::os {

enum class Door : unsigned char { allocate, map, guard, protect, thread, futex_wait, watch, peek };

// True: this call shall fail. Called from any thread; must not call Weft.
using FaultHook = bool (*)(Door door);

inline atomic<FaultHook> fault_hook{nullptr};

inline bool fault([[maybe_unused]] Door door) {
    if constexpr (config::checked) {
        // acquire: pairs with the test's store of the hook, whose data it reads.
        if (auto hook = fault_hook.load(std::memory_order_acquire)) [[unlikely]] return hook(door);
    }
    return false;
}

}  // namespace weft::os
