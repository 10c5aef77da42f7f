// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pollers, and calls that are posted to a stream.
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

struct Polled {
    atomic<int> calls{0};
    atomic<int> inside{0};
    atomic<bool> together{false};
    atomic<bool> found{false};

    static bool poll(void* raw) {
        auto* self = static_cast<Polled*>(raw);
        if (++self->inside > 1) self->together = true;
        ++self->calls;
        --self->inside;
        return self->found;
    }
};

weft_poller* add(bool (*fn)(void*), void* argument, const weft_poller_hint* hint = nullptr) {
    weft_poller* poller = nullptr;
    EXPECT_EQ(weft_poller_register(fn, argument, hint, &poller), WEFT_OK) << weft_error_text();
    return poller;
}

TEST(Poller, IsCalledWhileUnitsRunAtABoundedInterval) {
    Runtime runtime;
    Polled polled;
    weft_poller* poller = add(Polled::poll, &polled);
    atomic<bool> stop{false};
    Ult other([&] {
        while (!stop) weft_unit_yield();
    });
    weft_unit_yield();
    const int before = polled.calls;
    for (int i = 0; i < 64; ++i) weft_unit_yield();   // 128 rounds, with the other unit's
    EXPECT_GE(polled.calls, before + 7);
    EXPECT_LE(polled.calls, before + 9);
    stop = true;
    other.join();
    EXPECT_EQ(weft_poller_unregister(poller), WEFT_OK);
    const int after = polled.calls;
    for (int i = 0; i < 64; ++i) weft_unit_yield();
    EXPECT_EQ(polled.calls, after);
}

TEST(Poller, WakesWhatWaitsForItThoughAllAreIdle) {
    Runtime runtime(2);
    struct Source {
        weft_event event = WEFT_EVENT_INIT;
        atomic<bool> ready{false};
        atomic<int> calls{0};
    } source;
    weft_poller* poller = add(
        [](void* raw) {
            auto* from = static_cast<Source*>(raw);
            ++from->calls;
            return from->ready.exchange(false) && weft_event_set(&from->event, nullptr) == WEFT_OK;
        },
        &source);
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        source.ready = true;
    });
    EXPECT_EQ(weft_event_wait_until(&source.event, never_in_this_test(), nullptr), WEFT_OK);
    other.join();
    EXPECT_LT(source.calls, 3000) << "it backs off, up to 1 ms";
    EXPECT_EQ(weft_poller_unregister(poller), WEFT_OK);
}

TEST(Poller, WithADescriptorLetsIdleStreamsSleepAndWakesThem) {
    Runtime runtime(2);
    struct Source {
        int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        atomic<int> calls{0};
        weft_semaphore arrived = {};
    } source;
    weft_poller_hint hint{};
    hint.size = sizeof hint;
    hint.has_descriptor = true;
    hint.descriptor = source.descriptor;
    weft_poller* poller = add(
        [](void* raw) {
            auto* from = static_cast<Source*>(raw);
            ++from->calls;
            std::uint64_t count = 0;
            if (read(from->descriptor, &count, sizeof count) != sizeof count) return false;
            return weft_semaphore_release(&from->arrived, 1) == WEFT_OK;
        },
        &source, &hint);
    for (int i = 0; i < 5; ++i) {
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            const std::uint64_t one = 1;
            EXPECT_EQ(write(source.descriptor, &one, sizeof one), static_cast<ssize_t>(sizeof one));
        });
        EXPECT_EQ(weft_semaphore_acquire_until(&source.arrived, never_in_this_test()), WEFT_OK);
        other.join();
    }
    EXPECT_LT(source.calls, 500) << "nobody looks while nothing is ready";
    EXPECT_EQ(weft_poller_unregister(poller), WEFT_OK);
    close(source.descriptor);
}

TEST(Poller, OnlyWhenReadyIsNotCalledBefore) {
    Runtime runtime;
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    Polled polled;
    weft_poller_hint hint{};
    hint.size = sizeof hint;
    hint.has_descriptor = hint.only_when_ready = true;
    hint.descriptor = descriptor;
    weft_poller* poller = add(Polled::poll, &polled, &hint);
    Ult other([] {
        for (int i = 0; i < 200; ++i) weft_unit_yield();
    });
    for (int i = 0; i < 200; ++i) weft_unit_yield();
    EXPECT_EQ(polled.calls, 0);
    const std::uint64_t one = 1;
    ASSERT_EQ(write(descriptor, &one, sizeof one), static_cast<ssize_t>(sizeof one));
    until([&] { return polled.calls > 0; });
    EXPECT_EQ(weft_poller_unregister(poller), WEFT_OK);
    close(descriptor);
}

