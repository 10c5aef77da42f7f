// Counters that libraries on Weft have added: they outlive every runtime.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace weft::trace {

struct Added {
    const char* name;
    std::uint64_t (*read)(void* argument);
    void* argument;
    const Added* next;   // added before
};

// The last one that was added, and by `next` all before; null: none. They stay.
const Added* added() noexcept;

// The one of that name; null: none.
const Added* find_added(const char* name) noexcept;

enum class Addition { done, known, no_memory };

// known: there is one of that name.
Addition add_counter(const char* name, std::uint64_t (*read)(void* argument), void* argument) noexcept;

}   // namespace weft::trace
