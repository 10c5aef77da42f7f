// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests with several streams share: streams that end with the test, and waiting for the
// actions of other threads.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/support.hpp"

namespace weft_test {

// Lets other units of the stream and other OS threads run until `condition` holds.
template <class Condition>
void until(Condition condition) {
    while (!condition()) {
        if (weft_stream_self() != nullptr) weft_unit_yield();
        std::this_thread::yield();
    }
}

inline void until_set(const atomic<bool>& flag) {
    until([&] { return flag.load(); });
}

inline weft_stream_options stream_options() {
    weft_stream_options made{};
    made.size = sizeof made;
    return made;
}

inline weft_pool* make_pool(weft_pool_kind kind) {
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_pool_create(kind, &pool), WEFT_OK) << weft_error_text();
    return pool;
}

inline weft_sched* make_sched(weft_sched_kind kind, std::vector<weft_pool*> pools) {
    weft_sched* sched = nullptr;
    EXPECT_EQ(weft_sched_create(kind, pools.data(), pools.size(), &sched), WEFT_OK) << weft_error_text();
    return sched;
}

inline std::size_t length(const weft_pool* pool) {
    std::size_t length = ~std::size_t{0};
    EXPECT_EQ(weft_pool_length_get(pool, &length), WEFT_OK);
    return length;
}

inline weft_unit* pop(weft_pool* pool) {
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_pool_pop(pool, &unit), WEFT_OK) << weft_error_text();
    return unit;
}

// A stream, freed at the end.
class Stream {
public:
    explicit Stream(const weft_stream_options* options = nullptr) {
        EXPECT_EQ(weft_stream_create(options, &stream_), WEFT_OK) << weft_error_text();
    }
    // A stream that draws from `pool`, or is run by `sched`.
    explicit Stream(weft_pool* pool, weft_sched* sched = nullptr) {
        auto chosen = stream_options();
        chosen.pool = pool;
        chosen.sched = sched;
        EXPECT_EQ(weft_stream_create(&chosen, &stream_), WEFT_OK) << weft_error_text();
    }
    ~Stream() {
        if (stream_ == nullptr) return;
        EXPECT_EQ(free(), WEFT_OK) << weft_error_text();
    }
    Stream(const Stream&) = delete;

    weft_status free() { return weft_stream_join_free(std::exchange(stream_, nullptr)); }
    weft_stream* handle() const { return stream_; }
    weft_pool* pool() const {
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_stream_pool_get(stream_, &pool), WEFT_OK);
        return pool;
    }
    std::size_t rank() const {
        std::size_t rank = ~std::size_t{0};
        EXPECT_EQ(weft_stream_rank_get(stream_, &rank), WEFT_OK);
        return rank;
    }
    std::string binding() const {
        char text[256] = "";
        EXPECT_EQ(weft_stream_binding_get(stream_, text, sizeof text), WEFT_OK) << weft_error_text();
        return text;
    }

private:
    weft_stream* stream_ = nullptr;
};

inline weft_hart_use hart_use() {
    weft_hart_use use{};
    use.size = sizeof use;
    EXPECT_EQ(weft_hart_use_get(&use), WEFT_OK);
    return use;
}

// Waits until all streams but the caller's have given their harts back: they sleep, or are
// suspended.
inline void until_others_rest() {
    until([] { return hart_use().granted == 1; });
}

// Where a suspended unit leaves its handle for its waker.
class Bed {
public:
    // Called in a ULT: sleeps until wake().
    void sleep() {
        weft_unit_suspend([](weft_unit* unit, void* bed) { static_cast<Bed*>(bed)->sleeper_.store(unit); }, this);
    }
    bool occupied() const { return sleeper_.load() != nullptr; }
    weft_status wake() { return weft_unit_resume(sleeper_.exchange(nullptr)); }

private:
    atomic<weft_unit*> sleeper_{nullptr};
};

// The `run` of a user-defined scheduler that owns its loop, over one pool.
inline void run_all(void*, weft_sched* sched) {
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_sched_pool_get(sched, 0, &pool), WEFT_OK);
    while (!weft_sched_check_stop(sched)) {
        weft_unit* unit = nullptr;
        weft_pool_pop(pool, &unit);
        if (unit != nullptr) {
            weft_sched_run_unit(sched, unit);
        } else {
            weft_sched_wait(sched);
        }
    }
}

}   // namespace weft_test
