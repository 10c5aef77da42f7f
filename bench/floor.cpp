// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The floor alone, and its components: an indirect call, the atomic operations, memory.
#include "raw_benchmarks.hpp"

namespace {

void indirect_call(benchmark::State& state) {
    void (*body)(void*) = bench::nothing;
    while (state.KeepRunning()) {
        benchmark::DoNotOptimize(body);
        body(nullptr);
    }
}

void call_on_a_stack(benchmark::State& state) {
    alignas(64) static char stack[16384];
    void (*body)(void*) = bench::nothing;
    while (state.KeepRunning()) {
        benchmark::DoNotOptimize(body);
        bench::call_on(stack + sizeof stack, body, nullptr);
    }
}

void read_modify_write(benchmark::State& state) {
    long word = 0;
    while (state.KeepRunning()) bench::read_modify_write(word);
}

template <std::memory_order order>
void store(benchmark::State& state) {
    std::atomic<long> word = 0;
    while (state.KeepRunning()) {
        word.store(1, order);
        benchmark::ClobberMemory();
    }
}

void malloc_and_free(benchmark::State& state) {
    while (state.KeepRunning()) {
        void* block = std::malloc(64);
        benchmark::DoNotOptimize(block);
        std::free(block);
    }
}

}   // namespace

int main(int argc, char** argv) {
    bench::pin(bench::usable_cpus().back());
    bench::add("primitive/indirect call", "raw", indirect_call);
    bench::add("primitive/call on another stack", "raw", call_on_a_stack);
    bench::add("primitive/atomic read-modify-write", "raw", read_modify_write);
    bench::add("primitive/release store", "raw", store<std::memory_order_release>);
    bench::add("primitive/sequentially consistent store", "raw", store<std::memory_order_seq_cst>);
    bench::add("primitive/malloc and free", "raw", malloc_and_free);
    bench::add_floors_one_by_one("spawn_join/one");
    for (std::size_t count : bench::bulk_sizes) {
        bench::add_floors_bulk("spawn_join/" + std::to_string(count), count);
    }
    return bench::run_registered(argc, argv);
}
