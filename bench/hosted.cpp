// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of a switch between two units, one way, by kind: native, and hosted with the thread
// pointer set by an instruction and by a system call. Also the cost of beginning and joining a
// unit.
//     hosted [--rounds=N]     prints a line for each, in ns: minimum and median of the rounds,
//                             which alternate
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "arch/arch.hpp"
#include "weft/weft.h"

namespace {

void must(weft_status status) {
    if (status == WEFT_OK) return;
    std::fprintf(stderr, "%s: %s\n", weft_status_name(status), weft_error_text());
    std::exit(1);
}

double now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

constexpr int turns = 200'000, lives = 5'000;

struct Pair {
    weft_kind kind;
    double ns = 0;
};

// noipa: both units yield at one place in the code, as workers of one program do.
[[gnu::noipa]] void yield_often(int count) {
    for (int i = 0; i < count; ++i) weft_unit_yield();
}

// Two units yield to each other: no other unit is ready.
double of_a_switch(weft_kind kind) {
    Pair pair{kind};
    weft_unit_options how{};
    how.size = sizeof how;
    how.kind = kind;
    auto first = [](void* raw) {
        auto& of = *static_cast<Pair*>(raw);
        weft_unit_yield();   // both have started
        const double before = now_ns();
        yield_often(turns);
        of.ns = (now_ns() - before) / (2.0 * turns);
    };
    auto second = [](void*) { yield_often(turns + 1); };
    weft_unit* units[2];
    must(weft_ult_spawn(nullptr, first, &pair, &how, &units[0]));
    must(weft_ult_spawn(nullptr, second, nullptr, &how, &units[1]));
    must(weft_unit_join_free_many(units, 2));
    return pair.ns;
}

double of_a_life(weft_kind kind, bool fresh) {
    weft_unit_options how{};
    how.size = sizeof how;
    how.kind = kind;
    how.fresh = fresh;
    const int count = fresh ? lives / 10 : lives;
    const double before = now_ns();
    for (int i = 0; i < count; ++i) {
        weft_unit* unit;
        must(weft_ult_spawn(
            nullptr, [](void*) {}, nullptr, &how, &unit));
        must(weft_unit_join_free(unit));
    }
    return (now_ns() - before) / count;
}

double of_a_pthread() {
    const double before = now_ns();
    for (int i = 0; i < lives / 10; ++i) {
        pthread_t started;
        if (pthread_create(
                &started, nullptr, [](void* raw) { return raw; }, nullptr) != 0)
            std::exit(1);
        pthread_join(started, nullptr);
    }
    return (now_ns() - before) / (lives / 10);
}

struct Subject {
    const char* name;
    double (*measure)();
    std::vector<double> samples{};
};

double by_system_call() {
    const bool before = weft::arch::sets_thread_pointer_by_instruction.exchange(false);
    const double ns = of_a_switch(WEFT_KIND_HOSTED);
    weft::arch::sets_thread_pointer_by_instruction.store(before);
    return ns;
}

}   // namespace

int main(int argc, char** argv) {
    int rounds = 21;
    if (argc > 1 && std::strncmp(argv[1], "--rounds=", 9) == 0) rounds = std::max(1, std::atoi(argv[1] + 9));
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 1;
    settings.pool = WEFT_POOL_PRIVATE;
    must(weft_init(&settings));
    std::array subjects{Subject{"switch native", [] { return of_a_switch(WEFT_KIND_LSA); }},
                        Subject{"switch hosted", [] { return of_a_switch(WEFT_KIND_HOSTED); }},
                        Subject{"switch hosted, by a system call", by_system_call},
                        Subject{"begin and join, full", [] { return of_a_life(WEFT_KIND_FULL, false); }},
                        Subject{"begin and join, hosted", [] { return of_a_life(WEFT_KIND_HOSTED, false); }},
                        Subject{"begin and join, hosted and fresh", [] { return of_a_life(WEFT_KIND_HOSTED, true); }},
                        Subject{"begin and join, pthread", of_a_pthread}};
    for (int round = 0; round < rounds; ++round) {
        for (Subject& subject : subjects) subject.samples.push_back(subject.measure());
    }
    for (Subject& subject : subjects) {
        std::sort(subject.samples.begin(), subject.samples.end());
        const double least = subject.samples.front();
        std::printf("%-34s %10.1f %10.1f ns   %6.1f native switches\n", subject.name, least,
                    subject.samples[subject.samples.size() / 2], least / subjects[0].samples.front());
    }
    must(weft_finalize());
}
