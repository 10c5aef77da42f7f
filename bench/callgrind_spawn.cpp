// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program that run.py --callgrind runs under valgrind, twice with different counts: the
// difference gives the instructions of one operation.
//   callgrind_spawn OPERATION COUNT
// The program prints how often it has done the operation. The OS thread that counts is the first,
// on which stream 0 runs.
#include <iterator>
#include <string_view>

#include "floor.hpp"
#include "weft_harness.hpp"

namespace {

weft_pool* pool = nullptr;

// Without options the unit is of the default kind.
void spawn_join_free_with(const weft_unit_options* options, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        weft_unit* unit = nullptr;
        bench::must(weft_ult_spawn(pool, bench::nothing, nullptr, options, &unit));
        bench::must(weft_unit_join_free(unit));
    }
}

void spawn_join_free(std::size_t count) { spawn_join_free_with(nullptr, count); }

void spawn_join_free_with_options(std::size_t count) {
    const weft_unit_options options = bench::options_of(WEFT_KIND_FULL);
    spawn_join_free_with(&options, count);
}

void tasklets(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        weft_unit* unit = nullptr;
        bench::must(weft_tasklet_spawn(pool, bench::nothing, nullptr, nullptr, &unit));
        bench::must(weft_unit_join_free(unit));
    }
}

void child_first(std::size_t count) {
    weft_unit_options options{};
    options.size = sizeof options;
    options.child_first = true;
    spawn_join_free_with(&options, count);
}

void in_bulk_of_256_with(const weft_unit_options* options, std::size_t count) {
    weft_unit* units[256];
    for (std::size_t i = 0; i < count; i += std::size(units)) {
        bench::must(weft_unit_spawn_many(pool, std::size(units), bench::nothing, nullptr, options, units));
        bench::must(weft_unit_join_free_many(units, std::size(units)));
    }
}

void in_bulk_of_256(std::size_t count) { in_bulk_of_256_with(nullptr, count); }

void tasklets_in_bulk_of_256(std::size_t count) {
    const weft_unit_options options = bench::options_of(WEFT_KIND_TASKLET);
    in_bulk_of_256_with(&options, count);
}

// Two ULTs that yield; each does half of the yields.
void yield(std::size_t count) {
    weft_unit* other = nullptr;
    auto half = [](void* times) {
        for (auto left = *static_cast<std::size_t*>(times) / 2; left > 0; --left) bench::must(weft_unit_yield());
    };
    bench::must(weft_ult_spawn(pool, half, &count, nullptr, &other));
    half(&count);
    bench::must(weft_unit_join_free(other));
}

void floor_one_by_one(std::size_t count) {
    bench::Floor floor;
    floor.reserve(1);
    for (std::size_t i = 0; i < count; ++i) {
        floor.join_and_free<bench::Where::on_a_stack>(floor.spawn(bench::nothing, nullptr));
    }
}

struct Operation {
    std::string_view name;
    weft_kind kind;   // of a ULT without options
    void (*run)(std::size_t count);
    weft_pool_kind pool = WEFT_POOL_PRIVATE;
};

constexpr Operation operations[] = {
    {"spawn_join.full", WEFT_KIND_FULL, spawn_join_free},
    {"spawn_join.full.options", WEFT_KIND_FULL, spawn_join_free_with_options},
    {"spawn_join.lsa", WEFT_KIND_LSA, spawn_join_free},
    {"spawn_join.roc", WEFT_KIND_ROC, spawn_join_free},
    {"spawn_join.ss", WEFT_KIND_SS, spawn_join_free},
    {"spawn_join.sc", WEFT_KIND_SC, spawn_join_free},
    {"spawn_join.auto", WEFT_KIND_AUTO, spawn_join_free},
    {"spawn_join.lsa.shared", WEFT_KIND_LSA, spawn_join_free, WEFT_POOL_SHARED},
    {"spawn_join.auto.shared", WEFT_KIND_AUTO, spawn_join_free, WEFT_POOL_SHARED},
    {"spawn_join.auto.deque", WEFT_KIND_AUTO, spawn_join_free, WEFT_POOL_DEQUE},
    {"bulk256.lsa.shared", WEFT_KIND_LSA, in_bulk_of_256, WEFT_POOL_SHARED},
    {"spawn_join.lsa.deque", WEFT_KIND_LSA, spawn_join_free, WEFT_POOL_DEQUE},
    {"child_first.lsa", WEFT_KIND_LSA, child_first},
    {"child_first.roc", WEFT_KIND_ROC, child_first},
    {"spawn_join.tasklet", WEFT_KIND_FULL, tasklets},
    {"bulk256.full", WEFT_KIND_FULL, in_bulk_of_256},
    {"bulk256.lsa", WEFT_KIND_LSA, in_bulk_of_256},
    {"bulk256.roc", WEFT_KIND_ROC, in_bulk_of_256},
    {"bulk256.ss", WEFT_KIND_SS, in_bulk_of_256},
    {"bulk256.sc", WEFT_KIND_SC, in_bulk_of_256},
    {"bulk256.auto", WEFT_KIND_AUTO, in_bulk_of_256},
    {"bulk256.tasklet", WEFT_KIND_FULL, tasklets_in_bulk_of_256},
    {"yield.full", WEFT_KIND_FULL, yield},
    {"floor", WEFT_KIND_FULL, floor_one_by_one},
};

}   // namespace

int main(int argc, char** argv) {
    const std::string name = argc == 3 ? argv[1] : "";
    for (const auto& operation : operations) {
        if (operation.name != name) continue;
        const std::size_t count = std::stoul(argv[2]);
        const bench::Runtime runtime(operation.pool, operation.kind);
        pool = runtime.pool();
        bench::on_ult(pool, [&] { operation.run(count); });
        std::printf("%zu\n", count);
        return 0;
    }
    std::fprintf(stderr, "usage: callgrind_spawn OPERATION COUNT; operations:");
    for (const auto& operation : operations) std::fprintf(stderr, " %s", operation.name.data());
    std::fprintf(stderr, "\n");
    return 1;
}
