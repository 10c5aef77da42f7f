// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the benchmarks of Weft itself, on top of program.hpp: starting and stopping the
// runtime, and a ULT to run in.
#pragma once

#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <weft/weft.h>

#include <functional>
#include <memory>
#include <utility>

#include "program.hpp"

namespace bench {

// A call that does not return WEFT_OK ends the benchmark, since its numbers would mean nothing.
[[gnu::always_inline]] inline void must(weft_status status) {
    if (status == WEFT_OK) [[likely]]
        return;
    std::fprintf(stderr, "bench: %s: %s\n", weft_status_name(status), weft_error_text());
    std::exit(1);
}

// The kind with this name in the settings.
inline weft_kind ult_kind(const std::string& name) {
    constexpr std::pair<const char*, weft_kind> kinds[] = {
        {"full", WEFT_KIND_FULL}, {"lsa", WEFT_KIND_LSA}, {"roc", WEFT_KIND_ROC},  {"ss", WEFT_KIND_SS},
        {"sc", WEFT_KIND_SC},     {"rtc", WEFT_KIND_RTC}, {"auto", WEFT_KIND_AUTO}};
    for (const auto& [word, kind] : kinds) {
        if (name == word) return kind;
    }
    std::fprintf(stderr, "bench: --kind=%s is not legal; legal are: full, lsa, roc, ss, sc, rtc, auto\n", name.c_str());
    std::exit(1);
}

inline weft_pool_kind pool_kind(const std::string& name) {
    if (name == "private") return WEFT_POOL_PRIVATE;
    if (name == "shared") return WEFT_POOL_SHARED;
    if (name == "deque") return WEFT_POOL_DEQUE;
    std::fprintf(stderr, "bench: --pool=%s is not legal; legal are: private, shared, deque\n", name.c_str());
    std::exit(1);
}

// A runtime that lives as long as this object. ULTs without options, as most are spawned, are of
// `kind`. It has one stream unless specified otherwise.
class Runtime {
public:
    Runtime(weft_pool_kind pool, weft_kind kind, std::size_t streams = 1) {
        weft_settings settings = {};
        settings.size = sizeof settings;
        settings.streams = streams;
        settings.pool = pool;
        settings.kind = kind;
        settings.idle_memory_bytes = std::size_t{1} << 36;   // rounds of many units shall reuse their memory
        must(weft_init(&settings));
        must(weft_stream_pool_get(weft_stream_self(), &pool_));
    }
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    ~Runtime() { must(weft_finalize()); }
    [[nodiscard]] weft_pool* pool() const { return pool_; }

private:
    weft_pool* pool_ = nullptr;
};

inline weft_unit_options options_of(weft_kind kind) {
    weft_unit_options options = {};
    options.size = sizeof options;
    options.kind = kind;
    return options;
}

// A ULT that runs f(), and is joined and freed when this object goes out of scope.
class Ult {
public:
    template <class F>
    Ult(weft_pool* pool, F f) : body_(std::make_unique<std::function<void()>>(std::move(f))) {
        const weft_unit_options options = options_of(WEFT_KIND_FULL);
        auto call = [](void* body) { (*static_cast<std::function<void()>*>(body))(); };
        must(weft_ult_spawn(pool, call, body_.get(), &options, &unit_));
    }
    Ult(Ult&& other) noexcept : body_(std::move(other.body_)), unit_(std::exchange(other.unit_, nullptr)) {}
    Ult(const Ult&) = delete;
    Ult& operator=(const Ult&) = delete;
    ~Ult() {
        if (unit_ != nullptr) must(weft_unit_join_free(unit_));
    }

private:
    std::unique_ptr<std::function<void()>> body_;
    weft_unit* unit_ = nullptr;
};

// Waits until all streams but the caller's sleep: a stream gives its hart back just before its
// carrier sleeps in the kernel, and the pause is far longer than that takes. The caller does not
// switch, so its own stream is awake.
inline void await_sleep_of_others() {
    const timespec pause{0, 5'000'000};
    weft_hart_use use = {};
    use.size = sizeof use;
    do {
        nanosleep(&pause, nullptr);
        must(weft_hart_use_get(&use));
    } while (use.granted > 1);
    nanosleep(&pause, nullptr);
}

// Runs f() on a ULT whose stack suffices for Google Benchmark's own calls, and waits for it: so the
// caller of the measured code is an ordinary unit, not the primary one.
template <class F>
void on_ult(weft_pool* pool, F f) {
    weft_unit_options options = options_of(WEFT_KIND_FULL);
    options.stack_bytes = 262144;
    weft_unit* unit = nullptr;
    must(weft_ult_spawn(
        pool, [](void* argument) { (*static_cast<F*>(argument))(); }, &f, &options, &unit));
    must(weft_unit_join_free(unit));
}

// With another OS thread, even one that sleeps, the library takes the paths of a process with
// several.
inline void start_thread_that_sleeps() {
    pthread_t thread;
    auto sleep = [](void*) -> void* {
        for (;;) pause();
    };
    if (pthread_create(&thread, nullptr, sleep, nullptr) != 0) std::abort();
}

}   // namespace bench
