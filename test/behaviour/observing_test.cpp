// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Observers: who may be one, that they come and go while streams work, and that they receive
// nothing after they have gone.
#include <thread>

#include "observe/observe.hpp"
#include "process/stream.hpp"
#include "test/behaviour/notes.hpp"
#include "weft/trace.hpp"

using namespace weft_test;

TEST(Observing, EachIsToldOfWhatItWants) {
    Runtime runtime;
    Notes all, ends(WEFT_OBSERVED_FINISH | WEFT_OBSERVED_FREE);
    weft_unit* unit = spawn(nothing);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(all.life(unit), "csfjx");
    EXPECT_EQ(ends.life(unit), "fx");
    all.stop();
    EXPECT_EQ(weft_unit_join_free(spawn(nothing)), WEFT_OK);
    EXPECT_EQ(all.life(unit), "csfjx");
    EXPECT_GE(ends.count(), 4u);
}

TEST(Observing, WhatIsNotLegalIsRefusedWithAReason) {
    weft_observer* observer = nullptr;
    weft_observer_options options{};
    options.size = sizeof options;
    options.events = WEFT_OBSERVED_ALL;
    options.call = [](const weft_observation*, void*) {};
    EXPECT_EQ(weft_observer_register(&options, &observer), WEFT_NOT_INITIALIZED);
    Runtime runtime;
    EXPECT_EQ(weft_observer_register(nullptr, &observer), WEFT_INVALID);
    EXPECT_EQ(weft_observer_register(&options, nullptr), WEFT_INVALID);
    for (const unsigned events : {0u, 4096u, ~0u}) {
        options.events = events;
        EXPECT_EQ(weft_observer_register(&options, &observer), WEFT_INVALID);
        EXPECT_NE(std::string(weft_error_text()).find("WEFT_OBSERVED_ALL"), std::string::npos) << weft_error_text();
    }
    options.events = WEFT_OBSERVED_ALL;
    options.size = 3;
    EXPECT_EQ(weft_observer_register(&options, &observer), WEFT_INVALID);
    options.size = sizeof options;
    options.call = nullptr;
    EXPECT_EQ(weft_observer_register(&options, &observer), WEFT_INVALID);
    EXPECT_EQ(weft_observer_unregister(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_observer_unregister(reinterpret_cast<weft_observer*>(&options)), WEFT_INVALID);
}

TEST(Observing, AnObserverCannotAddOrRemoveObservers) {
    Runtime runtime(2);
    struct Self {
        weft_observer* observer = nullptr;
        atomic<int> refused{0};
    } self;
    weft_observer_options options{};
    options.size = sizeof options;
    options.events = WEFT_OBSERVED_CREATE;
    options.argument = &self;
    options.call = [](const weft_observation*, void* raw) {
        auto& of = *static_cast<Self*>(raw);
        weft_observer_options more{};
        more.size = sizeof more;
        more.events = WEFT_OBSERVED_CREATE;
        more.call = [](const weft_observation*, void*) {};
        weft_observer* another = nullptr;
        if (weft_observer_register(&more, &another) == WEFT_WRONG_CONTEXT) ++of.refused;
        if (weft_observer_unregister(of.observer) == WEFT_WRONG_CONTEXT) ++of.refused;
    };
    EXPECT_EQ(weft_observer_register(&options, &self.observer), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(spawn(nothing)), WEFT_OK);
    EXPECT_EQ(self.refused, 2);
    std::thread([] { EXPECT_EQ(weft_unit_join_free(spawn(nothing)), WEFT_OK); }).join();
    EXPECT_EQ(self.refused, 4);
    EXPECT_EQ(weft_observer_unregister(self.observer), WEFT_OK);
}

TEST(Observing, ErrnoStaysAsItWas) {
    Runtime runtime;
    Notes notes;
    weft_unit* unit = spawn([](void*) {
        const int fresh = errno;
        EXPECT_EQ(fresh, 0);
        errno = 5;
        weft_unit_yield();
        const int kept = errno;
        EXPECT_EQ(kept, 5);
    });
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(notes.life(unit), "csyrfjx");
}

TEST(Observing, AfterTheLastHasGoneNothingIsToldAndTheShortWaysAreBack) {
    Runtime runtime;
    Notes notes;
    Bed bed;
    weft_unit* unit = spawn(sleep_in, &bed);
    until([&] { return bed.occupied(); });
    const weft::Stream& stream = weft::current();
    EXPECT_EQ(stream.spawning.tasklet_home.pool, weft::Spawning::nowhere());
    const std::size_t before = notes.count();
    notes.stop();
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(spawn(yield_once)), WEFT_OK);
    EXPECT_EQ(notes.count(), before);
    EXPECT_EQ(stream.spawning.tasklet_home.pool, stream.direct);
    EXPECT_EQ(stream.spawning.ult_home.pool, stream.direct);
    EXPECT_FALSE(stream.wanted());
    EXPECT_FALSE(weft::initial_headers.of(weft::Kind::lsa, true).marks.any());
    EXPECT_FALSE(stream.loop.attended.has(weft::attention::observing));
}

