// Work units: the handle is Weft's own.
#pragma once

#include <cstddef>

#include "common.hpp"

namespace weft::argobots {

// What ABT_thread_attr_create makes.
struct ThreadAttr {
    void* stack = nullptr;   // of the program's; null: Weft's
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

// The stack that a ULT has, as it was asked for; 0: a tasklet, or the primary one.
std::size_t stack_bytes_of(const weft_unit* unit);

// Waits for the end of a unit, as ABT_thread_join; ABT_SUCCESS, or why not.
int join_unit(weft_unit* unit);
// Why nobody may wait for that unit here, or ABT_SUCCESS.
int may_join(ABT_thread thread);

int revive_unit(ABT_pool pool, void (*body)(void*), void* argument, ABT_thread* thread, bool child_first);

}   // namespace weft::argobots
