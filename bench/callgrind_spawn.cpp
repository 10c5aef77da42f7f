// The program that run.py --callgrind runs under valgrind, twice with different counts: the difference is
// what one operation executes.
//   callgrind_spawn OPERATION COUNT
#include <iterator>
#include <string_view>

#include "floor.hpp"
#include "weft_harness.hpp"

namespace {

weft_pool* pool = nullptr;

template <weft_kind kind>
void spawn_join_free(std::size_t count) {
    const weft_unit_options options = bench::options_of(kind);
    for (std::size_t i = 0; i < count; ++i) {
        weft_unit* unit = nullptr;
        bench::must(kind == WEFT_KIND_TASKLET
                        ? weft_tasklet_spawn(pool, bench::nothing, nullptr, &options, &unit)
                        : weft_ult_spawn(pool, bench::nothing, nullptr, &options, &unit));
        bench::must(weft_unit_free(unit));
    }
}

template <weft_kind kind>
void in_bulk_of_256(std::size_t count) {
    const weft_unit_options options = bench::options_of(kind);
    weft_unit* units[256];
    for (std::size_t i = 0; i < count; i += std::size(units)) {
        bench::must(weft_unit_spawn_many(pool, std::size(units), bench::nothing, nullptr, &options, units));
        bench::must(weft_unit_free_many(units, std::size(units)));
    }
}

// Two ULTs that yield, half of the yields each.
void yield(std::size_t count) {
    weft_unit* other = nullptr;
    auto half = [](void* times) {
        for (auto left = *static_cast<std::size_t*>(times) / 2; left > 0; --left) bench::must(weft_unit_yield());
    };
    bench::must(weft_ult_spawn(pool, half, &count, nullptr, &other));
    half(&count);
    bench::must(weft_unit_free(other));
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
    void (*run)(std::size_t count);
};

constexpr Operation operations[] = {
    {"spawn_join.full", spawn_join_free<WEFT_KIND_FULL>},
    {"spawn_join.lsa", spawn_join_free<WEFT_KIND_LSA>},
    {"spawn_join.tasklet", spawn_join_free<WEFT_KIND_TASKLET>},
    {"bulk256.full", in_bulk_of_256<WEFT_KIND_FULL>},
    {"bulk256.lsa", in_bulk_of_256<WEFT_KIND_LSA>},
    {"bulk256.tasklet", in_bulk_of_256<WEFT_KIND_TASKLET>},
    {"yield.full", yield},
    {"floor", floor_one_by_one},
};

}  // namespace

int main(int argc, char** argv) {
    const std::string name = argc == 3 ? argv[1] : "";
    for (const auto& operation : operations) {
        if (operation.name != name) continue;
        const std::size_t count = std::stoul(argv[2]);
        const bench::Runtime runtime(WEFT_POOL_PRIVATE);
        pool = runtime.pool();
        bench::on_ult(pool, [&] { operation.run(count); });
        return 0;
    }
    std::fprintf(stderr, "usage: callgrind_spawn OPERATION COUNT; operations:");
    for (const auto& operation : operations) std::fprintf(stderr, " %s", operation.name.data());
    std::fprintf(stderr, "\n");
    return 1;
}
