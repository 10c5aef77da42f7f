// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the programs of this folder: the kinds by name, the library's counters, fork and join,
// a lock that every kind may take, and the comparison of all kinds in one process.
#pragma once

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "samples.hpp"
#include "weft_harness.hpp"

namespace promotion {

struct Kind {
    const char* name;
    weft_kind value;
};

inline constexpr Kind all_kinds[] = {{"full", WEFT_KIND_FULL}, {"lsa", WEFT_KIND_LSA}, {"roc", WEFT_KIND_ROC},
                                     {"ss", WEFT_KIND_SS},     {"sc", WEFT_KIND_SC},   {"rtc", WEFT_KIND_RTC},
                                     {"auto", WEFT_KIND_AUTO}};

// A unit that cannot suspend cannot join: if kind RtC is requested, units with children are of kind
// LSA.
inline weft_kind kind_of_parents(weft_kind kind) { return kind == WEFT_KIND_RTC ? WEFT_KIND_LSA : kind; }

// ---- flags --------------------------------------------------------------------------------------

[[noreturn]] inline void refuse(const char* what, std::string_view value) {
    std::fprintf(stderr, "bench: %s%.*s is not legal\n", what, static_cast<int>(value.size()), value.data());
    std::exit(1);
}

inline std::size_t number(const char* name, std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        refuse((std::string("--") + name + "=").c_str(), text);
    return value;
}

inline std::size_t take_number(int& argc, char** argv, const char* name, std::size_t otherwise) {
    const std::string text = bench::take_flag(argc, argv, name, "");
    return text.empty() ? otherwise : number(name, text);
}

inline std::vector<std::string> words(const std::string& list) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        found.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return found;
}

// The settings that the applications have in common.
struct Settings {
    std::vector<Kind> kinds;
    std::size_t streams;
    std::size_t rounds;
    weft_pool_kind pool;
    bool json;   // samples for plot.py instead of a table

    Settings(int& argc, char** argv, std::size_t rounds_by_default)
        : streams(take_number(argc, argv, "streams", bench::usable_cpus().size())),
          rounds(take_number(argc, argv, "rounds", rounds_by_default)),
          pool(bench::pool_kind(bench::take_flag(argc, argv, "pool", "deque"))),
          json(take_number(argc, argv, "json", 0) != 0) {
        const std::string list = bench::take_flag(argc, argv, "kind", "all");
        if (list == "all") {
            kinds.assign(std::begin(all_kinds), std::end(all_kinds));
        } else {
            for (const std::string& name : words(list)) {
                const weft_kind value = bench::ult_kind(name);
                kinds.push_back(*std::find_if(std::begin(all_kinds), std::end(all_kinds),
                                              [=](Kind kind) { return kind.value == value; }));
            }
        }
    }
};

// ---- counters -----------------------------------------------------------------------------------

inline std::uint64_t counter(const char* name) {
    std::uint64_t value = 0;
    bench::must(weft_counter_read(name, &value));
    return value;
}

// The library's own counters since its start.
struct Counters {
    std::uint64_t created = counter("/units/count/created");
    std::uint64_t suspended = counter("/units/count/suspended");   // the number of suspensions
    std::uint64_t promoted = counter("/units/count/promoted");     // units of a light kind that suspended at least once
};

// The number of contended units: those that found a lock held, or a child that had not ended. Not
// all of them suspend: a waiter for a lock spins for a while first. Each unit reports once, at its
// end.
class Contended {
public:
    void add(bool contended) {
        if (contended) count_.fetch_add(1);
    }
    [[nodiscard]] std::uint64_t count() const { return count_.load(); }

private:
    alignas(64) std::atomic<std::uint64_t> count_ = 0;
};

// ---- fork, join, lock ---------------------------------------------------------------------------

// Runs body(arguments[i]) in units of `kind` and waits for all. Returns whether at least one had
// not ended before the wait.
inline bool fork_join(weft_kind kind, void (*body)(void*), const std::vector<void*>& arguments,
                      std::vector<weft_unit*>& units) {
    const weft_unit_options options = bench::options_of(kind);
    units.resize(arguments.size());
    bench::must(weft_unit_spawn_many(nullptr, arguments.size(), body, arguments.data(), &options, units.data()));
    const bool contended =
        std::any_of(units.begin(), units.end(), [](weft_unit* unit) { return weft_unit_try_join(unit) == WEFT_BUSY; });
    bench::must(weft_unit_join_free_many(units.data(), units.size()));
    return contended;
}

