// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam to the atomics. Production sees std::atomic; a model checker or the simulator puts
// another base/atomic.hpp, with the same names, before this one on the include path.
//
// Code behind the seam spells every order as std::memory_order_x. A weaker order than seq_cst names
// its partner. There are no stand-alone fences, since thread sanitizers do not see fences, except
// light_fence(), which orders nothing that a sanitizer would have to know.
#pragma once

#include <atomic>

namespace weft {

template <class T>
using atomic = std::atomic<T>;

// An atomic access to a plain field: for a place where one access races and something else orders
// all others.
using std::atomic_ref;

// A field that one side writes and another reads, ordered by something else. The model checker sees
// each access and reports races; here it is the plain type.
template <class T>
using plain = T;

// Between a store and a load of one thread: the half of a full fence that costs nothing, because
// the other thread calls os::process_barrier().
[[gnu::always_inline]] inline void light_fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}   // namespace weft
