// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work units: the handle is Weft's own.
#pragma once

#include <cstddef>

#include "common.hpp"

namespace weft::argobots {

// An attribute, as ABT_thread_attr_create makes it.
struct ThreadAttr {
    void* stack = nullptr;   // the program's; null: Weft allocates one
    std::size_t stack_bytes = 0;
    bool migratable = true;
    void (*on_migration)(ABT_thread thread, void* argument) = nullptr;
    void* on_migration_argument = nullptr;
    weft_kind kind = WEFT_KIND_DEFAULT;
};

inline ThreadAttr* to_attr(ABT_thread_attr attr) { return reinterpret_cast<ThreadAttr*>(attr); }

bool is_tasklet(const weft_unit* unit);
bool is_primary(const weft_unit* unit);
bool has_ended(const weft_unit* unit);

void reset_ids();

// The requested size of a ULT's stack; 0: a tasklet, or the primary ULT.
std::size_t stack_bytes_of(const weft_unit* unit);

// Waits for the end of a unit, like ABT_thread_join; returns ABT_SUCCESS, or the error that says
// why not.
int join_unit(weft_unit* unit);
// ABT_SUCCESS if the caller may wait for this unit, else the error that says why not.
int may_join(ABT_thread thread);

int revive_unit(ABT_pool pool, void (*body)(void*), void* argument, ABT_thread* thread, bool child_first);

}   // namespace weft::argobots