// A mutex in its own cache line. Kind RtC cannot wait for it, and spins.
class alignas(64) Lock {
public:
    // Returns whether another unit held the mutex.
    bool lock(weft_kind kind) {
        if (weft_mutex_try_lock(&mutex_) == WEFT_OK) return false;
        bench::must(kind == WEFT_KIND_RTC ? weft_mutex_spin_lock(&mutex_) : weft_mutex_lock(&mutex_));
        return true;
    }
    void unlock() { bench::must(weft_mutex_unlock(&mutex_)); }

private:
    weft_mutex mutex_ = WEFT_MUTEX_INIT;
};

// ---- the comparison -----------------------------------------------------------------------------

inline double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (values[high] - values[low]) * (place - static_cast<double>(low));
}

// One run of an application.
struct Run {
    double work;   // the work done, in `unit`s of the comparison
    double seconds;
    std::uint64_t contended;   // units that found a lock held or a child unfinished
};

inline double seconds_since(std::uint64_t start) { return static_cast<double>(bench::now_ns() - start) * 1e-9; }

// Runs run(kind) for every kind and prints the throughputs, and for a hundred units the numbers of
// contended units, of suspensions and of promoted units. The kinds are shuffled anew in each round;
// an extra round before the first is not counted. `sequential` does the work without units.
template <class F>
void compare(const Settings& settings, const std::string& name, const char* unit, const Run& sequential, F run) {
    struct Samples {
        std::vector<double> throughput, contended, suspended, promoted;
    };
    std::vector<Samples> samples(settings.kinds.size());
    std::vector<std::size_t> order(settings.kinds.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::mt19937 draw(1);
    for (std::size_t round = 0; round <= settings.rounds; ++round) {
        std::shuffle(order.begin(), order.end(), draw);
        for (const std::size_t which : order) {
            const Counters before;
            const Run done = run(settings.kinds[which].value);
            const Counters after;
            if (round == 0) continue;
            const double percent = 100.0 / static_cast<double>(after.created - before.created);
            samples[which].throughput.push_back(done.work / done.seconds);
            samples[which].contended.push_back(percent * static_cast<double>(done.contended));
            samples[which].suspended.push_back(percent * static_cast<double>(after.suspended - before.suspended));
            samples[which].promoted.push_back(percent * static_cast<double>(after.promoted - before.promoted));
        }
    }
    const double alone = sequential.work / sequential.seconds;
    if (settings.json) {
        bench::print_sample(name + ":sequential", alone, unit);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const std::string subject = name + ":weft." + settings.kinds[i].name;
            for (const double value : samples[i].throughput) bench::print_sample(subject, value, unit);
            for (const double value : samples[i].contended) bench::print_sample(subject + ".contended", value, "%");
            for (const double value : samples[i].suspended) bench::print_sample(subject + ".suspended", value, "%");
            for (const double value : samples[i].promoted) bench::print_sample(subject + ".promoted", value, "%");
        }
        return;
    }
    std::printf("%s, %zu streams, %s: median (lowest to highest); of 100 units: met somebody, suspensions, promoted\n",
                name.c_str(), settings.streams, unit);
    std::printf("  %-10s %11.4g\n", "sequential", alone);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const auto& [throughput, contended, suspended, promoted] = samples[i];
        std::printf("  %-10s %11.4g (%9.4g to %9.4g) %8.2f %8.2f %8.2f\n", settings.kinds[i].name,
                    quantile(throughput, 0.5), quantile(throughput, 0), quantile(throughput, 1),
                    quantile(contended, 0.5), quantile(suspended, 0.5), quantile(promoted, 0.5));
    }
}

// Ends an application whose result is wrong: its speed would mean nothing.
inline void require(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "bench: wrong result: %s\n", what);
    std::exit(1);
}

}   // namespace promotion
