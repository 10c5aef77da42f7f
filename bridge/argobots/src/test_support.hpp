// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers shared by the bridge's tests: a run of the library, and work units that are lambdas. They
// use only Argobots' interface.
#pragma once

#include <abt.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace abt_test {

// True if the tests run against another Argobots (make abt-differential), which need not pass where
// this library is better or differs on purpose.
inline bool elsewhere() { return std::getenv("ABT_DIFFERENTIAL") != nullptr; }

// Starts the library before each test and ends it afterwards.
class Argobots : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(ABT_init(0, nullptr), ABT_SUCCESS); }
    void TearDown() override { EXPECT_EQ(ABT_finalize(), ABT_SUCCESS); }
};

// Starts and ends the library, for a test that does something before or after.
struct Library {
    Library() { EXPECT_EQ(ABT_init(0, nullptr), ABT_SUCCESS); }
    ~Library() { EXPECT_EQ(ABT_finalize(), ABT_SUCCESS); }
    Library(const Library&) = delete;
};

// Sets an environment variable for ABT_init to find.
class Variable {
public:
    // A null value: unset.
    Variable(const char* name, const char* value) : name_(name), was_set_(std::getenv(name) != nullptr) {
        if (was_set_) before_ = std::getenv(name);
        set(value);
    }
    Variable(const char* name, const std::string& value) : Variable(name, value.c_str()) {}
    ~Variable() { set(was_set_ ? before_.c_str() : nullptr); }
    Variable(const Variable&) = delete;

private:
    void set(const char* value) { value == nullptr ? unsetenv(name_) : setenv(name_, value, 1); }

    const char* name_;
    std::string before_;
    bool was_set_;
};

inline ABT_pool pool_of(ABT_xstream xstream) {
    ABT_pool pool = ABT_POOL_NULL;
    EXPECT_EQ(ABT_xstream_get_main_pools(xstream, 1, &pool), ABT_SUCCESS);
    return pool;
}

inline ABT_xstream own_xstream() {
    ABT_xstream self = ABT_XSTREAM_NULL;
    EXPECT_EQ(ABT_xstream_self(&self), ABT_SUCCESS);
    return self;
}
inline ABT_pool own_pool() { return pool_of(own_xstream()); }

// One work unit, and its end.
inline ABT_thread create(void (*body)(void*), void* argument = nullptr, ABT_pool pool = own_pool()) {
    ABT_thread thread = ABT_THREAD_NULL;
    EXPECT_EQ(ABT_thread_create(pool, body, argument, ABT_THREAD_ATTR_NULL, &thread), ABT_SUCCESS);
    return thread;
}
inline void release(ABT_thread thread) { EXPECT_EQ(ABT_thread_free(&thread), ABT_SUCCESS); }

// Secondary execution streams.
class Streams {
public:
    explicit Streams(int count) : streams_(static_cast<std::size_t>(count), ABT_XSTREAM_NULL) {
        for (ABT_xstream& stream : streams_) EXPECT_EQ(ABT_xstream_create(ABT_SCHED_NULL, &stream), ABT_SUCCESS);
    }
    ~Streams() {
        for (ABT_xstream& stream : streams_) EXPECT_EQ(ABT_xstream_free(&stream), ABT_SUCCESS);
    }
    Streams(const Streams&) = delete;

    ABT_xstream operator[](std::size_t i) const { return streams_[i % streams_.size()]; }
    ABT_pool pool(std::size_t i) const { return pool_of((*this)[i]); }

private:
    std::vector<ABT_xstream> streams_;
};

// Work units that are joined and freed at the end, or earlier by join().
class Units {
public:
    using Body = std::function<void()>;

    Units() = default;
    Units(const Units&) = delete;
    ~Units() { join(); }

    void ult(ABT_pool pool, Body body) {
        ABT_thread unit = ABT_THREAD_NULL;
        EXPECT_EQ(ABT_thread_create(pool, call, keep(std::move(body)), ABT_THREAD_ATTR_NULL, &unit), ABT_SUCCESS);
        units_.push_back(unit);
    }
    void tasklet(ABT_pool pool, Body body) {
        ABT_task unit = ABT_TASK_NULL;
        EXPECT_EQ(ABT_task_create(pool, call, keep(std::move(body)), &unit), ABT_SUCCESS);
        units_.push_back(unit);
    }
    void join() {
        for (ABT_thread& unit : units_) EXPECT_EQ(ABT_thread_free(&unit), ABT_SUCCESS);
        units_.clear();
    }

private:
    static void call(void* body) { (*static_cast<Body*>(body))(); }
    Body* keep(Body&& body) { return &bodies_.emplace_back(std::move(body)); }

    std::list<Body> bodies_;
    std::vector<ABT_thread> units_;
};

// The call's result in a tasklet.
template <class Call>
int in_tasklet(Call&& call) {
    int result = -1;
    Units units;
    units.tasklet(own_pool(), [&] { result = call(); });
    units.join();
    return result;
}

// The real-time clock's value so many seconds from now.
inline timespec from_now(double seconds) {
    timespec at{};
    clock_gettime(CLOCK_REALTIME, &at);
    const auto ns = at.tv_nsec + static_cast<long long>(seconds * 1e9);
    at.tv_sec += ns / 1'000'000'000 - (ns % 1'000'000'000 < 0 ? 1 : 0);
    at.tv_nsec = (ns % 1'000'000'000 + 1'000'000'000) % 1'000'000'000;
    return at;
}

// CPU seconds of the process.
inline double cpu_time() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

// Checks that `calls` does not switch: another ready ULT must not have run when they are done.
template <class Calls>
void expect_no_switch(Calls&& calls) {
    bool other_ran = false;
    Units units;
    units.ult(own_pool(), [&] {
        Units others;
        others.ult(own_pool(), [&] { other_ran = true; });
        calls();
        EXPECT_FALSE(other_ran);
    });
    units.join();
    EXPECT_TRUE(other_ran);
}

}   // namespace abt_test
