// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/describers.hpp"

#include "base/atomic.hpp"
#include "os/memory.hpp"

namespace weft::trace {
namespace {

// A list without a lock, so that a fork finds it intact at any moment.
constinit atomic<const Describer*> newest{nullptr};

}   // namespace

// acquire: pairs with the release in add_describer.
const Describer* describers() noexcept { return newest.load(std::memory_order_acquire); }

bool add_describer(void (*describe)(const weft_description* of, void* argument), void* argument) noexcept {
    auto* const made = os::make<Describer>();
    if (made == nullptr) return false;
    *made = {describe, argument, describers()};
    // release: pairs with the acquire in describers(); acquire: those that others have added
    // meanwhile come after this one.
    while (!newest.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_acquire)) {}
    return true;
}

}   // namespace weft::trace
