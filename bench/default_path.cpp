// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime as it comes, weft::runtime{}: as many streams as harts, of which all but the caller's
// sleep. Spawn, join and free one by one and in bulk, and yield among two, compared with a runtime
// of one stream whose OS thread is pinned to a CPU; and the processor time of the process, for an
// operation (which other programs disturb least) and divided by the time that passes. A sample is
// of a window of 2 ms: a hundred times as long as an idle stream spins, and shorter than a time
// slice of the kernel.
//   default_path [--rounds=N] [--streams=N] [--pool=private|shared|deque]
// --streams, --pool: of the runtime that is measured, instead of what comes by default. Each round
// starts a process for each subject (--only=SUBJECT), in turn, so that a disturbance affects all
// alike. The names of samples end in ".from_main" where the primary unit does the operations, not
// another ULT.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include <weft/runtime.hpp>

#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

constexpr std::uint64_t window_ns = 2'000'000;
constexpr int in_a_row = 10;   // windows
constexpr std::size_t bulk = 256;

std::size_t one_by_one() {
    for (std::size_t i = 0; i < bulk; ++i) {
        weft_unit* unit = nullptr;
        bench::must(weft_ult_spawn(nullptr, bench::nothing, nullptr, nullptr, &unit));
        bench::must(weft_unit_join_free(unit));
    }
    return bulk;
}

std::size_t in_bulk() {
    weft_unit* units[bulk];
    bench::must(weft_unit_spawn_many(nullptr, bulk, bench::nothing, nullptr, nullptr, units));
    bench::must(weft_unit_join_free_many(units, bulk));
    return bulk;
}

class Windows {
public:
    Windows(const char* operation, std::string subject) : operation_(operation), subject_(std::move(subject)) {}

    // do_some() does operations and returns how many.
    template <class Do>
    void fill(Do do_some) const {
        do_some();   // its memory has been touched, its stacks exist
        for (int i = 0; i < in_a_row; ++i) {
            std::size_t operations = 0;
            const std::uint64_t used_before = bench::processor_ns(), begin = bench::now_ns();
            std::uint64_t passed;
            do {
                operations += do_some();
                passed = bench::now_ns() - begin;
            } while (passed < window_ns);
            const std::uint64_t used = bench::processor_ns() - used_before;
            const auto each = [&](std::uint64_t ns) {
                return static_cast<double>(ns) / static_cast<double>(operations);
            };
            bench::print_sample(name(""), each(passed));
            bench::print_sample(name(".processor_time"), each(used));
            bench::print_sample(name(".processors"), static_cast<double>(used) / static_cast<double>(passed), "");
        }
    }

private:
    std::string name(const char* what) const {
        return std::string("default_path/") + operation_ + what + ":" + subject_;
    }

    const char* operation_;
    std::string subject_;
};

// The caller and another ULT yield. An idle stream may take the other one, and each yields alone
// then: so the yields of both count.
void yield_among_two(const Windows& windows) {
    struct Other {
        std::atomic<bool> stop{false};
        std::atomic<std::size_t> yields{0};
        static void run(void* raw) {
            auto& self = *static_cast<Other*>(raw);
            // relaxed: a late look costs an extra yield; only this unit writes the number, and a
            // sum that is a few yields old is as good
            while (!self.stop.load(std::memory_order_relaxed)) {
                bench::must(weft_unit_yield());
                self.yields.store(self.yields.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            }
        }
    } other;
    weft_unit* unit = nullptr;
    bench::must(weft_ult_spawn(nullptr, Other::run, &other, nullptr, &unit));
    std::size_t others_before = 0;
    windows.fill([&] {
        for (std::size_t i = 0; i < bulk; ++i) bench::must(weft_unit_yield());
        const std::size_t others = other.yields.load(std::memory_order_relaxed);
        return bulk + others - std::exchange(others_before, others);
    });
    other.stop.store(true);
    bench::must(weft_unit_join_free(unit));
}

// The other streams sleep when an operation begins, and what wakes them is part of it.
void measure(const std::string& subject) {
    bench::await_sleep_of_others();
    Windows("one", subject).fill(one_by_one);
    bench::await_sleep_of_others();
    Windows("bulk256", subject).fill(in_bulk);
    bench::await_sleep_of_others();
    yield_among_two(Windows("yield", subject));
}

struct Subject {
    std::string name;
    std::size_t streams;
    weft::pool_kind pool;
    bool pinned;
};

weft::pool_kind pool_kind(const std::string& name) {
    return name.empty() ? weft::pool_kind::unspecified : static_cast<weft::pool_kind>(bench::pool_kind(name));
}

std::vector<Subject> subjects(std::size_t streams, const std::string& pool) {
    std::string measured = "weft.default";
    if (streams != 0 || !pool.empty())
        measured = "weft." + (streams == 0 ? "all" : std::to_string(streams)) + (pool.empty() ? "" : "." + pool);
    return {{"weft.pinned", 1, weft::pool_kind::unspecified, true},
            {"weft.pinned.deque", 1, weft::pool_kind::deque, true},
            {measured, streams, pool_kind(pool), false}};
}

void run(const Subject& subject) {
    if (subject.pinned) bench::pin(bench::usable_cpus().back());
    weft_pool* pool = nullptr;
    const weft::runtime runtime(weft::settings{.streams = subject.streams, .pool = subject.pool});
    bench::must(weft_stream_pool_get(weft_stream_self(), &pool));
    measure(subject.name + ".from_main");
    bench::on_ult(pool, [&] { measure(subject.name); });
}

void run_in_a_process(char** argv, const std::string& subject) {
    std::string only = "--only=" + subject;
    std::vector<char*> words;
    for (char** word = argv; *word != nullptr; ++word) words.push_back(*word);
    words.push_back(only.data());
    words.push_back(nullptr);
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, words.data(), environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        std::fprintf(stderr, "bench: the process for %s failed\n", subject.c_str());
        std::exit(1);
    }
}

}   // namespace

int main(int argc, char** argv) {
    std::vector<char*> given(argv, argv + argc);
    given.push_back(nullptr);
    const int rounds = std::stoi(bench::take_flag(argc, argv, "rounds", "21"));
    const std::size_t streams = std::stoul(bench::take_flag(argc, argv, "streams", "0"));
    const std::string pool = bench::take_flag(argc, argv, "pool", "");
    const std::string only = bench::take_flag(argc, argv, "only", "");
    bench::refuse_others(argc, argv);
    const std::vector<Subject> all = subjects(streams, pool);
    if (!only.empty()) {
        for (const Subject& subject : all) {
            if (subject.name == only) run(subject);
        }
        return 0;
    }
    for (int round = 0; round < rounds; ++round) {
        for (const Subject& subject : all) run_in_a_process(given.data(), subject.name);
    }
    return 0;
}
