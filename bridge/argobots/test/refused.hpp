// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of all functions of abt.h, and what each does when the system refuses a request
// (refused_test.cpp). A row calls its function as a program would, through its Try.
#pragma once

#include <abt.h>
#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <vector>

#include "../src/core_test_support.hpp"
#include "refuse.hpp"

namespace refused {

// What a function requests from the system, in the row's case.
enum class Needs {
    nothing,   // nothing is refused, since the function requests nothing
    memory,    // or a mapping, or a thread: fails without it
    aid,       // may request something; without it, succeeds, or retries later, or reports that a work unit has not run
};

class Try {
public:
    explicit Try(int number) : number_(number) {}
    Try(const Try&) = delete;

    // Checks the function; `undo` is its inverse, and `unchanged` must hold after a failure. The
    // repeated call must succeed.
    void operator()(
        const std::function<int()>& call, const std::function<void()>& undo = [] {},
        const std::function<void()>& unchanged = [] {}) {
        const int result = once(call);
        if (result == ABT_SUCCESS) return undo();
        failed_ = true;
        EXPECT_TRUE(refused_) << "it fails with " << result << " though nothing was refused";
        EXPECT_TRUE(is_told(result)) << result;
        unchanged();
        EXPECT_EQ(call(), ABT_SUCCESS) << "when it is repeated";
        undo();
    }

    // For a call that cannot be repeated; returns its result.
    int once(const std::function<int()>& call) {
        begin();
        const int result = call();
        end();
        return result;
    }

    // For a call that does not return, or not to its caller.
    void begin() { refuse::begin(number_); }
    void end() {
        refuse::end();
        refused_ = refused_ || refuse::refused();
    }

    bool was_refused() const { return refused_; }
    bool has_failed() const { return failed_; }
    static bool is_told(int error) { return error == ABT_ERR_MEM || error == ABT_ERR_SYS || error == ABT_ERR_OTHER; }

private:
    const int number_;
    bool refused_ = false;
    bool failed_ = false;
};

struct Row {
    std::string_view name;
    Needs needs;
    void (*call)(Try& t);
    bool bare;   // initializes and finalizes the library itself

