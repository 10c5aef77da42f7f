// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/added.hpp"

#include <cstring>

#include "os/memory.hpp"

namespace weft::trace {
namespace {

// A list without a lock, so that a fork finds it intact at any moment.
constinit atomic<const Added*> newest{nullptr};

}   // namespace

// acquire: pairs with the release in add_counter
const Added* added() noexcept { return newest.load(std::memory_order_acquire); }

const Added* find_added(const char* name) noexcept {
    for (const Added* one = added(); one != nullptr; one = one->next) {
        if (std::strcmp(one->name, name) == 0) return one;
    }
    return nullptr;
}

Addition add_counter(const char* name, std::uint64_t (*read)(void* argument), void* argument) noexcept {
    if (find_added(name) != nullptr) return Addition::known;
    auto* const made = os::make<Added>();
    if (made == nullptr) return Addition::no_memory;
    *made = {name, read, argument, added()};
    // release: pairs with the acquire in added(); acquire: the counters that others have added
    // meanwhile are checked.
    while (!newest.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_acquire)) {
        if (find_added(name) == nullptr) continue;
        os::destroy(made);
        return Addition::known;
    }
    return Addition::done;
}

}   // namespace weft::trace