TEST(Poller, IsRunByOneStreamAtATime) {
    Runtime runtime(3);
    Polled polled;
    weft_poller* poller = add(Polled::poll, &polled);
    std::vector<std::unique_ptr<Ult>> all;
    for (std::size_t rank = 0; rank < 3; ++rank) {
        all.push_back(std::make_unique<Ult>(
            [] {
                for (int i = 0; i < 5000; ++i) weft_unit_yield();
            },
            nullptr, pool_of(rank)));
    }
    all.clear();
    EXPECT_FALSE(polled.together);
    EXPECT_GT(polled.calls, 10);
    EXPECT_EQ(weft_poller_unregister(poller), WEFT_OK);
}

TEST(Poller, MayRemoveItself) {
    Runtime runtime;
    struct Once {
        weft_poller* self = nullptr;
        atomic<int> calls{0};
    } once;
    once.self = add(
        [](void* raw) {
            auto* to = static_cast<Once*>(raw);
            if (to->self == nullptr) return false;
            ++to->calls;
            EXPECT_EQ(weft_poller_unregister(to->self), WEFT_OK);
            return true;
        },
        &once);
    until([&] { return once.calls == 1; });
    for (int i = 0; i < 200; ++i) weft_unit_yield();
    EXPECT_EQ(once.calls, 1);
}

// It is removed on one stream while it runs on another: the removal waits.
TEST(Poller, ThatRunsIsRemovedWhenItHasReturned) {
    Runtime runtime(2);
    struct Slow {
        atomic<bool> inside{false}, go_on{false}, returned{false};
    } slow;
    weft_poller* poller = add(
        [](void* raw) {
            auto* to = static_cast<Slow*>(raw);
            if (weft_stream_self() == weft_stream_at(0) || to->returned) return false;
            to->inside = true;
            while (!to->go_on) std::this_thread::yield();
            to->returned = true;
            return true;
        },
        &slow);
    Ult busy(
        [&] {
            while (!slow.returned) weft_unit_yield();
        },
        nullptr, pool_of(1));
    until_set(slow.inside);
    std::thread helper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        slow.go_on = true;
    });
    EXPECT_EQ(weft_poller_unregister(poller), WEFT_OK);
    EXPECT_TRUE(slow.returned);
    helper.join();
}

TEST(Poller, RefusesWhatMakesNoSense) {
    weft_poller* poller = nullptr;
    EXPECT_EQ(weft_poller_register(Polled::poll, nullptr, nullptr, &poller), WEFT_NOT_INITIALIZED);
    Runtime runtime;
    EXPECT_EQ(weft_poller_register(nullptr, nullptr, nullptr, &poller), WEFT_INVALID);
    EXPECT_EQ(weft_poller_unregister(nullptr), WEFT_INVALID);
    weft_poller_hint hint{};
    EXPECT_EQ(weft_poller_register(Polled::poll, nullptr, &hint, &poller), WEFT_INVALID) << "no size";
    hint.size = sizeof hint;
    hint.only_when_ready = true;
    EXPECT_EQ(weft_poller_register(Polled::poll, nullptr, &hint, &poller), WEFT_INVALID);
    hint.has_descriptor = true;
    hint.descriptor = -1;
    EXPECT_EQ(weft_poller_register(Polled::poll, nullptr, &hint, &poller), WEFT_INVALID);
    hint.descriptor = 900;
    EXPECT_EQ(weft_poller_register(Polled::poll, nullptr, &hint, &poller), WEFT_INVALID) << "it is not open";
}

// Waiting for a descriptor needs two more.
TEST(Poller, WithoutMoreDescriptorsIsRefusedByTheSystemAndNotForItsOwn) {
    Runtime runtime;
    Polled polled;
    const int own = eventfd(0, EFD_CLOEXEC);
    ASSERT_GE(own, 0);
    weft_poller_hint hint{};
    hint.size = sizeof hint;
    hint.has_descriptor = true;
    hint.descriptor = own;
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit none = before;
    none.rlim_cur = 0;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    weft_poller* poller = nullptr;
    const weft_status status = weft_poller_register(Polled::poll, &polled, &hint, &poller);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(status, WEFT_SYSTEM) << weft_error_text();
    EXPECT_EQ(poller, nullptr);
    EXPECT_EQ(weft_poller_register(Polled::poll, &polled, &hint, &poller), WEFT_OK) << weft_error_text();
    EXPECT_EQ(weft_poller_unregister(poller), WEFT_OK);
    close(own);
}

// ---- posts --------------------------------------------------------------------------------------

atomic<int> posted{0};
void count_post(void*) { ++posted; }

