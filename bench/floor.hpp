// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The floor: the least that "create a unit, run it, join it, free it" can mean. A descriptor comes
// from a free list, is linked into a FIFO and popped; its body is called (on a cached stack, or on
// the current one); its end is published by a release store, and the descriptor is freed. There is
// one OS thread, no check, no state, and no thread to wake. The library's costs are given as
// multiples of this.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "raw.hpp"

namespace bench {

// No value may be kept in registers across this line, so that the floor's three operations stay
// separate.
[[gnu::always_inline]] inline void memory_barrier_for_the_compiler() { asm volatile("" ::: "memory"); }

// Where a body runs.
enum class Where : std::uint8_t {
    here,         // on the caller's stack: the limit for a tasklet (RtC)
    on_a_stack,   // on a cached stack, by call and return: the limit for a ULT that never suspends (RoC)
};

struct alignas(64) FloorUnit {
    FloorUnit* next;
    void (*body)(void*);
    void* argument;
    std::atomic<std::uint32_t> done;
};

class Floor {
public:
    static constexpr std::size_t stack_bytes = 16384;

    Floor() : slab_(nullptr), stack_(static_cast<char*>(std::aligned_alloc(64, stack_bytes))) {
        cached_stack_ = stack_ + stack_bytes - sizeof(void*) * 2;
        *static_cast<void**>(cached_stack_) = nullptr;
    }
    Floor(const Floor&) = delete;
    Floor& operator=(const Floor&) = delete;
    ~Floor() {
        std::free(stack_);
        std::free(slab_);
    }

    // Room for `count` units at a time; called once, before the clock runs.
    void reserve(std::size_t count) {
        slab_ = static_cast<FloorUnit*>(std::aligned_alloc(64, count * sizeof(FloorUnit)));
        for (std::size_t i = count; i-- > 0;) {
            slab_[i].next = free_;
            free_ = &slab_[i];
        }
    }

    [[gnu::always_inline]] FloorUnit* spawn(void (*body)(void*), void* argument) {
        FloorUnit* unit = free_;
        free_ = unit->next;
        unit->body = body;
        unit->argument = argument;
        // relaxed: only this OS thread sees the unit before it runs
        unit->done.store(0, std::memory_order_relaxed);
        unit->next = nullptr;
        *tail_ = unit;
        tail_ = &unit->next;
        memory_barrier_for_the_compiler();
        return unit;
    }

    template <Where where>
    [[gnu::always_inline]] void run_one() {
        FloorUnit* unit = head_;
        head_ = unit->next;
        if (head_ == nullptr) tail_ = &head_;
        if constexpr (where == Where::here) {
            unit->body(unit->argument);
        } else {
            void* stack = cached_stack_;
            cached_stack_ = *static_cast<void**>(stack);
            call_on(stack, unit->body, unit->argument);
            *static_cast<void**>(stack) = cached_stack_;
            cached_stack_ = stack;
        }
        // release: pairs with the acquire in join_and_free; without it the joiner may miss what the
        // body wrote
        unit->done.store(1, std::memory_order_release);
        memory_barrier_for_the_compiler();
    }

    template <Where where>
    [[gnu::always_inline]] void join_and_free(FloorUnit* unit) {
        while (unit->done.load(std::memory_order_acquire) == 0) run_one<where>();   // acquire: see run_one
        unit->next = free_;
        free_ = unit;
        memory_barrier_for_the_compiler();
    }

private:
    FloorUnit* free_ = nullptr;
    FloorUnit* head_ = nullptr;
    FloorUnit** tail_ = &head_;
    void* cached_stack_;   // the first word of a cached stack's top links to the next
    FloorUnit* slab_;
    char* stack_;
};

}   // namespace bench
