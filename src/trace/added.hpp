// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters that libraries on Weft have added: they outlive every runtime.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace weft::trace {

struct Added {
    const char* name;
    std::uint64_t (*read)(void* argument);
    void* argument;
    const Added* next;   // the one added before
};

// The counter that was added last, which leads by `next` to all earlier ones; null: none. They are
// never removed.
const Added* added() noexcept;

// The counter of that name; null: none.
const Added* find_added(const char* name) noexcept;

enum class Addition { done, known, no_memory };

// known: there is already one of that name.
Addition add_counter(const char* name, std::uint64_t (*read)(void* argument), void* argument) noexcept;

}   // namespace weft::trace
