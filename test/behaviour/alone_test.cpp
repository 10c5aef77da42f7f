// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that wait for each other in a process with one OS thread, with each kind of pool: in such a
// process, the objects that the units enter need no exclusion of other OS threads. No test here
// starts a thread.
#include <memory>
#include <vector>

#include "test/behaviour/support.hpp"

using namespace weft_test;

namespace {

class AloneIn : public testing::TestWithParam<weft_pool_kind> {
protected:
    static weft_settings settings() {
        weft_settings made = with_streams(1);
        made.pool = GetParam();
        return made;
    }
    // Runs several units at once; the primary unit waits for them.
    template <class Body>
    static void run(int count, Body body) {
        std::vector<std::unique_ptr<Ult>> all;
        for (int i = 0; i < count; ++i) all.push_back(std::make_unique<Ult>([&body, i] { body(i); }));
    }

    Runtime runtime{settings()};
};
INSTANTIATE_TEST_SUITE_P(Pools, AloneIn, testing::Values(WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE));

TEST_P(AloneIn, AMutexIsGivenToOneAtATime) {
    for (int units : {2, 7}) {
        weft_mutex mutex = WEFT_MUTEX_INIT;
        int inside = 0, entered = 0;
        run(units, [&](int) {
            for (int k = 0; k < 50; ++k) {
                ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
                EXPECT_EQ(++inside, 1);
                ++entered;
                weft_unit_yield();
                --inside;
                ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
                if (k % 3 == 0) weft_unit_yield();
            }
        });
        EXPECT_EQ(entered, units * 50);
    }
}

TEST_P(AloneIn, EventsGoToAndFro) {
    weft_event events[2] = {WEFT_EVENT_INIT, WEFT_EVENT_INIT};
    int order = 0;
    run(2, [&](int me) {
        for (int k = 0; k < 50; ++k) {
            if (me == 1 || k != 0) {
                void* got = nullptr;
                ASSERT_EQ(weft_event_wait(&events[me], k % 2 == 0 ? &got : nullptr), WEFT_OK);
                EXPECT_EQ(got, k % 2 == 0 ? &events[me] : nullptr);
                ASSERT_EQ(weft_event_reset(&events[me]), WEFT_OK);
            }
            EXPECT_EQ(order++, 2 * k + me);
            ASSERT_EQ(weft_event_set(&events[1 - me], &events[1 - me]), WEFT_OK);
        }
    });
    EXPECT_EQ(order, 100);
}

TEST_P(AloneIn, AConditionASemaphoreAndABarrierLetEveryoneGoOn) {
    constexpr int units = 5, rounds = 20;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_cond cond = WEFT_COND_INIT;
    weft_semaphore semaphore{};
    weft_barrier barrier{};
    ASSERT_EQ(weft_semaphore_init(&semaphore, 0), WEFT_OK);
    ASSERT_EQ(weft_barrier_init(&barrier, units, nullptr, nullptr), WEFT_OK);
    int turn = 0, taken = 0;
    run(units, [&](int me) {
        for (int k = 0; k < rounds; ++k) {
            ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
            while (turn % units != me) ASSERT_EQ(weft_cond_wait(&cond, &mutex), WEFT_OK);
            ++turn;
            ASSERT_EQ(weft_cond_broadcast(&cond), WEFT_OK);
            ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
            if (me == 0) {
                ASSERT_EQ(weft_semaphore_release(&semaphore, units - 1), WEFT_OK);
            } else {
                ASSERT_EQ(weft_semaphore_acquire(&semaphore), WEFT_OK);
                ++taken;
            }
            weft_barrier_wait(&barrier);
            EXPECT_EQ(turn, (k + 1) * units);
            EXPECT_EQ(taken, (k + 1) * (units - 1));
            weft_barrier_wait(&barrier);
        }
    });
}

TEST_P(AloneIn, AChannelKeepsItsOrder) {
    for (const std::size_t capacity : {0, 3}) {
        weft_channel_options options{};
        options.size = sizeof options;
        options.capacity = capacity;
        options.element_bytes = sizeof(int);
        weft_channel* channel = nullptr;
        ASSERT_EQ(weft_channel_create(&options, &channel), WEFT_OK);
        run(2, [&](int me) {
            for (int k = 0; k < 40; ++k) {
                int element = k;
                ASSERT_EQ(me == 0 ? weft_channel_send(channel, &element) : weft_channel_receive(channel, &element),
                          WEFT_OK);
                EXPECT_EQ(element, k);
            }
        });
        EXPECT_EQ(weft_channel_free(channel), WEFT_OK);
    }
}

}   // namespace
