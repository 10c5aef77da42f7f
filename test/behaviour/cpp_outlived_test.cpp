// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects that outlive their runtime.
#include <csignal>
#include <memory>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

namespace {

constexpr weft::settings one_stream{.streams = 1};

// Calls use(object) after the end of the runtime in which make() has made the object.
template <class Make, class Use>
void after_the_runtime(Make make, Use use) {
    std::unique_ptr<decltype(make())> object;   // with std::optional, gcc warns of an uninitialized use
    {
        const weft::runtime runtime(one_stream);
        object = std::make_unique<decltype(make())>(make());
    }
    use(object);
}

constexpr auto destroy = [](auto& object) { object.reset(); };

TEST(CppOutlivedDeath, AThreadSaysSoWithItsUnitAndWhatToDoAndTerminates) {
    const auto named = [] { return weft::thread({.name = "late"}, [] {}); };
    EXPECT_EXIT(after_the_runtime(named, destroy), testing::KilledBySignal(SIGABRT),
                "weft: a weft::thread or weft::tasklet is used whose runtime has ended, with its unit [0-9]+ 'late': "
                "join or destroy it before");
    EXPECT_EXIT(after_the_runtime(named, [](auto& object) { object->join(); }), testing::KilledBySignal(SIGABRT),
                "'late': join or destroy it before");
    EXPECT_EXIT(after_the_runtime([] { return weft::tasklet([] {}); }, destroy), testing::KilledBySignal(SIGABRT),
                "unit [0-9]+: join or destroy it before");
}

TEST(CppOutlivedDeath, SoDoesAGroup) {
    EXPECT_EXIT(after_the_runtime([] { return weft::spawn_many(3, [] {}); }, destroy), testing::KilledBySignal(SIGABRT),
                "weft: a weft::thread_group .* unit [0-9]+");
}

TEST(CppOutlived, AThreadThatWasJoinedIsNobodysBusiness) {
    after_the_runtime(
        [] {
            weft::thread thread([] {});
            thread.join();
            return thread;
        },
        destroy);
    after_the_runtime(
        [] {
            weft::thread thread([] {});
            thread.detach();
            return thread;
        },
        destroy);
}

TEST(CppOutlived, WhatHasGoneWithTheRuntimeIsNotFreedAgain) {
    after_the_runtime([] { return weft::pool(weft::pool_kind::shared_fifo); }, destroy);
    after_the_runtime([] { return weft::pool(weft::pool_kind::private_fifo); },
                      [](auto& pool) {
                          EXPECT_THROW(pool->close(), weft::error);
                          EXPECT_EQ(weft_pool_free(pool->native_handle()), WEFT_NOT_INITIALIZED);
                      });
    after_the_runtime(
        [] {
            static weft::pool pool;
            pool = weft::pool(weft::pool_kind::shared_fifo);
            return weft::scheduler(weft::scheduler_kind::basic, {pool});
        },
        destroy);
    after_the_runtime([] { return weft::stream(); }, destroy);
    after_the_runtime([] { return weft::arena(2); }, destroy);
    after_the_runtime([] { return std::make_unique<weft::channel<int>>(3); }, destroy);
}

TEST(CppOutlived, LocksAndEventsWorkOnWithoutARuntime) {
    weft::mutex mutex;
    weft::event event;
    {
        const weft::runtime runtime(one_stream);
        weft::thread([&] {
            mutex.lock();
            mutex.unlock();
            event.set();
        }).join();
    }
    mutex.lock();
    mutex.unlock();
    event.wait();
}

}   // namespace
