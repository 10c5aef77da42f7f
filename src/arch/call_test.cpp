// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A context that is called on its own stack instead of being switched to (arch::call): it returns
// to its caller, or the caller is resumed by a switch like any suspended context.
#include <gtest/gtest.h>

#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "arch/testing.hpp"

namespace weft::arch {
namespace {

using testing::Coroutine;
using testing::ReturnPoint;

// No sanitizer can follow a return from one stack to another; the library does not use calls there
// either.
class Call : public ::testing::Test {
protected:
    void SetUp() override {
        if constexpr (config::address_sanitizer || config::thread_sanitizer)
            GTEST_SKIP() << "not used under this sanitizer";
    }
    void TearDown() override { std::free(stack); }

    static constexpr std::size_t bytes = 256 * 1024;
    char* stack = static_cast<char*>(std::aligned_alloc(4096, bytes));
    void* saved = nullptr;

    char* top() const { return stack + bytes; }
    bool holds(const void* address) const { return address >= stack && address < top(); }
};

constexpr std::uintptr_t answer = 7, word = 0x1234567890abcdef;

struct Job {
    void* stood_at = nullptr;
    bool aligned = false;
    std::string caught = {};
};

[[gnu::always_inline]] inline void look(Job& mine) {
    mine.stood_at = __builtin_frame_address(0);
    mine.aligned = reinterpret_cast<std::uintptr_t>(mine.stood_at) % 16 == 0;
}

// No lambdas: an unoptimised lambda is called by a function that the compiler generates, which
// knows that it need not align the stack for the lambda.
std::uintptr_t look_where_it_stands(void* raw) {
    look(*static_cast<Job*>(raw));
    return answer;
}

TEST_F(Call, RunsOnTheStackThatItIsGivenAndReturnsToItsCaller) {
    Job job;
    for (int round = 0; round < 3; ++round) {
        job.stood_at = nullptr;
        const Called called = call(&saved, top(), look_where_it_stands, &job, word);
        EXPECT_EQ(called.answer, answer);
        EXPECT_EQ(called.kept, word);
        EXPECT_TRUE(holds(job.stood_at));
        EXPECT_TRUE(job.aligned);
        EXPECT_FALSE(holds(saved));
    }
}

TEST_F(Call, ThrowsAndCatchesWithinIt) {
    Job job;
    call(
        &saved, top(),
        [](void* raw) {
            auto& mine = *static_cast<Job*>(raw);
            try {
                throw std::runtime_error("called");
            } catch (const std::exception& error) {
                mine.caught = error.what();
            }
            return answer;
        },
        &job, 0);
    EXPECT_EQ(job.caught, "called");
}

// The called function suspends, and its caller continues before it ends: two contexts that know
// each other.
struct Relay {
    void* caller = nullptr;
    void* called = nullptr;
    std::vector<std::string> story;
};
Relay* relay;

TEST_F(Call, TheCallerIsResumedByASwitchAndItsMessageWhenTheCalledSuspends) {
    Relay mine;
    relay = &mine;
    const Called called = call(
        &mine.caller, top(),
        [](void*) -> std::uintptr_t {
            relay->story.emplace_back("called");
            swap(&relay->called, relay->caller,
                 {[](void* text) { relay->story.emplace_back(static_cast<const char*>(text)); },
                  const_cast<char*>("message")});
            std::abort();
        },
        nullptr, word);
    EXPECT_EQ(called.answer, Called::resumed);
    EXPECT_EQ(called.kept, word);
    mine.story.emplace_back("caller");
    EXPECT_EQ(mine.story, (std::vector<std::string>{"called", "message", "caller"}));
}

TEST_F(Call, TheCallerIsResumedWithoutAMessageToo) {
    Relay mine;
    relay = &mine;
    const Called called = call(
        &mine.caller, top(),
        [](void*) -> std::uintptr_t {
            relay->story.emplace_back("called");
            swap(&relay->called, relay->caller, {});
            std::abort();
        },
        nullptr, word);
    EXPECT_EQ(called.answer, Called::resumed);
    EXPECT_EQ(called.kept, word);
    EXPECT_EQ(mine.story, (std::vector<std::string>{"called"}));
}

TEST_F(Call, TheCalledMaySuspendAndComeBackBeforeItReturns) {
    static Coroutine* other;
    static ReturnPoint here;
    Coroutine coroutine([](Coroutine& self, Message) {
        for (int i = 0; i < 3; ++i) self.leave();
    });
    other = &coroutine;
    here = testing::this_thread();
    call(
        &saved, top(),
        [](void*) {
            while (!other->done()) other->resume(here);
            return answer;
        },
        nullptr, 0);
    EXPECT_TRUE(coroutine.done());
}

TEST_F(Call, ALightOneReturnsTooAndKeepsWhatItsCallerHas) {
    Job job;
    std::string mine = "kept";
    for (int round = 0; round < 3; ++round) {
        job.stood_at = nullptr;
        call_light(top(), look_where_it_stands, &job);
        EXPECT_TRUE(holds(job.stood_at));
        EXPECT_TRUE(job.aligned);
        EXPECT_EQ(mine, "kept");
    }
}

// When a light call suspends, nothing returns to its caller: execution continues elsewhere.
TEST_F(Call, ALightOneMaySuspendForGood) {
    static ReturnPoint here;
    static std::vector<std::string> story;
    story.clear();
    Coroutine caller([this](Coroutine&, Message) {
        call_light(
            top(),
            [](void*) -> std::uintptr_t {
                story.emplace_back("called");
                jump(here.saved, {});
            },
            nullptr);
        std::abort();
    });
    here = testing::this_thread();
    caller.resume(here);
    story.emplace_back("on");
    EXPECT_EQ(story, (std::vector<std::string>{"called", "on"}));
}

std::vector<void*> functions;

_Unwind_Reason_Code note(_Unwind_Context* context, void*) {
    if (_Unwind_GetIP(context) == 0) return _URC_NO_REASON;   // the end of the stack
    functions.push_back(_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(_Unwind_GetIP(context) - 1)));
    return functions.size() < 60 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

std::uintptr_t trace(void*) {
    _Unwind_Backtrace(note, nullptr);
    return answer;
}

TEST_F(Call, ABacktraceFromTheCalledEndsAtTheCall) {
    functions.clear();
    call(&saved, top(), trace, nullptr, 0);
    ASSERT_GE(functions.size(), 2u);
    EXPECT_LT(functions.size(), 10u);
    EXPECT_EQ(functions.back(), reinterpret_cast<void*>(weft_context_call));
    functions.clear();
    call_light(top(), trace, nullptr);
    ASSERT_GE(functions.size(), 2u);
    EXPECT_EQ(functions.back(), reinterpret_cast<void*>(weft_context_call_light));
}

// The message's call of a resumed caller runs below the caller, not in its place.
TEST_F(Call, ABacktraceFromTheMessageOfAResumedCallerGoesOnInTheCaller) {
    static void* suspended;
    static void* caller;
    functions.clear();
    call(
        &caller, top(),
        [](void*) -> std::uintptr_t {
            swap(&suspended, caller, {[](void*) { trace(nullptr); }, nullptr});
            std::abort();
        },
        nullptr, 0);
    const auto at = std::find(functions.begin(), functions.end(), reinterpret_cast<void*>(weft_context_call));
    ASSERT_NE(at, functions.end());
    EXPECT_GT(functions.end() - at, 3) << "this test and what calls it";
}

[[gnu::noinline]] int return_by_a_jump(int value) { return return_by_jump(value); }

TEST(ReturnByJump, ReturnsItsArgumentToTheCallerOfTheFunctionWhoseLastStepItIs) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 1000; ++i) {
        sum += static_cast<std::uint64_t>(return_by_a_jump(i));
        sum += static_cast<std::uint64_t>(return_by_a_jump(1));
    }
    EXPECT_EQ(sum, 999u * 1000 / 2 + 1000);
}

}   // namespace
}   // namespace weft::arch
