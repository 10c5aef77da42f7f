// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The classes that the standard library also has behave as the standard says; each test is a
// sentence of the standard, for ULTs.
#include <array>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <stop_token>

#include <weft/weft.hpp>

#include "test/behaviour/waiting.hpp"

using namespace std::chrono_literals;
using weft_test::let_others_wait;
using weft_test::until;

namespace {

// ---- mutexes [thread.mutex] ---------------------------------------------------------------------

static_assert(!std::is_copy_constructible_v<weft::mutex> && !std::is_move_constructible_v<weft::mutex>);
static_assert(std::is_nothrow_default_constructible_v<weft::mutex> &&
              std::is_nothrow_default_constructible_v<weft::condition_variable>);
[[maybe_unused]] constinit weft::mutex constant_mutex;
[[maybe_unused]] constinit weft::condition_variable constant_condition;
[[maybe_unused]] constinit weft::shared_mutex constant_shared_mutex;

template <class Mutex>
class CppMutex : public testing::Test {};
using Mutexes = testing::Types<weft::mutex, weft::recursive_mutex, weft::shared_mutex>;
TYPED_TEST_SUITE(CppMutex, Mutexes);

TYPED_TEST(CppMutex, WorksInTheStandardsLocks) {
    weft::runtime runtime{{.streams = 1}};
    TypeParam a, b;
    {
        std::unique_lock lock(a);
        EXPECT_TRUE(lock.owns_lock());
        weft::thread other([&] { EXPECT_FALSE(std::unique_lock(a, std::try_to_lock).owns_lock()); });
        other.join();
        lock.unlock();
        EXPECT_TRUE(lock.try_lock());
    }
    {
        std::scoped_lock both(a, b);
        weft::thread other([&] { EXPECT_FALSE(b.try_lock()); });
        other.join();
    }
    std::lock_guard guard(b);
    std::unique_lock deferred(a, std::defer_lock);
    EXPECT_TRUE(deferred.try_lock_for(1ms));
}

TYPED_TEST(CppMutex, TriesForAsLongAsItWasTold) {
    weft::runtime runtime{{.streams = 1}};
    TypeParam mutex;
    mutex.lock();
    weft::latch tried(1);
    weft::thread other([&] {
        const auto before = std::chrono::steady_clock::now();
        EXPECT_FALSE(mutex.try_lock_for(3ms));
        EXPECT_GE(std::chrono::steady_clock::now() - before, 3ms);
        EXPECT_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now() + 2ms));
        EXPECT_FALSE(mutex.try_lock_until(std::chrono::system_clock::now() + 2ms));
        EXPECT_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now() - 1h)) << "a time that has passed";
        EXPECT_FALSE(mutex.try_lock_for(-1h));
        tried.count_down();
        EXPECT_TRUE(mutex.try_lock_for(std::chrono::hours::max())) << "longer than the clock counts";
        mutex.unlock();
    });
    tried.wait();
    mutex.unlock();
    other.join();
}

TEST(CppMutexes, RefuseADeadlockByAnException) {
    weft::runtime runtime{{.streams = 1}};
    weft::mutex mutex;
    std::lock_guard guard(mutex);
    try {
        mutex.lock();
        ADD_FAILURE() << "locked twice";
    } catch (const weft::error& problem) {
        EXPECT_EQ(problem.code(), WEFT_WRONG_STATE);
    }
}

TEST(CppSharedMutex, LetsReadersInTogether) {
    weft::runtime runtime{{.streams = 1}};
    weft::shared_mutex mutex;
    std::shared_lock mine(mutex);
    weft::thread reader([&] {
        std::shared_lock also(mutex);
        EXPECT_TRUE(also.owns_lock());
        EXPECT_FALSE(mutex.try_lock());
        EXPECT_FALSE(mutex.try_lock_for(2ms));
    });
    reader.join();
    mine.unlock();
    EXPECT_TRUE(mutex.try_lock());
    weft::thread late([&] { EXPECT_FALSE(mutex.try_lock_shared_for(2ms)); });
    late.join();
    mutex.unlock();
}

// ---- condition_variable [thread.condition] ------------------------------------------------------

TEST(CppCondition, WaitReturnsWithTheLockHeldWhenThePredicateIsTrue) {
    weft::runtime runtime{{.streams = 1}};
    weft::mutex mutex;
    weft::condition_variable condition;
    bool ready = false;
    weft::thread waits([&] {
        std::unique_lock lock(mutex);
        condition.wait(lock, [&] { return ready; });
        EXPECT_TRUE(lock.owns_lock());
        EXPECT_TRUE(ready);
    });
    let_others_wait();
    {
        std::lock_guard guard(mutex);
        ready = true;
    }
    condition.notify_one();
    waits.join();
}

