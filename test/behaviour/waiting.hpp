// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of waiting share: time, and OS threads beside units.
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

namespace weft_test {

inline constexpr std::uint64_t ms = 1'000'000;

// A deadline so far away that a test that reaches it has failed.
inline std::uint64_t never_in_this_test() { return weft_now_ns() + 60'000 * ms; }
inline std::uint64_t in_ms(std::uint64_t count) { return weft_now_ns() + count * ms; }

// How long a test waits for what may never happen. Less in simulation, whose steps are few.
inline std::uint64_t patience_ms = 5'000;

// Two streams, where a stream without work searches as long as possible.
inline constexpr std::uint64_t long_look_ns = 1'000 * ms;
inline weft_settings two_that_look_long() {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;
    settings.spin_ns = long_look_ns;
    return settings;
}

// The waiter in each round: a unit of the calling stream, or an OS thread that is no stream.
enum class As { unit, thread };

// Runs a body as a unit or as a thread; joined at the end.
class Doing {
public:
    Doing(As as, std::function<void()> body) : body_(std::move(body)) {
        if (as == As::thread) {
            thread_ = std::thread([this] {
                body_();
                done_ = true;
            });
        } else {
            EXPECT_EQ(weft_ult_spawn(
                          nullptr,
                          [](void* raw) {
                              auto* self = static_cast<Doing*>(raw);
                              self->body_();
                              self->done_ = true;
                          },
                          this, nullptr, &unit_),
                      WEFT_OK);
        }
    }
    ~Doing() { join(); }
    Doing(const Doing&) = delete;

    bool done() const { return done_; }
    void join() {
        if (unit_ != nullptr) {
            EXPECT_EQ(weft_unit_join_free(std::exchange(unit_, nullptr)), WEFT_OK);
        }
        if (!thread_.joinable()) return;
        while (!done_) {   // the thread may wait for units of this stream
            weft_unit_yield();
            std::this_thread::yield();
        }
        thread_.join();
    }
    weft_unit* unit() const { return unit_; }

private:
    std::function<void()> body_;
    weft_unit* unit_ = nullptr;
    std::thread thread_;
    atomic<bool> done_{false};
};

// Lets units of this stream, and OS threads, reach the point where they wait.
inline void let_others_wait() {
    for (int i = 0; i < 50; ++i) {
        weft_unit_yield();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

// Calls `call` once, from one of two units that take turns, soon after the deadline: a unit that
// waited until then is ready by that time, but has mostly not run yet, since it is behind them.
template <class Call>
void just_after(std::uint64_t deadline_ns, Call call) {
    bool called = false;
    auto look = [&] {
        while (!called) {
            if (weft_now_ns() >= deadline_ns) {
                called = true;
                call();
            } else {
                for (const std::uint64_t until_ns = weft_now_ns() + ms / 10; weft_now_ns() < until_ns;) {}
                weft_unit_yield();
            }
        }
    };
    Ult other(look);
    look();
    other.join();
}

// How many units wait for an object with that name.
inline std::size_t waiting_for(const char* what) {
    struct Count {
        const char* what;
        std::size_t found;
    } count{what, 0};
    weft_unit_each(
        [](const weft_unit_info* info, void* raw) {
            auto* to = static_cast<Count*>(raw);
            if (std::string_view(info->waits_for) == to->what) ++to->found;
        },
        &count);
    return count.found;
}

}   // namespace weft_test
