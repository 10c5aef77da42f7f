// What the program has promised of a pool's use (weft_pool_access): who pushed and who popped first
// is remembered, and a second one, where there should be one alone, ends the process with a message
// that names the promise and both. In a release build nothing is looked at.
#pragma once

#include <cstddef>

#include "base/atomic.hpp"
#include "base/config.hpp"
#include "os/lock.hpp"
#include "weft/pool.h"

namespace weft::pool {

// Writes who calls, for such a message: "stream 2". Set by the layer that knows streams.
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

    // The stream draws from the pool no more: another may be the one that does.
    void left(const void* stream);

    // As it was when the pool was made.
    void reset();

private:
    struct One {
        const void* who = nullptr;   // null: nobody yet
        char name[32] = {};
    };

    void note(weft_pool_access access, bool push);

    os::Lock lock_;
    One pusher_;
    One popper_;
};

}   // namespace weft::pool
