// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user-defined pool, a vector, for tests whose allocations are refused. Only one exists at a
// time; its creator reserves room, so that a push never fails.
#pragma once

#include <cstdlib>
#include <vector>

#include <abt.h>

namespace abt_test::user_pool {

inline std::vector<ABT_unit> waiting;

inline ABT_unit create_unit(ABT_pool, ABT_thread thread) {
    auto* unit = static_cast<ABT_thread*>(std::malloc(sizeof(ABT_thread)));
    if (unit == nullptr) return ABT_UNIT_NULL;
    *unit = thread;
    return reinterpret_cast<ABT_unit>(unit);
}
inline void free_unit(ABT_pool, ABT_unit unit) { std::free(unit); }
inline ABT_bool is_empty(ABT_pool) { return waiting.empty() ? ABT_TRUE : ABT_FALSE; }
inline ABT_thread pop(ABT_pool, ABT_pool_context) {
    if (waiting.empty()) return ABT_THREAD_NULL;
    const ABT_unit unit = waiting.front();
    waiting.erase(waiting.begin());
    return *reinterpret_cast<ABT_thread*>(unit);
}
inline void push(ABT_pool, ABT_unit unit, ABT_pool_context) { waiting.push_back(unit); }

}   // namespace abt_test::user_pool
