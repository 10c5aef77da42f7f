// The seam to the atomics. Production sees std::atomic; a model checker or the simulator puts
// another base/atomic.hpp in front of this one on the include path, with the same names.
//
// Code behind the seam spells every order as std::memory_order_x. A weaker order than seq_cst names
// its partner. There are no stand-alone fences: thread sanitizers do not see them.
#pragma once

#include <atomic>

namespace weft {

template <class T>
using atomic = std::atomic<T>;

// An atomic access to a plain field: where one place races and all others are ordered by something
// else.
using std::atomic_ref;

// A field that one side writes and another reads with an order given by something else. The model
// checker sees each access and reports those that race; here it is the plain type.
template <class T>
using plain = T;

}   // namespace weft
