// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions begun by Weft units: a region of two threads from a ULT, compared with one from the
// primary thread, on two streams; and how much more the first region of a unit costs than its
// third, when earlier units have left contexts behind. This is the only program here that uses
// Weft. Medians of rounds; each round measures the two in succession.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <weft/weft.h>

namespace {

constexpr int regions_of_round = 2'000, units = 4'000, warm = 100;

double ns_of_regions(int count) {
    const std::uint64_t begin_ns = weft_now_ns();
    for (int i = 0; i < count; ++i) {
#pragma omp parallel num_threads(2)
        __asm__ volatile("");
    }
    return static_cast<double>(weft_now_ns() - begin_ns) / count;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

template <class Body>
void in_unit(Body body) {
    weft_unit* unit = nullptr;
    if (weft_ult_spawn(
            nullptr, [](void* raw) { (*static_cast<Body*>(raw))(); }, &body, nullptr, &unit) != WEFT_OK ||
        weft_unit_join_free(unit) != WEFT_OK) {
        std::fprintf(stderr, "units: %s\n", weft_error_text());
        std::exit(1);
    }
}

}   // namespace

int main(int count, char** arguments) {
    const int rounds = count > 1 && std::strncmp(arguments[1], "--passes=", 9) == 0 ? std::atoi(arguments[1] + 9) : 41;
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 2;
    if (rounds < 1 || weft_init(&settings) != WEFT_OK)
        return std::fprintf(stderr, "units [--passes=N]; %s\n", weft_error_text()), 1;
    std::vector<double> primary, ult, ratio, first, third, more;
    ns_of_regions(regions_of_round);
    for (int round = 0; round < rounds; ++round) {
        primary.push_back(ns_of_regions(regions_of_round));
        in_unit([&] {
            ns_of_regions(10);
            ult.push_back(ns_of_regions(regions_of_round));
        });
        ratio.push_back(ult.back() / primary.back());
    }
    for (int i = 0; i < warm + units; ++i) {
        in_unit([&] {
            first.push_back(ns_of_regions(1));
            ns_of_regions(1);
            third.push_back(ns_of_regions(1));
        });
        more.push_back(first.back() - third.back());
    }
    std::printf(
        "{\"name\": \"units\", \"primary_ns\": %.0f, \"ult_ns\": %.0f, \"ratio\": %.3f, \"first_ns\": %.0f, "
        "\"third_ns\": %.0f, \"first_more_ns\": %.0f}\n",
        median(primary), median(ult), median(ratio), median({first.begin() + warm, first.end()}),
        median({third.begin() + warm, third.end()}), median({more.begin() + warm, more.end()}));
    return weft_finalize() == WEFT_OK ? 0 : 1;
}
