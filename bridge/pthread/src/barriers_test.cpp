// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <atomic>
#include <memory>
#include <vector>

#include "test_support.hpp"

using namespace weft_pthread_test;

namespace {

using Barriers = Bridge;

// `units` and `threads` meet at one barrier repeatedly; the first to arrive differs by chance.
void meet(int units, int threads, std::size_t streams) {
    Runtime runtime(streams);
    pthread_barrier_t barrier;
    const int all = units + threads;
    ASSERT_EQ(pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(all)), 0);
    constexpr int rounds = 200;
    std::atomic<int> arrived{0}, serial{0};
    auto body = [&] {
        for (int i = 1; i <= rounds; ++i) {
            ++arrived;
            const int answer = pthread_barrier_wait(&barrier);
            if (answer == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
            else EXPECT_EQ(answer, 0);
            EXPECT_GE(arrived, i * all);
        }
    };
    {
        std::vector<std::thread> plain;
        for (int i = 0; i < threads; ++i) plain.emplace_back(body);
        std::vector<std::unique_ptr<Hosted>> hosted;
        for (int i = 0; i < units; ++i) hosted.push_back(std::make_unique<Hosted>(body));
        hosted.clear();
        for (std::thread& thread : plain) thread.join();
    }
    EXPECT_EQ(arrived, rounds * all);
    EXPECT_EQ(serial, rounds);
    EXPECT_EQ(pthread_barrier_destroy(&barrier), 0);
}

TEST_F(Barriers, OfUnits) {
    in_child([] { meet(8, 0, 1); });
}

TEST_F(Barriers, OfUnitsAndThreads) {
    in_child([] { meet(3, 3, 1); });
    in_child([] { meet(3, 2, 2); });
}

TEST_F(Barriers, OfThreadsAlone) {
    in_child([] { meet(0, 4, 1); });
}

TEST_F(Barriers, OneMayGoAsSoonAsAllHaveArrived) {
    in_child([] {
        Runtime runtime(2);
        for (int i = 0; i < 200; ++i) {
            auto barrier = std::make_unique<pthread_barrier_t>();
            ASSERT_EQ(pthread_barrier_init(barrier.get(), nullptr, 3), 0);
            auto body = [&, at = barrier.get()] {
                if (pthread_barrier_wait(at) != PTHREAD_BARRIER_SERIAL_THREAD) return;
                EXPECT_EQ(pthread_barrier_destroy(at), 0);
                std::memset(at, 0xee, sizeof *at);
            };
            std::thread thread(body);
            const Hosted first(body, 0), second(body, 1);
            thread.join();
        }
    });
}

TEST_F(Barriers, AUnitThatComesToOneOfThreadsLeavesItsStream) {
    in_child([] {
        Runtime runtime;
        pthread_barrier_t barrier;
        ASSERT_EQ(pthread_barrier_init(&barrier, nullptr, 3), 0);
        std::thread first([&] { pthread_barrier_wait(&barrier); });
        // Waits until the thread has entered: the first word of glibc's barrier.
        while (__atomic_load_n(reinterpret_cast<unsigned*>(&barrier), __ATOMIC_RELAXED) == 0) std::this_thread::yield();
        {
            const Hosted second([&] { pthread_barrier_wait(&barrier); }),
                third([&] { pthread_barrier_wait(&barrier); });
        }
        first.join();
        EXPECT_EQ(pthread_barrier_destroy(&barrier), 0);
    });
}

}   // namespace
