// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the tests of this library: hosted units on few streams, so that a wait that keeps its
// OS thread hangs, and the test with it.
#pragma once

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <thread>

#include <weft/embed/hosted.h>
#include <weft/weft.h>

namespace weft_pthread_test {

class Bridge : public ::testing::Test {
protected:
    void SetUp() override {
        Dl_info found{};
        // By the address that dlsym finds: the linker may have given the program an address of its
        // own.
        void* const kill = dlsym(RTLD_DEFAULT, "pthread_kill");
        ASSERT_NE(dladdr(kill, &found), 0);
        if (std::strstr(found.dli_fname, "weft_pthread") == nullptr)
            GTEST_SKIP() << "needs LD_PRELOAD=libweft_pthread.so";
    }
};

class Runtime {
public:
    explicit Runtime(std::size_t streams = 1, weft_rescue rescue = WEFT_RESCUE_OFF) {
        weft_settings settings{};
        settings.size = sizeof settings;
        settings.streams = streams;
        settings.rescue = rescue;   // off: a wait that keeps its OS thread must hang
        EXPECT_EQ(weft_init(&settings), WEFT_OK) << weft_error_text();
    }
    ~Runtime() { EXPECT_EQ(weft_finalize(), WEFT_OK) << weft_error_text(); }
    Runtime(const Runtime&) = delete;
};

// A hosted unit bound to the stream of this rank, which it may block; -1: on any stream.
class Hosted {
public:
    explicit Hosted(std::function<void()> body, int rank = -1) : body_(std::move(body)) {
        weft_unit_options how{};
        how.size = sizeof how;
        how.kind = WEFT_KIND_HOSTED;
        if (rank >= 0) {
            how.bound = true;
            how.stream = weft_stream_at(static_cast<std::size_t>(rank));
        }
        EXPECT_EQ(weft_ult_spawn(
                      nullptr, [](void* self) { static_cast<Hosted*>(self)->body_(); }, this, &how, &unit_),
                  WEFT_OK)
            << weft_error_text();
    }
    ~Hosted() { EXPECT_EQ(weft_unit_join_free(unit_), WEFT_OK); }
    Hosted(const Hosted&) = delete;
    weft_unit* handle() const { return unit_; }

private:
    std::function<void()> body_;
    weft_unit* unit_ = nullptr;
};

inline void until(const std::function<bool()>& condition) {
    while (!condition()) {
        weft_unit_yield();
        std::this_thread::yield();
    }
}

// Waits until the unit waits for anything.
inline void until_suspended(const Hosted& unit) {
    weft_unit_state state{};
    until([&] { return weft_unit_state_get(unit.handle(), &state) == WEFT_OK && state == WEFT_UNIT_SUSPENDED; });
}

// Runs the body in a child process, which is ended if it hangs.
inline void in_child(const std::function<void()>& body) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(30);
        body();
        _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}   // namespace weft_pthread_test