TEST(CppCondition, WaitForSaysWhetherItWasNotified) {
    weft::runtime runtime{{.streams = 1}};
    weft::mutex mutex;
    weft::condition_variable condition;
    std::unique_lock lock(mutex);
    auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(condition.wait_for(lock, 3ms), std::cv_status::timeout);
    EXPECT_GE(std::chrono::steady_clock::now() - before, 3ms);
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_EQ(condition.wait_until(lock, std::chrono::system_clock::now() + 2ms), std::cv_status::timeout);
    EXPECT_FALSE(condition.wait_for(lock, 2ms, [] { return false; }));
    EXPECT_TRUE(condition.wait_for(lock, 0ms, [] { return true; }));
    weft::thread notifier([&] {
        weft::this_thread::sleep_for(2ms);
        std::lock_guard guard(mutex);
        condition.notify_one();
    });
    before = std::chrono::steady_clock::now();
    EXPECT_EQ(condition.wait_for(lock, 1h), std::cv_status::no_timeout);
    EXPECT_LT(std::chrono::steady_clock::now() - before, 1min);
    lock.unlock();
    notifier.join();
}

TEST(CppCondition, MayBeDestroyedWhenAllHaveBeenNotified) {
    weft::runtime runtime{{.streams = 1}};
    weft::mutex mutex;
    auto condition = std::make_unique<weft::condition_variable>();
    weft::thread waits([&] {
        std::unique_lock lock(mutex);
        condition->wait(lock);
    });
    until([] { return weft_test::waiting_for("condition") == 1; });
    std::unique_lock lock(mutex);
    condition->notify_one();
    condition.reset();   // while the mutex is held: the wait of the notified unit has not returned yet
    lock.unlock();
    waits.join();
}

TEST(CppCondition, WaitEndsWhenAStopIsRequested) {
    weft::runtime runtime({.streams = 2});
    for (int round = 0; round < 50; ++round) {
        weft::mutex mutex;
        weft::condition_variable condition;
        std::stop_source source;
        weft::thread waits([&] {
            std::unique_lock lock(mutex);
            EXPECT_FALSE(condition.wait(lock, source.get_token(), [] { return false; }));
            EXPECT_TRUE(lock.owns_lock());
        });
        if (round % 2 == 0) until([] { return weft_test::waiting_for("condition") == 1; });
        if (round % 3 == 0) {
            std::lock_guard guard(mutex);
            source.request_stop();   // the requester may hold the mutex
        } else {
            source.request_stop();
        }
        waits.join();
        std::unique_lock lock(mutex);
        EXPECT_TRUE(condition.wait(lock, source.get_token(), [] { return true; })) << "what the predicate says";
        EXPECT_FALSE(condition.wait_for(lock, source.get_token(), 1h, [] { return false; }));
        EXPECT_FALSE(condition.wait_for(lock, std::stop_token(), 1ms, [] { return false; })) << "the deadline";
        EXPECT_FALSE(condition.wait_until(lock, std::stop_token(), std::chrono::system_clock::now() + 1ms,
                                          [] { return false; }));
    }
}

// ---- semaphore, latch, barrier [thread.sema, thread.coord] --------------------------------------

TEST(CppSemaphore, BlocksAtZeroAndIsReleased) {
    weft::runtime runtime{{.streams = 1}};
    weft::counting_semaphore<10> semaphore(1);
    static_assert(weft::binary_semaphore::max() >= 1 && weft::counting_semaphore<10>::max() >= 10);
    semaphore.acquire();
    EXPECT_FALSE(semaphore.try_acquire());
    EXPECT_FALSE(semaphore.try_acquire_for(2ms));
    EXPECT_FALSE(semaphore.try_acquire_until(std::chrono::system_clock::now() + 1ms));
    std::vector<weft::thread> waiting;
    int through = 0;
    for (int i = 0; i < 3; ++i) {
        waiting.emplace_back([&] {
            semaphore.acquire();
            ++through;
        });
    }
    let_others_wait();
    EXPECT_EQ(through, 0);
    semaphore.release(3);
    for (auto& thread : waiting) thread.join();
    EXPECT_EQ(through, 3);
}

TEST(CppLatch, OpensOnce) {
    weft::runtime runtime{{.streams = 1}};
    weft::latch latch(3);
    EXPECT_FALSE(latch.try_wait());
    EXPECT_FALSE(latch.wait_for(1ms));
    weft::thread a([&] { latch.arrive_and_wait(); }), b([&] { latch.wait(); });
    latch.count_down();
    latch.count_down();
    a.join();
    b.join();
    EXPECT_TRUE(latch.try_wait());
    EXPECT_TRUE(latch.wait_until(std::chrono::steady_clock::now()));
    EXPECT_TRUE(weft::latch(0).try_wait());
}