TEST(Post, IsCalledByThatStreamWhetherItRunsOrSleeps) {
    Runtime runtime(2);
    atomic<weft_stream*> ran_on{nullptr};
    auto note = [](void* raw) { static_cast<atomic<weft_stream*>*>(raw)->store(weft_stream_self()); };
    for (std::size_t rank : {0u, 1u}) {
        ran_on = nullptr;
        EXPECT_EQ(weft_stream_post(weft_stream_at(rank), note, &ran_on), WEFT_OK);
        until([&] { return ran_on.load() != nullptr; });
        EXPECT_EQ(ran_on, weft_stream_at(rank));
    }
    atomic<bool> stop{false};
    Ult busy([&] {
        while (!stop) weft_unit_yield();
    });
    ran_on = nullptr;
    std::thread other([&] { EXPECT_EQ(weft_stream_post(weft_stream_at(0), note, &ran_on), WEFT_OK); });
    while (ran_on.load() == nullptr) weft_unit_yield();
    other.join();
    stop = true;
}

TEST(Post, ToAStreamThatIsFreedIsStillCalled) {
    Runtime runtime;
    for (int i = 0; i < 20; ++i) {
        atomic<bool> called{false};
        Stream stream;
        EXPECT_EQ(weft_stream_post(
                      stream.handle(), [](void* raw) { static_cast<atomic<bool>*>(raw)->store(true); }, &called),
                  WEFT_OK);
        EXPECT_EQ(stream.free(), WEFT_OK);
        EXPECT_TRUE(called);
    }
}

TEST(Post, ComesInTheOrderOfItsSender) {
    Runtime runtime(2);
    static std::vector<std::size_t> order;
    order.clear();
    weft_stream* to = weft_stream_at(1);
    for (std::size_t i = 0; i < 1000; ++i) {
        auto note = [](void* which) { order.push_back(reinterpret_cast<std::size_t>(which)); };
        weft_status status;
        while ((status = weft_stream_post(to, note, reinterpret_cast<void*>(i))) == WEFT_BUSY)
            std::this_thread::yield();
        ASSERT_EQ(status, WEFT_OK);
    }
    atomic<bool> done{false};
    while (weft_stream_post(
               to, [](void* raw) { static_cast<atomic<bool>*>(raw)->store(true); }, &done) == WEFT_BUSY) {}
    until_set(done);
    ASSERT_EQ(order.size(), 1000u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Post, ToAStreamThatIsSuspendedWaitsUntilItGoesOn) {
    Runtime runtime(2);
    posted = 0;
    weft_stream* to = weft_stream_at(1);
    until_others_rest();
    EXPECT_EQ(weft_stream_suspend(to), WEFT_OK);
    weft_sleep_for(2 * ms);
    int taken = 0;
    while (weft_stream_post(to, count_post, nullptr) == WEFT_OK) ++taken;
    EXPECT_EQ(taken, 64) << "then it is full";
    EXPECT_EQ(weft_stream_resume(to), WEFT_OK);
    until([] { return posted == 64; });
    EXPECT_EQ(weft_stream_post(nullptr, count_post, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_stream_post(to, nullptr, nullptr), WEFT_INVALID);
}

TEST(Post, ComesFromASignalHandler) {
    Runtime runtime;
    posted = 0;
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = [](int) { weft_stream_post(weft_stream_at(0), count_post, nullptr); };
    sigaction(SIGUSR1, &action, &before);
    for (int i = 1; i <= 20; ++i) {
        raise(SIGUSR1);
        until([i] { return posted == i; });
    }
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(Post, ComesUnderASchedulerOfTheUsersToo) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    weft_sched_ops ops{};
    ops.size = sizeof ops;
    ops.run = [](void* raw, weft_sched* sched) {
        auto* from = static_cast<weft_pool*>(raw);
        while (!weft_sched_check_stop(sched)) {
            weft_unit* unit = nullptr;
            weft_pool_pop(from, &unit);
            if (unit != nullptr) {
                weft_sched_run_unit(sched, unit);
            } else {
                weft_sched_wait(sched);
            }
        }
    };
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create_user(&ops, pool, &pool, 1, &sched), WEFT_OK);
    {
        posted = 0;
        Stream stream(pool, sched);
        EXPECT_EQ(weft_stream_post(stream.handle(), count_post, nullptr), WEFT_OK);
        until([] { return posted == 1; });
        atomic<bool> stop{false};
        Ult busy(
            [&] {
                while (!stop) weft_unit_yield();
            },
            nullptr, pool);
        EXPECT_EQ(weft_stream_post(stream.handle(), count_post, nullptr), WEFT_OK);
        until([] { return posted == 2; });
        stop = true;
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

}   // namespace
