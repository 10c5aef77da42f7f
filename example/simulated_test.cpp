// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit test in the simulator: units on two streams use a bounded queue, which is made of
// weft::mutex and weft::condition_variable, in one interleaving after the other. The exit status is
// 0 when no run has failed, so CTest can run the program.
//
// Prints a line for each test. A failure is printed step by step, and ends in "replay:" and a text.
// `simulated_test NUMBER TEXT` runs exactly that run of test NUMBER again.
//
// Linked with weft::sim instead of weft::weft.
#include <weft/sim.hpp>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>

#include <weft/weft.hpp>

namespace {

// ---- what is tested -----------------------------------------------------------------------------

class bounded_queue {
public:
    explicit bounded_queue(std::size_t most) : most_(most) {}

    // Waits while the queue is full. False: the queue is closed.
    bool push(int value) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || values_.size() < most_; });
        if (closed_) return false;
        values_.push_back(value);
        changed_.notify_all();   // not notify_one(): units that push wait here, too
        return true;
    }
    // Waits while the queue is empty. Nothing: the queue is closed and empty.
    std::optional<int> pop() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !values_.empty(); });
        if (values_.empty()) return {};
        const int value = values_.front();
        values_.pop_front();
        changed_.notify_all();
        return value;
    }
    void close() {
        const std::lock_guard guard(mutex_);
        closed_ = true;
        changed_.notify_all();
    }

private:
    const std::size_t most_;
    weft::mutex mutex_;
    weft::condition_variable changed_;
    std::deque<int> values_;
    bool closed_ = false;
};

// ---- the tests: each is run many times, and each time in a process of its own -------------------

using weft::sim::check;

void values_arrive_once() {
    const weft::runtime runtime({.streams = 2});
    bounded_queue queue(1);
    const auto pop_two = [&queue] { return queue.pop().value_or(0) + queue.pop().value_or(0); };
    weft::join_handle<int> one = weft::spawn(pop_two), other = weft::spawn(pop_two);
    weft::thread producer([&queue] { check(queue.push(1) && queue.push(10), "an open queue takes values"); });
    check(queue.push(100) && queue.push(1000), "an open queue takes values");
    check(one.join() + other.join() == 1111, "each value is popped once");
}

void order_is_kept() {
    const weft::runtime runtime({.streams = 2});
    bounded_queue queue(2);
    weft::thread producer([&queue] {
        for (int i = 0; i < 4; ++i) queue.push(i);
        queue.close();
    });
    int expected = 0;
    while (const std::optional<int> value = queue.pop()) check(*value == expected++, "values stay in order");
    check(expected == 4, "no value is lost when the queue is closed");
}

void close_wakes_all() {
    const weft::runtime runtime({.streams = 2});
    bounded_queue full(1), empty(1);
    full.push(1);
    weft::thread pusher([&full] { check(!full.push(2), "a closed queue takes no value"); });
    const auto pop = [&empty] { check(!empty.pop(), "nothing comes from a closed, empty queue"); };
    weft::thread popper(pop), other(pop);
    full.close();
    empty.close();
}   // a unit that waits on makes the run fail: every hart waits

struct test {
    const char* name;
    void (*body)();
};
constexpr test tests[] = {
    {"values arrive once", values_arrive_once}, {"order is kept", order_is_kept}, {"close wakes all", close_wakes_all}};

bool passes(const test& of, const char* replay) {
    const weft::sim::result came = weft::sim::explore({.seeds = 100, .replay = replay}, of.body);
    std::printf("%s: %s\n%s", of.name, came.failed ? "FAILED" : "passed", came.report.c_str());
    return !came.failed;
}

}   // namespace

int main(int count, char** arguments) {
    if (count == 3) {
        const auto number = static_cast<std::size_t>(std::atoi(arguments[1]));
        return number < std::size(tests) && passes(tests[number], arguments[2]) ? 0 : 1;
    }
    bool all = true;
    for (const test& each : tests) all &= passes(each, nullptr);
    return all ? 0 : 1;
}
