// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With WEFT_RESCUE=all, units that only one stream draws are rescued, too.
#include <pthread.h>
#include <sched.h>

#include "base/config.hpp"
#include "test/behaviour/stuck.hpp"

using namespace weft_test;

namespace {

weft_pool_kind kind_of(const weft_pool* pool) {
    weft_pool_kind kind = WEFT_POOL_DEFAULT;
    EXPECT_EQ(weft_pool_kind_get(pool, &kind), WEFT_OK);
    return kind;
}

// A pool of kind private, as the program requests it, and the only stream that draws from it.
class OwnPool {
public:
    OwnPool() {
        EXPECT_EQ(weft_pool_create(WEFT_POOL_PRIVATE, &pool), WEFT_OK);
        weft_sched* sched = nullptr;
        EXPECT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched), WEFT_OK);
        weft_stream_options options{};
        options.size = sizeof options;
        options.sched = sched;
        EXPECT_EQ(weft_stream_create(&options, &stream_), WEFT_OK);
    }
    ~OwnPool() {
        EXPECT_EQ(weft_stream_join_free(stream_), WEFT_OK);
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }

    weft_pool* pool = nullptr;

private:
    weft_stream* stream_ = nullptr;
};

void spin_for_the_next(weft_pool* pool) {
    atomic<bool> flag{false};
    Ult spinner(
        [&] {
            while (!flag.load()) sched_yield();
        },
        nullptr, pool);
    Ult setter([&] { flag = true; }, nullptr, pool);
    EXPECT_EQ(spinner.join(), WEFT_OK);
    EXPECT_EQ(setter.join(), WEFT_OK);
}

}   // namespace

TEST(RescueOfAll, AUnitOfOneStreamReadsWhatTheNextOneWrites) {
    Runtime runtime(one_stream(WEFT_RESCUE_ALL));
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    char byte = 0;
    Ult reader([&] { EXPECT_EQ(read(ends[0], &byte, 1), 1); });
    Ult writer([&] { EXPECT_EQ(write(ends[1], "b", 1), 1); });
    EXPECT_EQ(reader.join(), WEFT_OK);
    EXPECT_EQ(writer.join(), WEFT_OK);
    EXPECT_EQ(byte, 'b');
    EXPECT_GE(counter("/rescue/count/emergencies"), 1u);
    close(ends[0]);
    close(ends[1]);
}

// The stand-in of the stream is called back when the stream goes on, but by then runs a unit that
// spins. It no longer helps the stream.
TEST(RescueOfAll, AStreamIsStoodInForAnewWhileWhatStoodInForItBeforeIsStuck) {
    Runtime runtime(one_stream(WEFT_RESCUE_ALL));
    atomic<bool> first{false}, second{false}, third{false};
    const auto spin_until = [](atomic<bool>& flag) {
        while (!flag.load()) sched_yield();
    };
    Ult spinner([&] { spin_until(first); });
    Ult stays([&] {
        first = true;
        if (weft_stream_self() != weft_stream_at(0)) spin_until(second);   // on stream 0, nothing could end that
    });
    EXPECT_EQ(spinner.join(), WEFT_OK);
    // No stand-in serves, and the watchdog does not look, if the spinner was the unit that moved.
    const std::uint64_t looks = counter("/rescue/count/looks");
    // until the stand-in has been called back
    while (counter("/rescue/count/looks") < looks + 3 && stays.state() != WEFT_UNIT_DONE) weft_unit_yield();
    {
        Ult again([&] { spin_until(third); });
        Ult setter([&] { third = true; });
        EXPECT_EQ(again.join(), WEFT_OK);
        EXPECT_EQ(setter.join(), WEFT_OK);
    }
    second = true;
    EXPECT_EQ(stays.join(), WEFT_OK);
}

TEST(RescueOfAll, AUnitOfOneStreamGetsALockThatAnotherHoldsOverAYield) {
    if (weft::config::thread_sanitizer) GTEST_SKIP() << "it holds that a lock is let go by the OS thread that took it";
    Runtime runtime(one_stream(WEFT_RESCUE_ALL));
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int inside = 0;
    const auto body = [&] {
        pthread_mutex_lock(&mutex);
        EXPECT_EQ(++inside, 1);
        EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        --inside;
        pthread_mutex_unlock(&mutex);
    };
    Ult one(body), other(body), third(body);
    EXPECT_EQ(one.join(), WEFT_OK);
    EXPECT_EQ(other.join(), WEFT_OK);
    EXPECT_EQ(third.join(), WEFT_OK);
}

TEST(RescueOfAll, AUnitOfOneStreamSpinsForTheNext) {
    Runtime runtime(one_stream(WEFT_RESCUE_ALL));
    spin_for_the_next(nullptr);
}

TEST(RescueOfAll, ThePrimaryUnitSpinsForOneBehindIt) {
    Runtime runtime(one_stream(WEFT_RESCUE_ALL));
    atomic<bool> flag{false};
    Ult setter([&] { flag = true; });
    while (!flag.load()) sched_yield();
    EXPECT_EQ(setter.join(), WEFT_OK);
}

TEST(RescueOfAll, AUnitThatSleepsWakesThoughItsOnlyStreamSpinsForIt) {
    Runtime runtime(one_stream(WEFT_RESCUE_ALL));
    atomic<bool> flag{false};
    Ult sleeper([&] {
        EXPECT_EQ(weft_sleep_for(5 * ms), WEFT_OK);
        flag = true;
    });
    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    while (!flag.load()) sched_yield();
    EXPECT_EQ(sleeper.join(), WEFT_OK);
}

TEST(RescueOfAll, UnitsOfAPrivatePoolThatTheProgramMakesAreRescued) {
    weft_settings settings = one_stream(WEFT_RESCUE_ALL, WEFT_POOL_PRIVATE);
    settings.streams = 2;
    Runtime runtime(settings);
    OwnPool own;
    spin_for_the_next(own.pool);
    spin_for_the_next(pool_of(1));
}

TEST(RescueOfAll, WhatIsAskedForAsPrivateIsSharedUnlessItPromises) {
    Runtime runtime(one_stream(WEFT_RESCUE_ALL));
    EXPECT_EQ(kind_of(pool_of(0)), WEFT_POOL_SHARED);
    weft_pool_options options{};
    options.size = sizeof options;
    options.kind = WEFT_POOL_PRIVATE;
    for (const bool promises : {false, true}) {
        options.access = promises ? WEFT_POOL_ACCESS_PRIVATE : WEFT_POOL_ACCESS_DEFAULT;
        weft_pool* pool = nullptr;
        ASSERT_EQ(weft_pool_create_with(&options, &pool), WEFT_OK);
        EXPECT_EQ(kind_of(pool), promises ? WEFT_POOL_PRIVATE : WEFT_POOL_SHARED);
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
}
