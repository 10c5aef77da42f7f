// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several values to come, and a function that is called when all have come (Argobots' future).
#pragma once

#include <cstddef>

#include "base/atomic.hpp"
#include "sync/objects.hpp"

namespace weft::sync {

class Future {
public:
    using Callback = void (*)(void** values, void* argument);

    // Null: no memory.
    static Future* make(std::size_t compartments, Callback callback, void* argument);
    static void destroy(Future* future);

    weft_event* event() { return &event_; }
    void** values() { return reinterpret_cast<void**>(this + 1); }   // behind the object, in the same block

    // False: all compartments are filled.
    bool set(void* value);
    void reset();

    // Each filled compartment has been taken. relaxed: a compartment is counted as taken before it
    // is filled.
    void check() const {
        if constexpr (config::checked) {
            // acquire: pairs with set(), which takes a compartment before it fills it
            const std::size_t filled = filled_.load(std::memory_order_acquire);
            const std::size_t taken = taken_.load(std::memory_order_relaxed);
            WEFT_ASSERT(filled <= taken && taken <= compartments_);
        }
    }

private:
    Future(std::size_t compartments, Callback callback, void* argument)
        : compartments_(compartments), callback_(callback), argument_(argument) {}
    void complete();

    const std::size_t compartments_;
    const Callback callback_;
    void* const argument_;
    atomic<std::size_t> taken_{0};   // compartments that are being filled or are filled
    atomic<std::size_t> filled_{0};
    weft_event event_ = WEFT_EVENT_INIT;
};

}   // namespace weft::sync
