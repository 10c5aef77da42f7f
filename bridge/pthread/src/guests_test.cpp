// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that are admitted as guests (WEFT_GUESTS=admit) on one CPU, and so one hart, without
// rescue.
#include <sched.h>
#include <semaphore.h>
#include <threads.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "test_support.hpp"

using namespace weft_pthread_test;

namespace {

class Guests : public Bridge {
protected:
    void SetUp() override {
        Bridge::SetUp();
        const char* const how = std::getenv("WEFT_GUESTS");
        if (how == nullptr || std::string(how) != "admit") GTEST_SKIP() << "needs WEFT_GUESTS=admit";
        alarm(60);
    }

    // Before the runtime starts.
    static void on_one_cpu() {
        cpu_set_t cpus;
        ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus), 0);
        int first = 0;
        while (!CPU_ISSET(first, &cpus)) ++first;
        CPU_ZERO(&cpus);
        CPU_SET(first, &cpus);
        ASSERT_EQ(pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus), 0);
    }
};

bool inside() { return weft_unit_self() != nullptr; }

TEST_F(Guests, AThreadIsInsideFromBeginningToEnd) {
    in_child([] {
        EXPECT_FALSE(inside());
        std::thread([] { EXPECT_TRUE(inside()); }).join();
        thrd_t of_c11;
        ASSERT_EQ(thrd_create(
                      &of_c11, [](void*) { return inside() ? 1 : 0; }, nullptr),
                  thrd_success);
        int result = 0;
        EXPECT_EQ(thrd_join(of_c11, &result), thrd_success);
        EXPECT_EQ(result, 1);
        EXPECT_FALSE(inside());
    });
}

TEST_F(Guests, OneThatExitsOrIsCancelledLeaves) {
    on_one_cpu();
    in_child([] {
        for (int i = 0; i < 20; ++i) {   // a guest that kept its hart would be the last one admitted
            pthread_t thread;
            ASSERT_EQ(pthread_create(
                          &thread, nullptr, [](void*) -> void* { pthread_exit(nullptr); }, nullptr),
                      0);
            EXPECT_EQ(pthread_join(thread, nullptr), 0);
            ASSERT_EQ(pthread_create(
                          &thread, nullptr,
                          [](void*) -> void* {
                              for (;;) {
                                  const timespec long_time{100, 0};
                                  nanosleep(&long_time, nullptr);
                              }
                          },
                          nullptr),
                      0);
            EXPECT_EQ(pthread_cancel(thread), 0);
            void* result = nullptr;
            EXPECT_EQ(pthread_join(thread, &result), 0);
            EXPECT_EQ(result, PTHREAD_CANCELED);
        }
    });
}

TEST_F(Guests, OneThatWaitsInTheCLibraryGivesItsHartBack) {
    on_one_cpu();
    in_child([] {
        std::mutex mutex;
        std::condition_variable changed;
        int turn = 0;
        std::vector<std::thread> threads;
        for (int mine = 0; mine < 4; ++mine) {
            threads.emplace_back([&, mine] {
                for (int i = 0; i < 200; ++i) {
                    std::unique_lock lock(mutex);
                    changed.wait(lock, [&] { return turn % 4 == mine; });
                    ++turn;
                    changed.notify_all();
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(turn, 800);
    });
}

// All threads share one condition, but each change concerns a single thread; they begin to wait in
// reverse order. In any fixed order half of them would be woken before the thread whose turn it is.
TEST_F(Guests, WhoWaitsForItsTurnForLongestIsWokenFirst) {
    on_one_cpu();
    in_child([] {
        constexpr int count = 8, rounds = 100;
        std::mutex mutex;
        std::condition_variable changed;
        int turn = -1, wakes = 0;
        std::atomic<int> waiting{0};
        std::vector<std::thread> threads;
        for (int mine = count - 1; mine >= 0; --mine) {
            threads.emplace_back([&, mine] {
                for (int i = 0; i < rounds; ++i) {
                    std::unique_lock lock(mutex);
                    ++waiting;
                    while (turn != mine) {
                        changed.wait(lock);
                        ++wakes;
                    }
                    turn = (mine + 1) % count;
                    changed.notify_all();
                }
            });
            while (waiting != count - mine) sched_yield();
        }
        {
            const std::lock_guard lock(mutex);
            turn = 0;
            changed.notify_all();
        }
        for (std::thread& thread : threads) thread.join();
        EXPECT_LT(wakes, 2 * count * rounds);
    });
}

TEST_F(Guests, OneThatJoinsOrSleepsGivesItsHartBack) {
    on_one_cpu();
    in_child([] {
        std::thread([] {
            std::atomic<bool> go{false};
            std::thread inner([&] {
                while (!go) sched_yield();
            });
            std::thread sleeper([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                go = true;
            });
            inner.join();
            sleeper.join();
        }).join();
    });
}

TEST_F(Guests, AValueThatIsNoneIsNamed) {
    char path[4096] = {};
    ASSERT_GT(readlink("/proc/self/exe", path, sizeof path - 1), 0);
    FILE* const output = popen(
        ("WEFT_GUESTS=maybe exec " + std::string(path) + " --gtest_filter=GuestsOrNot.AThreadMayBe 2>&1").c_str(), "r");
    ASSERT_NE(output, nullptr);
    std::string text;
    for (char line[512]; std::fgets(line, sizeof line, output) != nullptr;) text += line;
    EXPECT_EQ(pclose(output), 0);
    EXPECT_NE(text.find("WEFT_GUESTS is 'maybe', and may be 'leave' or 'admit'"), std::string::npos) << text;
}

TEST(GuestsOrNot, AThreadMayBe) {
    const char* const how = std::getenv("WEFT_GUESTS");
    const bool wanted = how != nullptr && std::string(how) == "admit";
    std::thread([wanted] { EXPECT_EQ(inside(), wanted); }).join();
}

}   // namespace
