// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the applications share, none of which uses abt.h: arguments, random numbers, loops with
// OpenMP and with pthreads, and the median of times.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace apps {

// ---- arguments ----------------------------------------------------------------------------------

[[noreturn]] inline void refuse(const std::string& what) {
    std::fprintf(stderr, "%s is not legal\n", what.c_str());
    std::exit(1);
}

inline void require(bool holds, const char* otherwise) {
    if (holds) return;
    std::fputs((std::string(otherwise) + "\n").c_str(), stderr);
    std::exit(1);
}

// Words --name=value. Reading a word removes it; refuse_others() refuses a word that is left.
class Arguments {
public:
    Arguments(int argc, char** argv) : words_(argv + 1, argv + argc) {}

    std::string text(const std::string& name, const std::string& otherwise) {
        const std::string start = "--" + name + "=";
        const auto found = std::find_if(words_.begin(), words_.end(),
                                        [&](const std::string& word) { return word.starts_with(start); });
        if (found == words_.end()) return otherwise;
        const std::string value = found->substr(start.size());
        words_.erase(found);
        return value;
    }

    std::size_t number(const std::string& name, std::size_t otherwise, std::size_t least = 1,
                       std::size_t most = INT32_MAX) {
        const std::string word = text(name, std::to_string(otherwise));
        std::size_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size() || value < least || value > most)
            refuse("--" + name + "=" + word);
        return value;
    }

    void refuse_others() const {
        if (!words_.empty()) refuse(words_.front());
    }

private:
    std::vector<std::string> words_;
};

// The versions that --run asks for.
class Versions {
public:
    static constexpr std::string_view all = "argobots,openmp,pthreads";

    explicit Versions(Arguments& arguments) : asked_(arguments.text("run", std::string(all)) + ",") {
        for (std::string_view rest = asked_; !rest.empty();) {
            const std::size_t end = rest.find(',');
            if (!contains(all, rest.substr(0, end))) refuse("--run=" + asked_);
            rest.remove_prefix(end + 1);
        }
    }

    [[nodiscard]] bool has(std::string_view name) const { return contains(asked_, name); }

private:
    static bool contains(std::string_view list, std::string_view name) {
        return !name.empty() &&
               ("," + std::string(list) + ",").find("," + std::string(name) + ",") != std::string::npos;
    }

    std::string asked_;
};

// ---- random numbers -----------------------------------------------------------------------------

// The finaliser of splitmix64 (Steele, Lea and Flood 2014).
constexpr std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

// Random numbers: equal on every machine, with a separate sequence for every seed.
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) : state_(mixed(seed)) {}

    constexpr std::uint64_t draw() { return mixed(state_ += 0x9e3779b97f4a7c15); }
    // At least 0 and less than 1.
    constexpr double uniform() { return static_cast<double>(draw() >> 11) * 0x1p-53; }
    constexpr std::size_t below(std::size_t end) {
        return static_cast<std::size_t>(uniform() * static_cast<double>(end));
    }

private:
    std::uint64_t state_;
};

// ---- OpenMP and pthreads ------------------------------------------------------------------------

template <class Body>
void openmp_for(std::size_t threads, std::size_t count, const Body& body) {
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(threads))
    for (std::size_t i = 0; i < count; ++i) body(i);
}

// The sum of body(i), modulo 2^64, so that the order does not matter.
template <class Body>
std::uint64_t openmp_sum(std::size_t threads, std::size_t count, const Body& body) {
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(threads)) reduction(+ : sum)
    for (std::size_t i = 0; i < count; ++i) sum += body(i);
    return sum;
}

// Runs body(rank) on `threads` pthreads, one of which is the calling thread.
template <class Body>
void on_pthreads(std::size_t threads, const Body& body) {
    struct Start {
        const Body* body;
        std::size_t rank;
        pthread_t thread;
    };
    std::vector<Start> starts;
    for (std::size_t rank = 0; rank < threads; ++rank) starts.push_back({&body, rank, {}});
    for (std::size_t rank = 1; rank < threads; ++rank) {
        const auto run = [](void* raw) -> void* {
            const auto& start = *static_cast<const Start*>(raw);
            (*start.body)(start.rank);
            return nullptr;
        };
        require(pthread_create(&starts[rank].thread, nullptr, run, &starts[rank]) == 0, "pthread_create has failed");
    }
    body(0);
    for (std::size_t rank = 1; rank < threads; ++rank) pthread_join(starts[rank].thread, nullptr);
}

// ---- time ---------------------------------------------------------------------------------------

class Stopwatch {
public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The median of the seconds that `rounds` calls of run() return.
template <class Run>
double median_seconds(std::size_t rounds, const Run& run) {
    std::vector<double> seconds;
    for (std::size_t round = 0; round < rounds; ++round) seconds.push_back(run());
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(rounds / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
}

}   // namespace apps
