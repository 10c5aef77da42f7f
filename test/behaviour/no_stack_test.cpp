// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units for which there is no stack, in an exhausted address space: they end when no unit would
// give a stack back, and a caller that asks for the outcome learns the reason.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"
#include "test/stress/stress.hpp"
#include "weft/algorithm.hpp"

namespace {

using namespace weft_test;

// Limits the process, during its lifetime, to `bytes` more of address space.
class Room {
public:
    explicit Room(std::size_t bytes) {
        std::FILE* const file = std::fopen("/proc/self/statm", "r");
        unsigned long pages = 0;
        EXPECT_EQ(std::fscanf(file, "%lu", &pages), 1);
        std::fclose(file);
        EXPECT_EQ(getrlimit(RLIMIT_AS, &before_), 0);
        rlimit less = before_;
        less.rlim_cur = pages * 4096 + bytes;
        EXPECT_EQ(setrlimit(RLIMIT_AS, &less), 0);
    }
    ~Room() { EXPECT_EQ(setrlimit(RLIMIT_AS, &before_), 0); }
    Room(const Room&) = delete;

private:
    rlimit before_{};
};

// Several times what the process itself may use meanwhile: one arena of malloc reserves 64 MiB. A
// unit's stack takes 64 KiB.
constexpr std::size_t room = 256 << 20, too_many = 6000;

void suspend(void*) { weft_unit_suspend(nullptr, nullptr); }

std::vector<weft_unit*> suspended(std::size_t count) {
    std::vector<weft_unit*> units(count);
    EXPECT_EQ(weft_unit_spawn_many(nullptr, count, suspend, nullptr, nullptr, units.data()), WEFT_OK);
    return units;
}

// Where the units wait: there, the unit that was spawned last runs last.
struct Where {
    std::size_t streams;
    weft_pool_kind pool;
};

class NoStack : public testing::TestWithParam<Where> {
protected:
    static weft_settings settings() {
        weft_settings made = with_streams(GetParam().streams);
        made.pool = GetParam().pool;
        return made;
    }
    void SetUp() override {
        if (sanitized) GTEST_SKIP() << "a sanitizer needs more addresses than there are then";
    }
};

TEST_P(NoStack, FinalizeEndsThoughOthersAreSuspended) {
    const Deadline deadline(60);
    const Room little(room);   // also while the runtime ends
    Runtime runtime(settings());
    runtime.expected = WEFT_BUSY;   // as if all had had a stack
    suspended(too_many);
}

TEST_P(NoStack, WhoLooksForTheEndOfOneInALoopFindsIt) {
    const Deadline deadline(60);
    Runtime runtime(settings());
    runtime.expected = WEFT_BUSY;
    const Room little(room);
    const std::vector<weft_unit*> units = suspended(too_many);
    weft_status status;
    while ((status = weft_unit_try_join(units.back())) == WEFT_BUSY) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    EXPECT_EQ(status, WEFT_NOT_RETURNED);
    EXPECT_EQ(end_of(units.back()), WEFT_OUTCOME_NO_STACK);
}

// If each unit were tried once for each of the others, this would take minutes.
TEST_P(NoStack, EachOfManyTakesNoMoreTriesThanOneOfFew) {
    const Deadline deadline(60);
    Runtime runtime(settings());
    runtime.expected = WEFT_BUSY;
    const Room little(room);
    Ult joiner([&] {
        const std::vector<weft_unit*> units = suspended(std::max<std::size_t>(scaled(30'000), 2 * too_many));
        for (std::size_t i = units.size() - 1; i > units.size() / 2; --i) {
            EXPECT_EQ(end_of(units[i]), WEFT_OUTCOME_NO_STACK);
        }
    });
    EXPECT_EQ(joiner.join(), WEFT_OK);
}

TEST_P(NoStack, WhoeverAsksHowItEndedIsToldWhy) {
    const Deadline deadline(60);
    Runtime runtime(settings());
    runtime.expected = WEFT_BUSY;
    const Room little(room);
    std::vector<weft_unit*> units = suspended(too_many);
    auto larger = options();
    larger.kind = WEFT_KIND_LSA;
    larger.stack_bytes = 1 << 20;
    weft_unit* large = nullptr;
    ASSERT_EQ(weft_ult_spawn(nullptr, suspend, nullptr, &larger, &large), WEFT_OK);
    const auto said = [](const char* bytes) {
        const std::string text = weft_error_text();
        const bool all = text.find(std::string("no stack of ") + bytes + " bytes") != std::string::npos;
        weft_unit_join(nullptr);   // which leaves another text
        return all && text.find("ulimit -v") != std::string::npos;
    };
    EXPECT_EQ(weft_unit_join(units.back()), WEFT_NOT_RETURNED);   // before it has ended,
    EXPECT_TRUE(said("65536"));
    EXPECT_EQ(weft_unit_join(units.back()), WEFT_NOT_RETURNED);   // and afterwards
    EXPECT_TRUE(said("65536"));
    EXPECT_EQ(weft_unit_try_join(units.back()), WEFT_NOT_RETURNED);
    EXPECT_TRUE(said("65536"));
    EXPECT_EQ(weft_unit_join_until(units.back(), weft_now_ns()), WEFT_NOT_RETURNED);
    EXPECT_TRUE(said("65536"));
    EXPECT_EQ(weft_unit_join_many(&units.back(), 1), WEFT_NOT_RETURNED);
    EXPECT_TRUE(said("65536"));
    EXPECT_EQ(weft_unit_join_until(units[too_many - 2], in_ms(20'000)), WEFT_NOT_RETURNED);
    EXPECT_TRUE(said("65536"));
    EXPECT_EQ(weft_unit_join_free(large), WEFT_NOT_RETURNED);
    EXPECT_TRUE(said("1048576"));
    EXPECT_EQ(weft_unit_join_free_many(&units.back(), 1), WEFT_NOT_RETURNED);
    EXPECT_TRUE(said("65536"));
}

// It begins in a unit, for which there is no stack.
TEST_P(NoStack, AnAlgorithmThatAGuestCallsRunsOnTheGuest) {
    const Deadline deadline(60);
    Runtime runtime(settings());
    runtime.expected = WEFT_BUSY;
    atomic<bool> none_left{false};
    long sum = 0;
    Doing guest(As::thread, [&] {
        until_set(none_left);
        sum = weft::parallel_reduce(0L, 1'000'000L, 0L);
    });
    const Room little(room);
    const std::vector<weft_unit*> units = suspended(too_many);
    EXPECT_EQ(end_of(units.back()), WEFT_OUTCOME_NO_STACK);
    none_left = true;
    guest.join();
    EXPECT_EQ(sum, 499'999'500'000);
}

// For tests that take long.
class NoStackOnOneStream : public NoStack {};

// ---- detached units, which have no joiner to notify ---------------------------------------------

weft_status spawn_detached(void (*body)(void*), void* argument, const weft_unit_options* options = nullptr) {
    return weft_ult_spawn(nullptr, body, argument, options, nullptr);
}

TEST_P(NoStack, DetachedUnitsWaitForTheStacksOfThoseThatSleep) {
    const Deadline deadline(60);
    static atomic<std::size_t> ran;
    ran = 0;
    Runtime runtime(settings());
    const Room little(room);
    const auto sleep = [](void*) {
        weft_sleep_for(10'000'000);
        ran.fetch_add(1);
    };
    for (std::size_t i = 0; i < too_many; ++i) ASSERT_EQ(spawn_detached(sleep, nullptr), WEFT_OK);
    while (ran.load() != too_many) weft_sleep_for(1'000'000);
}

TEST_P(NoStack, DetachedUnitsWaitUntilTheProgramResumesOthers) {
    const Deadline deadline(60);
    static atomic<std::size_t> ran;
    ran = 0;
    Runtime runtime(settings());
    const Room little(room);
    weft_event go = WEFT_EVENT_INIT;
    const auto wait = [](void* raw) {
        weft_event_wait(static_cast<weft_event*>(raw), nullptr);
        ran.fetch_add(1);
    };
    for (std::size_t i = 0; i < too_many; ++i) ASSERT_EQ(spawn_detached(wait, &go), WEFT_OK);
    weft_sleep_for(50'000'000);   // in this time all streams find that nothing can run
    EXPECT_EQ(ran.load(), 0u);
    EXPECT_EQ(weft_event_set(&go, nullptr), WEFT_OK);
    while (ran.load() != too_many) weft_sleep_for(1'000'000);
}

TEST_P(NoStack, DetachedUnitsThatNeverRunAreCountedByFinalizeAndToldOf) {
    const Deadline deadline(60);
    std::string text;
    {
        const Room little(room);   // also while the runtime ends
        Runtime runtime(settings());
        runtime.expected = WEFT_BUSY;
        for (std::size_t i = 0; i < too_many; ++i) ASSERT_EQ(spawn_detached(suspend, nullptr), WEFT_OK);
        testing::internal::CaptureStderr();
    }
    text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("which is detached"), std::string::npos) << text;
    EXPECT_NE(text.find("no stack of 65536 bytes"), std::string::npos) << text;
}

TEST_P(NoStackOnOneStream, WithinTwoSecondsASentenceTellsOfDetachedUnitsThatWait) {
    const Deadline deadline(60);
    Runtime runtime(settings());
    const Room little(room);
    weft_event go = WEFT_EVENT_INIT;
    const auto wait = [](void* raw) { weft_event_wait(static_cast<weft_event*>(raw), nullptr); };
    for (std::size_t i = 0; i < too_many; ++i) ASSERT_EQ(spawn_detached(wait, &go), WEFT_OK);
    testing::internal::CaptureStderr();
    weft_sleep_for(1'500'000'000);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("no stack of 65536 bytes can be had"), std::string::npos) << text;
    EXPECT_NE(text.find("it waits until one is free"), std::string::npos) << text;
    EXPECT_EQ(weft_event_set(&go, nullptr), WEFT_OK);
}

TEST_P(NoStackOnOneStream, AStreamDoesNotEndBeforeTheDetachedUnitsOfItsPoolHaveBegun) {
    const Deadline deadline(60);
    static atomic<std::size_t> begun;
    begun = 0;
    Runtime runtime(settings());
    const Room little(room);
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(nullptr, &stream), WEFT_OK);
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_stream_pool_get(stream, &pool), WEFT_OK);
    const auto sleep = [](void*) {
        begun.fetch_add(1);
        weft_sleep_for(10'000'000);
    };
    for (std::size_t i = 0; i < too_many; ++i)
        ASSERT_EQ(weft_ult_spawn(pool, sleep, nullptr, nullptr, nullptr), WEFT_OK);
    while (begun.load() == 0) weft_sleep_for(1'000'000);
    EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK);
    EXPECT_EQ(begun.load(), too_many);
    weft_sleep_for(20'000'000);
}

INSTANTIATE_TEST_SUITE_P(In, NoStack,
                         testing::Values(Where{1, WEFT_POOL_PRIVATE}, Where{2, WEFT_POOL_PRIVATE},
                                         Where{2, WEFT_POOL_SHARED}),
                         [](const auto& at) {
                             if (at.param.streams == 1) return "OneStream";
                             return at.param.pool == WEFT_POOL_PRIVATE ? "PrivatePools" : "ASharedPool";
                         });

// With deques, it is not known which units have a stack.
TEST(NoStackInDeques, FinalizeEndsThoughOthersAreSuspended) {
    if (sanitized) GTEST_SKIP() << "as above";
    const Deadline deadline(60);
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_DEQUE;
    const Room little(room);
    Runtime runtime(settings);
    runtime.expected = WEFT_BUSY;
    suspended(too_many);
}

INSTANTIATE_TEST_SUITE_P(In, NoStackOnOneStream, testing::Values(Where{1, WEFT_POOL_PRIVATE}),
                         [](const auto&) { return "OneStream"; });

}   // namespace
