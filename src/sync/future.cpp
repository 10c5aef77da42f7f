// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/future.hpp"

#include <new>

#include "os/memory.hpp"

namespace weft::sync {

Future* Future::make(std::size_t compartments, Callback callback, void* argument) {
    static constexpr std::size_t most = (~std::size_t{0} / 2 - sizeof(Future)) / sizeof(void*);
    void* block = compartments > most ? nullptr : os::allocate(sizeof(Future) + compartments * sizeof(void*));
    if (block == nullptr) return nullptr;
    auto* made = new (block) Future(compartments, callback, argument);
    if (compartments == 0) made->complete();
    return made;
}

void Future::destroy(Future* future) {
    future->~Future();
    os::release(future);
}

void Future::complete() {
    if (callback_ != nullptr) callback_(values(), argument_);
    at<Event>(&event_).set(values());
}

bool Future::set(void* value) {
    check();
    // relaxed: it only says which compartment is whose; `filled_` carries the order.
    std::size_t mine = taken_.load(std::memory_order_relaxed);
    do {
        if (mine >= compartments_) return false;
        // relaxed: `filled_` carries the order
    } while (!taken_.compare_exchange_strong(mine, mine + 1, std::memory_order_relaxed, std::memory_order_relaxed));
    values()[mine] = value;
    // acq_rel: pairs with itself; the last call sees what all have put in.
    if (filled_.fetch_add(1, std::memory_order_acq_rel) + 1 == compartments_) complete();
    return true;
}

void Future::reset() {
    if (compartments_ == 0) return;   // it is always ready
    check();
    at<Event>(&event_).reset();
    filled_.store(0);
    taken_.store(0);
}

}   // namespace weft::sync