    static std::vector<Row>& all() {
        static std::vector<Row> rows;
        return rows;
    }
    Row(const char* of, Needs what, void (*by)(Try&), bool itself = false)
        : name(of), needs(what), call(by), bare(itself) {
        all().push_back(*this);
    }
};

#define REFUSED(function, needs)                                                               \
    void function##_row(::refused::Try& t);                                                    \
    const ::refused::Row function##_entry{#function, ::refused::Needs::needs, function##_row}; \
    void function##_row([[maybe_unused]] ::refused::Try& t)

#define REFUSED_BARE(function, needs)                                                                \
    void function##_row(::refused::Try& t);                                                          \
    const ::refused::Row function##_entry{#function, ::refused::Needs::needs, function##_row, true}; \
    void function##_row([[maybe_unused]] ::refused::Try& t)

// The most common row: a function that requests nothing.
#define REFUSED_NOTHING(function, ...)            \
    REFUSED(function, nothing) {                  \
        t([&] { return function(__VA_ARGS__); }); \
    }

using abt_test::new_pool;
using abt_test::nothing;
using abt_test::ok;
using abt_test::own_pool;
using abt_test::own_xstream;
using abt_test::self_thread;
using abt_test::spawn;

// The value of a handle before a call.
template <class Handle>
Handle before() {
    return reinterpret_cast<Handle>(std::uintptr_t{0x1000});
}

// A row of a function that makes something: after a failure the handle is `after_failure`.
template <class Handle>
void makes(Try& t, const std::function<int(Handle*)>& make, const std::function<int(Handle*)>& free,
           Handle after_failure) {
    Handle handle = before<Handle>();
    t([&] { return make(&handle); }, [&] { ok(free(&handle)); }, [&] { EXPECT_EQ(handle, after_failure); });
}

// A ULT of the stream's pool that has been created, but has neither run nor got a stack; joined and
// freed at the end.
class Fresh {
public:
    explicit Fresh(void (*body)(void*) = nothing, void* argument = nullptr, ABT_pool pool = own_pool())
        : handle(spawn(pool, body, argument)) {}
    Fresh(const Fresh&) = delete;
    ~Fresh() {
        if (handle == ABT_THREAD_NULL) return;
        const int result = ABT_thread_free(&handle);
        EXPECT_TRUE(result == ABT_SUCCESS || result == ABT_ERR_MEM) << result;   // it found no stack
    }
    ABT_thread handle;
};

// A suspended ULT.
class Suspended {
public:
    Suspended()
        : handle(spawn(
              own_pool(), [](void*) { ok(ABT_self_suspend()); }, nullptr)) {
        while (abt_test::state_of(handle) != ABT_THREAD_STATE_BLOCKED) ok(ABT_self_yield());
    }
    Suspended(const Suspended&) = delete;
    ~Suspended() {
        if (abt_test::state_of(handle) == ABT_THREAD_STATE_BLOCKED) ok(ABT_thread_resume(handle));
        ok(ABT_thread_free(&handle));
    }
    ABT_thread handle;
};

// A ULT that has ended.
class Ended {
public:
    Ended() : handle(spawn(own_pool(), nothing, nullptr)) { ok(ABT_thread_join(handle)); }
    Ended(const Ended&) = delete;
    ~Ended() { ok(ABT_thread_free(&handle)); }
    ABT_thread handle;
};

// A tasklet that has not run.
class FreshTask {
public:
    explicit FreshTask(void (*body)(void*) = nothing, void* argument = nullptr, ABT_pool pool = own_pool()) {
        ok(ABT_task_create(pool, body, argument, &handle));
    }
    FreshTask(const FreshTask&) = delete;
    ~FreshTask() {
        if (handle != ABT_TASK_NULL) ok(ABT_task_free(&handle));
    }
    ABT_task handle = ABT_TASK_NULL;
};

class OwnPool {
public:
    explicit OwnPool(ABT_pool_kind kind = ABT_POOL_FIFO) : handle(new_pool(kind)) {}
    OwnPool(const OwnPool&) = delete;
    ~OwnPool() {
        abt_test::run_all(handle);
        ok(ABT_pool_free(&handle));
    }
    ABT_pool handle;
};

// A user-defined pool; its functions allocate memory themselves.
class UserPool {
public:
    UserPool();
    UserPool(const UserPool&) = delete;
    ~UserPool();
    ABT_pool handle = ABT_POOL_NULL;
};
ABT_pool_user_def new_user_def();

// A stream that has been joined.
class Stream {
public:
    Stream() { ok(ABT_xstream_create(ABT_SCHED_NULL, &handle)); }
    Stream(const Stream&) = delete;
    ~Stream() {
        if (handle != ABT_XSTREAM_NULL) ok(ABT_xstream_free(&handle));
    }
    ABT_xstream handle = ABT_XSTREAM_NULL;
};

// A file that is never read.
class Sink {
public:
    Sink() : file_(std::fopen("/dev/null", "w")) {}
    Sink(const Sink&) = delete;
    ~Sink() { std::fclose(file_); }
    operator std::FILE*() const { return file_; }

private:
    std::FILE* const file_;
};

inline ABT_sched own_sched() {
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_xstream_get_main_sched(own_xstream(), &sched));
    return sched;
}

// Run the body in a tasklet, or in a ULT, of the stream.
inline void in_a_tasklet(std::function<void()> body) { abt_test::in_tasklet_of(own_pool(), std::move(body)); }
inline void in_a_ult(std::function<void()> body) { abt_test::in_ult_of(own_pool(), std::move(body)); }

}   // namespace refused
