// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's promise about the use of a pool (weft_pool_access). The check remembers which
// thread pushed first and which popped first. A second one, where there should be only one, ends
// the process with a message that names the promise and both threads. A release build checks
// nothing.
#pragma once

#include <cstddef>

#include "base/atomic.hpp"
#include "base/config.hpp"
#include "os/lock.hpp"
#include "weft/pool.h"

namespace weft::pool {

// Writes the caller's name, for such a message: "stream 2". Set by the layer that knows streams.
using Describe = void (*)(char* text, std::size_t bytes);
inline atomic<Describe> describe_caller{nullptr};

class AccessCheck {
public:
    [[gnu::always_inline]] void pushed(weft_pool_access access) {
        if constexpr (config::checked) {
            if (access != WEFT_POOL_ACCESS_DEFAULT && access != WEFT_POOL_ACCESS_MPMC) note(access, true);
        }
    }

    [[gnu::always_inline]] void popped(weft_pool_access access) {
        if constexpr (config::checked) {
            if (access != WEFT_POOL_ACCESS_DEFAULT && access != WEFT_POOL_ACCESS_MPMC) note(access, false);
        }
    }

    // The stream no longer draws from the pool: another may take its part.
    void left(const void* stream);

    // The state when the pool was made.
    void reset();

private:
    struct One {
        const void* who = nullptr;   // null: none yet
        char name[32] = {};
    };

    void note(weft_pool_access access, bool push);

    os::Lock lock_;
    One pusher_;
    One popper_;
};

}   // namespace weft::pool