TEST(CppBarrier, RunsItsCompletionOncePerPhaseBeforeAnybodyGoesOn) {
    weft::runtime runtime({.streams = 2});
    int phases = 0;
    auto complete = [&]() noexcept { ++phases; };
    weft::barrier barrier(3, complete);
    std::vector<weft::thread> all;
    for (int i = 0; i < 3; ++i) {
        all.emplace_back([&] {
            for (int phase = 1; phase <= 20; ++phase) {
                barrier.arrive_and_wait();
                EXPECT_EQ(phases, phase);
                barrier.wait(barrier.arrive());
                EXPECT_EQ(phases, ++phase);
            }
        });
    }
    for (auto& thread : all) thread.join();
    EXPECT_EQ(phases, 20);
    barrier.arrive_and_drop();
    barrier.arrive_and_drop();
    barrier.arrive_and_wait();
    barrier.arrive_and_wait();   // alone from now on
    EXPECT_EQ(phases, 22);
}

// ---- beyond the standard ------------------------------------------------------------------------

TEST(CppEvent, IsSetOnceAndCarriesAPointer) {
    weft::runtime runtime{{.streams = 1}};
    weft::event a, b;
    int value = 1;
    weft::thread waits([&] { EXPECT_EQ(a.wait(), &value); });
    EXPECT_FALSE(a.wait_for(1ms));
    EXPECT_TRUE(a.set(&value));
    EXPECT_FALSE(a.set());
    EXPECT_TRUE(a.is_set());
    waits.join();
    EXPECT_EQ(weft::wait_any_for(1ms, b), std::nullopt);
    EXPECT_EQ(weft::wait_any_until(std::chrono::system_clock::now() + 1ms, b), std::nullopt);
    EXPECT_FALSE(weft::wait_all_for(1ms, a, b));
    EXPECT_FALSE(weft::wait_all_until(std::chrono::steady_clock::now() + 1ms, a, b));
    EXPECT_EQ(weft::wait_any_for(1h, b, a), 1u);
    EXPECT_EQ(weft::wait_any_until(std::chrono::system_clock::now() + 1h, b, a), 1u);
    EXPECT_EQ(weft::wait_any(b, a), 1u);
    b.set();
    weft::wait_all(a, b);
    EXPECT_TRUE(weft::wait_all_for(0ms, a, b));
    EXPECT_TRUE(weft::wait_all_until(std::chrono::system_clock::now() + 1h, a, b));
    a.reset();
    EXPECT_FALSE(a.is_set());
}

TEST(CppChannel, MovesItsElements) {
    weft::runtime runtime{{.streams = 1}};
    for (std::size_t capacity : {0u, 2u}) {
        weft::channel<std::unique_ptr<int>> channel(capacity);
        weft::thread sender([&] {
            for (int i = 0; i < 10; ++i) EXPECT_TRUE(channel.send(std::make_unique<int>(i)));
            channel.close();
        });
        int expected = 0;
        while (auto received = channel.receive()) EXPECT_EQ(**received, expected++);
        EXPECT_EQ(expected, 10);
        sender.join();
        EXPECT_FALSE(channel.send(std::make_unique<int>(1)));
        EXPECT_FALSE(channel.try_receive());
    }
    weft::channel<std::string> unread(3);
    EXPECT_TRUE(unread.try_send(std::string(100, 'x')));
    EXPECT_EQ(unread.size(), 1u);
    EXPECT_FALSE(weft::channel<int>(0).try_send(1));
    EXPECT_FALSE(weft::channel<int>(0).receive_for(1ms));
    EXPECT_FALSE(weft::channel<int>(0).send_for(1, 1ms));
    const auto soon = std::chrono::steady_clock::now() + 1ms;
    EXPECT_FALSE(weft::channel<int>(0).receive_until(soon));
    EXPECT_FALSE(weft::channel<int>(0).send_until(1, soon));
    weft::channel<int> one(1);
    EXPECT_TRUE(one.send_until(1, std::chrono::steady_clock::now() + 1h));
    EXPECT_EQ(one.receive_until(soon), 1);
}