TEST(Observing, OtherStreamsAreObservedFromTheirNextSwitchOn) {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;
    Runtime runtime(settings);
    until_others_rest();
    for (int round = 0; round < 20; ++round) {
        Notes notes;
        weft_unit* unit =
            spawn([](void*) { EXPECT_EQ(weft_unit_join_free(spawn(nothing)), WEFT_OK); }, nullptr, pool_of(1));
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        notes.stop();
        EXPECT_EQ(notes.lives(), (std::vector<std::string>{"csfjx", "cswrfjx"}));
        EXPECT_EQ(weft_unit_join_free(spawn(yield_once, nullptr, pool_of(1))), WEFT_OK);
    }
}

TEST(Observing, WhoRemovesOneWaitsForItsCallsToReturn) {
    Runtime runtime(2);
    struct Slow {
        atomic<bool> inside{false}, removing{false};
    } slow;
    weft_observer_options options{};
    options.size = sizeof options;
    options.events = WEFT_OBSERVED_START;
    options.argument = &slow;
    options.call = [](const weft_observation*, void* raw) {
        auto& of = *static_cast<Slow*>(raw);
        of.inside = true;
        while (!of.removing) std::this_thread::yield();
        for (int i = 0; i < 1000; ++i) std::this_thread::yield();
        of.inside = false;
    };
    for (const bool from_outside : {false, true}) {
        slow.removing = false;
        weft_observer* observer = nullptr;
        EXPECT_EQ(weft_observer_register(&options, &observer), WEFT_OK);
        weft_unit* unit = nullptr;
        auto how = weft_test::options();
        how.stream = weft_stream_at(1);
        how.bound = true;
        EXPECT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &how, &unit), WEFT_OK) << weft_error_text();
        while (!slow.inside) std::this_thread::yield();
        auto remove = [&] {
            slow.removing = true;
            EXPECT_EQ(weft_observer_unregister(observer), WEFT_OK);
            EXPECT_FALSE(slow.inside);
        };
        if (from_outside) {
            std::thread(remove).join();
        } else {
            remove();
        }
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
}

// Streams work while observers come and go: every event of a unit fits the earlier events of that
// unit.
TEST(Observing, ComeAndGoWhileStreamsWork) {
    Runtime runtime(4);
    atomic<bool> stop{false};
    auto work = [](void* raw) {
        while (!static_cast<atomic<bool>*>(raw)->load()) {
            weft_unit* units[8];
            EXPECT_EQ(weft_unit_spawn_many(nullptr, 4, yield_once, nullptr, nullptr, units), WEFT_OK);
            for (int i = 4; i < 8; ++i) units[i] = i % 2 == 0 ? spawn(nothing) : spawn_tasklet(nothing);
            EXPECT_EQ(weft_unit_join_free_many(units, 8), WEFT_OK);
            std::this_thread::yield();   // so that the primary unit's stream gets a turn
        }
    };
    std::vector<weft_unit*> workers;
    for (int i = 0; i < 4; ++i) workers.push_back(spawn(work, &stop));
    std::thread outside([&] {
        while (!stop) {
            weft_unit* unit = spawn(nothing);
            EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        }
    });
    for (int round = 0; round < 20; ++round) {
        Notes notes;
        Notes second(WEFT_OBSERVED_YIELD);
        std::size_t enough = 200;
        until([&] {
            if (notes.count() < enough) return false;
            enough += 200;
            for (const std::string& life : notes.lives()) {
                if (life.back() == 'x') return true;
            }
            return false;
        });
        second.stop();
        notes.stop();
        const std::size_t told = notes.count();
        for (const std::string& life : notes.lives()) {
            const std::string rest = without_pairs(life, {"wr", "yr"});
            // a whole life, or the beginning of one
            EXPECT_TRUE(std::string("csfjx").find(rest) == 0 || rest == "csw" || rest == "csy") << life;
        }
        weft_unit_yield();
        EXPECT_EQ(notes.count(), told);
    }
    stop = true;
    outside.join();
    for (weft_unit* unit : workers) EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
}

TEST(Observing, InCppTheyLiveAsLongAsTheirObject) {
    Runtime runtime;
    atomic<int> created{0};
    {
        weft::observer first(WEFT_OBSERVED_CREATE, [&](const weft_observation&) noexcept { ++created; });
        weft::observer second(std::move(first));
        EXPECT_EQ(weft_unit_join_free(spawn(nothing)), WEFT_OK);
    }
    EXPECT_EQ(created, 1);
    EXPECT_EQ(weft_unit_join_free(spawn(nothing)), WEFT_OK);
    EXPECT_EQ(created, 1);
    EXPECT_THROW(weft::observer(0, [](const weft_observation&) noexcept {}), weft::error);
}
