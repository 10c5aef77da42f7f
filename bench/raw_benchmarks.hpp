// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The baselines that several programs register together with their own benchmarks.
#pragma once

#include "floor.hpp"
#include "harness.hpp"

namespace bench {

// The number of operations between two checks whether the benchmark continues.
inline constexpr int batch = 64;

inline constexpr std::size_t bulk_sizes[] = {64, 256, 4096, 262144};

// Two stacks and a switch between them; one iteration is one switch, one way.
using Switch = void (*)(void** saved, void* next);

template <Switch change>
class PingPong {
public:
    void run(benchmark::State& state) {
        alignas(64) static char stack[16384];
        here_ = this;
        other_ = prepare_stack(stack + sizeof stack, [] {
            PingPong* self = here_;
            for (;;) change(&self->other_, self->main_);
        });
        while (state.KeepRunningBatch(64)) {
            for (int i = 0; i < 32; ++i) change(&main_, other_);
        }
    }

private:
    static inline PingPong* here_ = nullptr;
    void* main_ = nullptr;
    void* other_ = nullptr;
};

// A ring of 64 stacks, each of which switches to the next: the baseline then includes the cache
// lines that a round of units touches.
template <Switch change>
class Round {
public:
    static constexpr std::size_t count = 64;

    void run(benchmark::State& state) {
        static std::vector<char> memory(count * stack_bytes);
        here_ = this;
        at_ = 0;
        for (std::size_t i = 1; i < count; ++i) {
            auto top = reinterpret_cast<std::uintptr_t>(memory.data() + (i + 1) * stack_bytes) & ~std::uintptr_t{63};
            saved_[i] = prepare_stack(reinterpret_cast<char*>(top), [] {
                Round* self = here_;
                const std::size_t mine = ++self->at_;
                const std::size_t next = (mine + 1) % count;
                for (;;) change(&self->saved_[mine], self->saved_[next]);
            });
        }
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) change(&saved_[0], saved_[1]);
    }

private:
    static constexpr std::size_t stack_bytes = 16384 + 192;   // so that the stacks' tops fall into different cache sets
    static inline Round* here_ = nullptr;
    std::size_t at_ = 0;
    void* saved_[count] = {};
};

// The switch of six registers; the targets are multiples of it.
inline void add_raw_switch(const std::string& primitive) {
    add(primitive, "raw", [](benchmark::State& state) { PingPong<bench_switch>().run(state); });
    add(primitive + "/64", "raw", [](benchmark::State& state) { Round<bench_switch>().run(state); });
}

template <Where where>
void floor_one_by_one(benchmark::State& state) {
    Floor floor;
    floor.reserve(64);
    void (*body)(void*) = nothing;
    benchmark::DoNotOptimize(body);
    while (state.KeepRunningBatch(batch)) {
        for (int i = 0; i < batch; ++i) floor.join_and_free<where>(floor.spawn(body, nullptr));
    }
}

template <Where where>
void floor_bulk(benchmark::State& state, std::size_t count) {
    Floor floor;
    floor.reserve(count);
    std::vector<FloorUnit*> units(count);
    void (*body)(void*) = nothing;
    benchmark::DoNotOptimize(body);
    auto all = [&] {
        for (auto& unit : units) unit = floor.spawn(body, nullptr);
        for (auto* unit : units) floor.join_and_free<where>(unit);
    };
    all();   // first touch of the memory
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) all();
}

inline void add_floors_one_by_one(const std::string& primitive) {
    add(primitive, "floor.rtc", floor_one_by_one<Where::here>);
    add(primitive, "floor", floor_one_by_one<Where::on_a_stack>);
}

inline void add_floors_bulk(const std::string& primitive, std::size_t count) {
    add(primitive, "floor.rtc", floor_bulk<Where::here>, count);
    add(primitive, "floor", floor_bulk<Where::on_a_stack>, count);
}

}   // namespace bench
