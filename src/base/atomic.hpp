// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam to the atomics. Production sees std::atomic; a model checker or the simulator puts
// another base/atomic.hpp, with the same names, before this one on the include path.
//
// Code behind the seam spells every order as std::memory_order_x. A weaker order than seq_cst names
// its partner. There are no stand-alone fences: thread sanitizers do not see fences.
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

}   // namespace weft