TEST(CppChannel, SelectDoesOneCaseAndCallsItsFunction) {
    weft::runtime runtime{{.streams = 1}};
    weft::channel<std::unique_ptr<int>> full(1), empty(1);
    EXPECT_TRUE(full.send(std::make_unique<int>(7)));
    int received = 0;
    bool sent = false;
    const auto take = [&](std::optional<std::unique_ptr<int>> got) { received = got ? **got : -1; };
    const auto told = [&](bool was) { sent = was; };
    EXPECT_EQ(weft::select(weft::on_receive(empty, take), weft::on_receive(full, take)), 1u);
    EXPECT_EQ(received, 7);
    EXPECT_EQ(weft::select(weft::on_receive(full, take), weft::on_send(empty, std::make_unique<int>(8), told)), 1u);
    EXPECT_TRUE(sent);
    // An element that is not sent is destroyed, and a send to a closed channel reports failure.
    const auto shared = std::make_shared<int>(9);
    weft::channel<std::shared_ptr<int>> nobody(0);
    EXPECT_EQ(weft::try_select(weft::on_send(nobody, shared, told)), std::nullopt);
    EXPECT_EQ(weft::select_for(1ms, weft::on_send(nobody, shared, told)), std::nullopt);
    const auto soon = std::chrono::steady_clock::now() + 1ms;
    EXPECT_EQ(weft::select_until(soon, weft::on_send(nobody, shared, told)), std::nullopt);
    EXPECT_EQ(shared.use_count(), 1);
    nobody.close();
    EXPECT_EQ(weft::select(weft::on_send(nobody, shared, told)), 0u);
    EXPECT_FALSE(sent);
    EXPECT_EQ(shared.use_count(), 1);
    bool closed = false;
    weft::select(weft::on_receive(nobody, [&](std::optional<std::shared_ptr<int>> got) { closed = !got; }));
    EXPECT_TRUE(closed);
    EXPECT_THROW(weft::select(weft::on_receive(empty, [](const auto&) { throw std::invalid_argument("thrown"); })),
                 std::invalid_argument);
}

TEST(CppChannel, SelectWaitsUntilACaseCanBeDone) {
    weft::runtime runtime{{.streams = 1}};
    weft::channel<int> numbers(0), answers(0);
    weft::thread other([&] {
        for (int i = 0; i < 20; ++i) {
            if (i % 3 == 0) EXPECT_EQ(answers.receive(), i);
            else EXPECT_TRUE(numbers.send(i));
        }
    });
    for (int i = 0; i < 20; ++i) {
        const std::size_t which =
            weft::select(weft::on_receive(numbers, [i](std::optional<int> got) { EXPECT_EQ(got, i); }),
                         weft::on_send(answers, i, [](bool sent) { EXPECT_TRUE(sent); }));
        EXPECT_EQ(which, i % 3 == 0 ? 1u : 0u);
    }
    other.join();
}

TEST(CppBlocking, BringsBackWhatItReturnsAndThrows) {
    weft::runtime runtime{{.streams = 1}};
    EXPECT_EQ(weft::blocking([] { return std::string("there"); }), "there");
    EXPECT_THROW(weft::blocking([] { throw std::invalid_argument("thrown"); }), std::invalid_argument);
    EXPECT_EQ(weft::on_stream_stack([] { return std::make_unique<int>(4); }) != nullptr, true);
    EXPECT_THROW(weft::on_stream_stack([]() -> int { throw std::invalid_argument("thrown"); }), std::invalid_argument);
}

TEST(CppThread, IsJoinedUntilADeadline) {
    weft::runtime runtime{{.streams = 1}};
    weft::event stop;
    weft::thread thread([&] { stop.wait(); });
    EXPECT_FALSE(thread.try_join_for(2ms));
    EXPECT_FALSE(thread.try_join_until(std::chrono::system_clock::now() + 2ms));
    EXPECT_TRUE(thread.joinable());
    stop.set();
    EXPECT_TRUE(thread.try_join_for(1h));
    EXPECT_FALSE(thread.joinable());
}

TEST(CppTimer, FiresAndIsCancelled) {
    weft::runtime runtime{{.streams = 1}};
    int fired = 0;
    weft::timer timer([&] { ++fired; });
    timer.start(1ms);
    weft::this_thread::sleep_for(5ms);
    EXPECT_EQ(fired, 1);
    timer.start(1h);
    EXPECT_TRUE(timer.cancel());
    EXPECT_FALSE(timer.cancel());
    const auto time = std::chrono::system_clock::now() + 2ms;
    weft::this_thread::sleep_until(time);
    EXPECT_GE(std::chrono::system_clock::now(), time);
}

TEST(CppPoller, PollsAsLongAsItLives) {
    weft::runtime runtime{{.streams = 1}};
    int calls = 0;
    {
        weft::poller poller([&] {
            ++calls;
            return false;
        });
        weft::this_thread::sleep_for(5ms);
        EXPECT_GT(calls, 0);
    }
    const int after = calls;
    weft::this_thread::sleep_for(3ms);
    EXPECT_EQ(calls, after);
}

}   // namespace
