// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam to the atomics as the simulator sees it: the names of src/base/atomic.hpp on
// weft::sim::atomic, which pre-empts virtual harts and buffers their stores. It comes before that
// header on the include path.
#pragma once

#include <atomic>

#include "weft/sim.hpp"

namespace weft {

template <class T>
using atomic = sim::atomic<T>;

template <class T>
class atomic_ref {
    using on = sim::detail::operations<T>;
    using where = weft::location;
    using order = std::memory_order;
    static constexpr order seq_cst = std::memory_order_seq_cst;

public:
    explicit atomic_ref(T& word) : word_(&word) {}

    T load(order = seq_cst, const where& at = where::current()) const { return on::load(*word_, at); }
    void store(T value, order by = seq_cst, const where& at = where::current()) const {
        on::store(*word_, value, by, at);
    }
    T exchange(T value, order = seq_cst, const where& at = where::current()) const {
        return on::change(
            sim::detail::access::exchange, *word_, [value](T) { return value; }, at);
    }

private:
    T* word_;
};

template <class T>
using plain = T;

// The store buffer keeps what it has: os::process_barrier() empties it.
inline void light_fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}   // namespace weft
