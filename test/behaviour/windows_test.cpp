// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The race windows, forced: a probe stops one side inside its window until the other has done its
// step. A release build has no probes; the same scenarios run unforced there, and the last test
// checks that nothing ever stopped.
#include <thread>
#include <vector>

#include <weft/domain.h>
#include <weft/embed/hosted.h>

#include "pool/deque.hpp"
#include "process/stream.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/windows.hpp"
#include "test/stress/stress.hpp"

using namespace weft_test;

namespace {

class Windows : public testing::Test {
protected:
    void TearDown() override { weft::probe_hook.store(nullptr); }
};

// Destroys what lies below on the calling unit's stack, as the unit's next calls would.
[[gnu::noinline]] void scribble() {
    volatile char waste[8192];
    for (std::size_t i = 0; i < sizeof waste; ++i) waste[i] = 0x5a;
}

bool ended(const Ult& unit) { return weft_unit_try_join(unit.handle()) == WEFT_OK; }

// A stream that draws from `pool` alone.
class Drawer {
public:
    explicit Drawer(weft_pool* pool) {
        weft_stream_options chosen{};
        chosen.size = sizeof chosen;
        chosen.pool = pool;
        EXPECT_EQ(weft_stream_create(&chosen, &stream_), WEFT_OK) << weft_error_text();
    }
    ~Drawer() {
        if (stream_ != nullptr) free();
    }
    Drawer(const Drawer&) = delete;
    weft_stream* handle() const { return stream_; }
    void free() { EXPECT_EQ(weft_stream_join_free(std::exchange(stream_, nullptr)), WEFT_OK) << weft_error_text(); }

private:
    weft_stream* stream_ = nullptr;
};

weft_pool* make_pool(weft_pool_kind kind) {
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_pool_create(kind, &pool), WEFT_OK);
    return pool;
}

}   // namespace

// ---- suspend and resume -------------------------------------------------------------------------

TEST_F(Windows, ResumeBeforeTheSuspensionIsAStatus) {
    Runtime runtime(streams_with(2, WEFT_POOL_PRIVATE));
    atomic<bool> running{false}, go{false};
    Ult unit(
        [&] {
            EXPECT_EQ(weft_unit_resume(weft_unit_self()), WEFT_WRONG_STATE);
            running = true;
            while (!go) std::this_thread::yield();
            EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_OK);
        },
        nullptr, pool_of(1));
    must_happen("the unit runs", [&] { return running.load(); });
    EXPECT_EQ(weft_unit_resume(unit.handle()), WEFT_WRONG_STATE);
    go = true;
    must_happen("it can be resumed", [&] { return weft_unit_resume(unit.handle()) == WEFT_OK; });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(weft_unit_resume(unit.handle()), WEFT_WRONG_STATE) << "it has ended";
}

// Any holder of the handle may resume the unit as soon as it is suspended: between the saving of
// its context and the call of publish. The unit then runs on another stream and uses its stack,
// while this stream has still to call publish.
TEST_F(Windows, AResumeBetweenTheSavedContextAndPublishFindsAWholeUnit) {
    Runtime runtime(streams_with(1, WEFT_POOL_PRIVATE));
    weft_pool* common = make_pool(WEFT_POOL_SHARED);
    static atomic<int> published;
    for (const bool with_publish : {false, true}) {
        published = 0;
        Drawer one(common);
        Stop stop(Probe::suspend_before_publish, one.handle());
        atomic<bool> resumed{false};
        Ult unit(
            [&] {
                void (*count)(weft_unit*, void*) = [](weft_unit*, void*) { published.fetch_add(1); };
                weft_unit_suspend(with_publish ? count : nullptr, nullptr);
                scribble();
                resumed = true;
            },
            nullptr, common);
        stop.await();
        Drawer other(common);
        must_happen("it can be resumed", [&] { return weft_unit_resume(unit.handle()) == WEFT_OK; });
        must_happen("it runs while the first stream stands", [&] { return resumed.load(); });
        EXPECT_EQ(unit.join(), WEFT_OK);
        stop.let_go();
        must_happen("publish is called", [&] { return published == (with_publish ? 1 : 0); });
    }
    EXPECT_EQ(weft_pool_free(common), WEFT_OK);
}

// A unit is enrolled with the object that it waits for before it leaves: a thread that reaches the
// object meanwhile waits until the unit's context is saved.
TEST_F(Windows, AnEventIsNotSetWhileItsWaiterLeaves) {
    Runtime runtime(streams_with(1, WEFT_POOL_PRIVATE));
    weft_pool* common = make_pool(WEFT_POOL_SHARED);
    {
        Drawer one(common);
        weft_event event = WEFT_EVENT_INIT;
        Stop leaving(Probe::suspend_before_publish, one.handle());
        Ult unit(
            [&] {
                void* value = nullptr;
                EXPECT_EQ(weft_event_wait(&event, &value), WEFT_OK);
                scribble();
                EXPECT_EQ(value, &event);
            },
            nullptr, common);
        leaving.await();
        Stop comes(Probe::word_busy, nullptr);
        atomic<bool> set{false};
        std::thread setter([&] {
            EXPECT_EQ(weft_event_set(&event, &event), WEFT_OK);
            set = true;
        });
        comes.await();
        EXPECT_TRUE(!forced || !set);
        comes.let_go();
        leaving.let_go();
        setter.join();
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(common), WEFT_OK);
}

// A unit that passes its mutex and its stream to the next one is enrolled with its condition before
// it leaves: a signal meets it only once it has left.
TEST_F(Windows, ASignalDoesNotMeetOneThatPassesItsMutexOn) {
    Runtime runtime(streams_with(1, WEFT_POOL_PRIVATE));
    weft_pool* common = make_pool(WEFT_POOL_SHARED);
    {
        weft_mutex mutex = WEFT_MUTEX_INIT;
        weft_cond changed = WEFT_COND_INIT;
        atomic<int> waiting{0};
        atomic<bool> passed{false};
        Drawer one(common);
        Ult first(
            [&] {
                EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
                waiting = 1;
                EXPECT_EQ(weft_cond_wait(&changed, &mutex), WEFT_OK);
                passed = true;
                EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
            },
            nullptr, common);
        // so that the unit does leave, and does not poll instead
        Ult busy(
            [&] {
                while (!passed) weft_unit_yield();
            },
            nullptr, common);
        must_happen("the first waits", [&] {
            if (waiting == 0 || weft_mutex_try_lock(&mutex) != WEFT_OK) return false;
            EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
            return true;
        });
        atomic<bool> go{false};
        Ult second(
            [&] {
                while (!go) weft_unit_yield();
                EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
                EXPECT_EQ(weft_cond_signal(&changed), WEFT_OK);
                EXPECT_EQ(weft_cond_wait(&changed, &mutex), WEFT_OK);
                scribble();
                EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
            },
            nullptr, common);
        Stop leaving(Probe::suspend_before_publish, one.handle());
        go = true;
        leaving.await();
        Stop comes(Probe::word_busy, nullptr);
        std::thread signaller([&] { EXPECT_EQ(weft_cond_signal(&changed), WEFT_OK); });
        comes.await();
        EXPECT_TRUE(!forced || !passed);
        comes.let_go();
        leaving.let_go();
        signaller.join();
        EXPECT_EQ(first.join(), WEFT_OK);
        // A signal that came before the second unit waited has met no waiter.
        must_happen("the second is woken", [&] {
            EXPECT_EQ(weft_cond_signal(&changed), WEFT_OK);
            return ended(second);
        });
        EXPECT_EQ(busy.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(common), WEFT_OK);
}

TEST_F(Windows, AUnitMayBeResumedAndFreedBeforePublishReturns) {
    Runtime runtime(streams_with(1, WEFT_POOL_PRIVATE));
    weft_pool* common = make_pool(WEFT_POOL_SHARED);
    {
        Drawer one(common);
        Stop stop(Probe::suspend_after_publish, one.handle());
        static atomic<weft_unit*> found;
        found = nullptr;
        Ult unit(
            [] {
                weft_unit_suspend([](weft_unit* self, void*) { found = self; }, nullptr);
                scribble();
            },
            nullptr, common);
        stop.await();
        must_happen("it is published", [] { return found.load() != nullptr; });
        Drawer other(common);
        EXPECT_EQ(weft_unit_resume(found), WEFT_OK);
        EXPECT_EQ(unit.free(), WEFT_OK);
        // The unit's memory is reused before publish has returned.
        for (int i = 0; i < 10; ++i) Ult next([] { scribble(); }, nullptr, common);
        stop.let_go();
    }
    EXPECT_EQ(weft_pool_free(common), WEFT_OK);
}

TEST_F(Windows, OfManyThatResumeAtOnceOneSucceedsEachTime) {
    constexpr int rounds = weft::config::thread_sanitizer ? 300 : 2000;
    Runtime runtime(streams_with(2, WEFT_POOL_PRIVATE));
    atomic<int> resumes{0};
    atomic<bool> over{false};
    int suspensions = 0;
    Ult unit(
        [&] {
            for (; suspensions < rounds; ++suspensions) EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_OK);
        },
        nullptr, pool_of(1));
    std::vector<std::thread> wakers;
    for (int i = 0; i < 3; ++i) {
        wakers.emplace_back([&] {
            while (!over) {
                if (weft_unit_resume(unit.handle()) == WEFT_OK) resumes.fetch_add(1);
                std::this_thread::yield();
            }
        });
    }
    EXPECT_EQ(unit.join(), WEFT_OK);
    over = true;
    for (auto& waker : wakers) waker.join();
    EXPECT_EQ(suspensions, rounds);
    EXPECT_EQ(resumes, rounds);
}

// A unit that waits alternately for any resume and for another unit's end: a resume that read the
// first wait and acts upon the second would end the join too early.
TEST_F(Windows, AResumeThatComesLateDoesNotEndAJoin) {
    constexpr int rounds = weft::config::thread_sanitizer ? 200 : 1500;
    Runtime runtime(streams_with(3, WEFT_POOL_PRIVATE));
    atomic<bool> over{false};
    atomic<int> early{0};
    Ult unit(
        [&] {
            for (int i = 0; i < rounds; ++i) {
                weft_unit_suspend(nullptr, nullptr);
                atomic<bool> child_over{false};
                Ult child(
                    [&] {
                        for (int step = 0; step < 3; ++step) std::this_thread::yield();
                        child_over = true;
                    },
                    nullptr, pool_of(2));
                EXPECT_EQ(child.join(), WEFT_OK);
                if (!child_over) early.fetch_add(1);
            }
        },
        nullptr, pool_of(1));
    std::vector<std::thread> wakers;
    for (int i = 0; i < 2; ++i) {
        wakers.emplace_back([&] {
            while (!over) {
                weft_unit_resume(unit.handle());
                std::this_thread::yield();
            }
        });
    }
    EXPECT_EQ(unit.join(), WEFT_OK);
    over = true;
    for (auto& waker : wakers) waker.join();
    EXPECT_EQ(early, 0);
}

// ---- join and finish ----------------------------------------------------------------------------

TEST_F(Windows, AFinishBetweenNotDoneAndTheAnnouncementIsSeen) {
    Runtime runtime(streams_with(2, WEFT_POOL_SHARED));
    atomic<bool> go{false};
    Ult target(
        [&] {
            while (!go) std::this_thread::yield();
        },
        nullptr, pool_of(1));
    Stop stop(Probe::join_before_announce, carrier(0));
    std::thread director([&] {
        stop.await();
        go = true;
        must_happen("the target ends", [&] { return ended(target); });
        stop.let_go();
    });
    EXPECT_EQ(target.join(), WEFT_OK);
    director.join();
}

TEST_F(Windows, AFinishBetweenNotDoneAndAnOsThreadsAnnouncementIsSeen) {
    Runtime runtime(streams_with(2, WEFT_POOL_SHARED));
    atomic<bool> go{false};
    Ult target(
        [&] {
            while (!go) std::this_thread::yield();
        },
        nullptr, pool_of(1));
    Stop stop(Probe::join_before_announce, nullptr);
    std::thread joiner([&] { EXPECT_EQ(target.join(), WEFT_OK); });
    stop.await();
    go = true;
    must_happen("the target ends", [&] { return ended(target); });
    stop.let_go();
    joiner.join();
}

TEST_F(Windows, AnEndBetweenTheFirstJoinerAndASecondOneIsSeenByBoth) {
    Runtime runtime(streams_with(2, WEFT_POOL_SHARED));
    atomic<bool> go{false};
    Ult target(
        [&] {
            while (!go) std::this_thread::yield();
        },
        nullptr, pool_of(1));
    Ult first([&] { EXPECT_EQ(target.join(), WEFT_OK); }, nullptr, pool_of(0));
    must_happen("the first waits", [&] {
        weft_unit_yield();
        return first.state() == WEFT_UNIT_SUSPENDED;
    });
    Stop stop(Probe::join_before_crowd, nullptr);
    std::thread second([&] { EXPECT_EQ(target.join(), WEFT_OK); });
    stop.await();
    go = true;
    must_happen("the target ends", [&] { return ended(target); });
    stop.let_go();
    EXPECT_EQ(first.join(), WEFT_OK);
    second.join();
}

TEST_F(Windows, OneOfSeveralJoinersMayLeaveWhileTheEndFindsThem) {
    Runtime runtime(streams_with(2, WEFT_POOL_SHARED));
    atomic<bool> go{false};
    atomic<int> waits{0}, told{0};
    Ult target(
        [&] {
            while (!go) std::this_thread::yield();
        },
        nullptr, pool_of(1));
    std::vector<std::thread> joiners;
    const std::uint64_t deadline = weft_now_ns() + 30'000'000;
    for (int place = 0; place < 3; ++place) {
        joiners.emplace_back([&, place] {
            ++waits;
            const weft_status status = place == 1 ? weft_unit_join_until(target.handle(), deadline) : target.join();
            EXPECT_TRUE(status == WEFT_OK || (place == 1 && status == WEFT_TIMED_OUT)) << weft_status_name(status);
            ++told;
        });
        while (waits != place + 1) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    Stop stop(Probe::finish_before_crowd, carrier(1));
    go = true;
    stop.await();
    must_happen("the one with a deadline leaves", [&] { return !forced || told == 1; });
    stop.let_go();
    for (std::thread& joiner : joiners) joiner.join();
    EXPECT_EQ(told, 3);
    EXPECT_EQ(target.join(), WEFT_OK);
}

TEST_F(Windows, AJoinerThatAnnouncesBeforeTheEndIsPublishedIsWoken) {
    for (const weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        Runtime runtime(streams_with(3, kind));
        Stop stop(Probe::finish_before_publish, carrier(1));
        Ult target([] {}, nullptr, pool_of(1));
        stop.await();
        Ult joiner([&] { EXPECT_EQ(target.join(), WEFT_OK); }, nullptr, pool_of(2));
        must_happen("the joiner waits", [&] { return !forced || joiner.state() == WEFT_UNIT_SUSPENDED; });
        if (forced) {
            EXPECT_EQ(weft_unit_try_join(target.handle()), WEFT_BUSY);
        }
        stop.let_go();
        EXPECT_EQ(joiner.join(), WEFT_OK);
    }
}

TEST_F(Windows, ARemoteCallThatComesAfterTheEndIsAnswered) {
    Runtime runtime(streams_with(3, WEFT_POOL_PRIVATE));
    atomic<bool> running{false}, go{false};
    Ult target(
        [&] {
            running = true;
            while (!go) std::this_thread::yield();
        },
        nullptr, pool_of(1));
    must_happen("the target runs", [&] { return running.load(); });
    Ult joiner([&] { EXPECT_EQ(target.join(), WEFT_OK); }, nullptr, pool_of(2));
    // Its announcement is in the inbox of stream 1, which runs the target.
    must_happen("the joiner waits", [&] { return joiner.state() == WEFT_UNIT_SUSPENDED; });
    must_happen("its remote call is sent", [&] {
        std::size_t length = 0;
        EXPECT_EQ(weft_pool_length_get(pool_of(1), &length), WEFT_OK);
        return length != 0;
    });
    go = true;
    EXPECT_EQ(joiner.join(), WEFT_OK);
}

TEST_F(Windows, ARemoteCallThatComesBeforeTheEndIsPublishedIsAnswered) {
    Runtime runtime(streams_with(3, WEFT_POOL_PRIVATE));
    Stop stop(Probe::finish_before_publish, carrier(1));
    Ult target([] {}, nullptr, pool_of(1));
    stop.await();
    Ult joiner([&] { EXPECT_EQ(target.join(), WEFT_OK); }, nullptr, pool_of(2));
    must_happen("the joiner waits", [&] { return !forced || joiner.state() == WEFT_UNIT_SUSPENDED; });
    stop.let_go();
    EXPECT_EQ(joiner.join(), WEFT_OK);
    std::thread outside([&] { EXPECT_EQ(target.join(), WEFT_OK); });
    outside.join();
}

TEST_F(Windows, AUnitDetachedBeforeItsEndIsPublishedFreesItself) {
    for (const weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_PRIVATE}) {
        Runtime runtime(streams_with(2, kind));
        Stop stop(Probe::finish_before_publish, carrier(1));
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      pool_of(1), [](void*) {}, nullptr, nullptr, &unit),
                  WEFT_OK);
        stop.await();
        EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
        stop.let_go();
        must_happen("it is freed", [] { return units_alive() == 1; });   // the primary unit
    }
}

TEST_F(Windows, APoolIsFreedBeforeTheOneThatPushedItsLastUnitHasRung) {
    for (const weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_PRIVATE, WEFT_POOL_DEQUE}) {
        Runtime runtime(streams_with(2, WEFT_POOL_SHARED));
        weft_pool* pool = make_pool(kind);
        Drawer drawer(pool);
        atomic<bool> go{false};
        Ult target(
            [&] {
                while (!go) std::this_thread::yield();
            },
            nullptr, pool_of(1));
        Ult joiner([&] { EXPECT_EQ(target.join(), WEFT_OK); }, nullptr, pool);
        must_happen("the joiner waits", [&] { return joiner.state() == WEFT_UNIT_SUSPENDED; });
        atomic<bool> runs{false}, over{false};
        Ult busy(
            [&] {   // keeps the stream awake: it finds the joiner without being woken
                for (runs = true; !over;) weft_unit_yield();
            },
            nullptr, pool);
        must_happen("the joiner's stream has announced it, and goes on", [&] { return runs.load(); });
        Stop stop(Probe::push_before_wake, carrier(1));
        go = true;   // the target ends, and pushes its joiner to the pool
        stop.await();
        must_happen("the joiner has ended", [&] { return ended(joiner); });
        over = true;
        EXPECT_EQ(joiner.free(), WEFT_OK);
        EXPECT_EQ(busy.free(), WEFT_OK);
        drawer.free();
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
        weft_pool* next = make_pool(kind);   // and the pool is another's already
        stop.let_go();
        EXPECT_EQ(target.free(), WEFT_OK);
        Drawer again(next);
        Ult unit([] {}, nullptr, next);
        EXPECT_EQ(unit.free(), WEFT_OK);
        again.free();
        EXPECT_EQ(weft_pool_free(next), WEFT_OK);
    }
}

TEST_F(Windows, AGroupIsWokenWhenUnitsEndWhileItAnnouncesItself) {
    Runtime runtime(streams_with(3, WEFT_POOL_SHARED));
    atomic<bool> go{false};
    std::vector<std::unique_ptr<Ult>> made;
    std::vector<weft_unit*> units;
    for (int i = 0; i < 4; ++i) {
        made.push_back(std::make_unique<Ult>(
            [&] {
                while (!go) std::this_thread::yield();
            },
            nullptr, pool_of(1)));
        units.push_back(made.back()->handle());
    }
    Stop stop(Probe::join_before_announce, carrier(2));
    Ult joiner([&] { EXPECT_EQ(weft_unit_join_many(units.data(), units.size()), WEFT_OK); }, nullptr, pool_of(2));
    stop.await();
    go = true;   // all of them end before the first is announced to
    for (auto& unit : made) must_happen("it ends", [&] { return ended(*unit); });
    stop.let_go();
    EXPECT_EQ(joiner.join(), WEFT_OK);
}

// ---- sleep and wake -----------------------------------------------------------------------------

namespace {

// Waits until stream 1, the only other stream, sleeps, past all probes: a Stop that is made now
// does not catch it on its way there.
void other_sleeps() {
    must_happen("the other stream sleeps",
                [] { return counter("/streams{stream#1}/count/slept") > 0 && counter("/harts/count/granted") == 1; });
}

// Sends a unit to a stream that sleeps, so that the stream passes `where` once more and is stopped
// there. The unit's end is polled here: a join that just misses the end would send a remote call to
// the stopped stream.
void nudge(weft_pool* pool, Stop& where) {
    Ult unit([] {}, nullptr, pool);
    must_happen("the unit that wakes the stream ends", [&] { return ended(unit); });
    EXPECT_EQ(unit.join(), WEFT_OK);
    where.await();
}

// Stream 1 is stopped at `where` on its way to sleep; a unit is pushed to its pool, and a sleeper
// is woken; then the stream goes on.
void push_on_the_way_to_sleep(weft_pool_kind kind, Probe where) {
    Runtime runtime(streams_with(2, kind));
    for (int round = 0; round < 3; ++round) {
        other_sleeps();
        Stop stop(where, carrier(1));
        nudge(pool_of(1), stop);
        atomic<bool> ran{false};
        Ult unit([&] { ran = true; }, nullptr, pool_of(1));
        stop.let_go();
        must_happen("the unit runs on the stream that was about to sleep", [&] { return ran.load(); });
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
}

}   // namespace

TEST_F(Windows, APushBetweenTheAnnouncedSleepAndTheSecondLookIsNotLost) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        push_on_the_way_to_sleep(kind, Probe::sleep_before_recheck);
    }
}

TEST_F(Windows, APushBetweenTheSecondLookAndTheWaitIsNotLost) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        push_on_the_way_to_sleep(kind, Probe::sleep_before_wait);
    }
}

// The pusher is stopped between its push and its wake while the stream falls asleep for good, or
// runs the unit without the wake.
TEST_F(Windows, AStreamThatFallsAsleepBetweenPushAndRingRunsTheUnit) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        Runtime runtime(streams_with(2, kind));
        weft_pool* target = pool_of(1);
        for (const Probe where : {Probe::sleep_before_recheck, Probe::sleep_before_wait}) {
            other_sleeps();
            Stop sleeper(where, carrier(1));
            nudge(target, sleeper);
            Stop pusher(Probe::push_before_wake, nullptr);
            atomic<bool> ran{false};
            std::unique_ptr<Ult> unit;
            std::thread outside([&] { unit = std::make_unique<Ult>([&] { ran = true; }, nullptr, target); });
            pusher.await();
            sleeper.let_go();
            // Stopped before its second check, the stream finds the unit; after it, it sleeps on
            // until it is woken.
            if (forced && where == Probe::sleep_before_recheck)
                must_happen("the unit runs unrung", [&] { return ran.load(); });
            pusher.let_go();
            outside.join();
            must_happen("the unit runs", [&] { return ran.load(); });
            EXPECT_EQ(unit->join(), WEFT_OK);
        }
    }
}

TEST_F(Windows, AStopThatComesOnTheWayToSleepEndsTheStream) {
    for (const Probe where : {Probe::sleep_before_recheck, Probe::sleep_before_wait}) {
        Runtime runtime(streams_with(1, WEFT_POOL_PRIVATE));
        weft_stream* made = nullptr;
        ASSERT_EQ(weft_stream_create(nullptr, &made), WEFT_OK);
        auto* stream = address_of<weft::Stream>(made);
        weft_pool* pool = nullptr;
        ASSERT_EQ(weft_stream_pool_get(made, &pool), WEFT_OK);
        other_sleeps();
        Stop stop(where, made);
        nudge(pool, stop);
        std::thread outside([&] { EXPECT_EQ(weft_stream_join_free(made), WEFT_OK); });
        if (forced) must_happen("it is asked", [&] { return stream->asked().has(weft::attention::stop); });
        stop.let_go();
        outside.join();
        EXPECT_EQ(weft_stream_count(), 1u);
    }
}

// ---- steal and pop of the last unit -------------------------------------------------------------

namespace {

weft_settings stealing(std::size_t streams) {
    weft_settings settings = streams_with(streams, WEFT_POOL_DEQUE);
    settings.scheduler = WEFT_SCHED_RANDOM_STEAL;
    return settings;
}

}   // namespace

TEST_F(Windows, TheLastUnitOfADequeRunsOnceWhenItsOwnerOvertakesAThief) {
    Runtime runtime(stealing(2));
    for (int round = 0; round < 10; ++round) {
        atomic<int> runs{0};
        Stop thief(Probe::steal_before_claim, carrier(1));
        Ult unit([&] { runs.fetch_add(1); });
        thief.await();
        EXPECT_EQ(unit.join(), WEFT_OK);   // stream 0 takes it before the thief does
        thief.let_go();
        EXPECT_EQ(runs, 1);
    }
}

TEST_F(Windows, TheLastUnitOfADequeRunsOnceWhenAThiefOvertakesItsOwner) {
    Runtime runtime(stealing(2));
    for (int round = 0; round < 10; ++round) {
        atomic<int> runs{0};
        Stop owner(Probe::pop_before_claim, carrier(0));
        Stop thief(Probe::steal_before_claim, carrier(1));
        std::thread director([&] {
            owner.await();
            thief.await();
            thief.let_go();
            must_happen("the thief runs it", [&] { return runs != 0; });
            owner.let_go();
        });
        Ult unit([&] { runs.fetch_add(1); });
        thief.await();   // it has seen the unit, and stands until the owner is at it too
        EXPECT_EQ(unit.join(), WEFT_OK);
        director.join();
        EXPECT_EQ(runs, 1);
    }
}

// ---- the shared queue's gap ---------------------------------------------------------------------

TEST_F(Windows, AGapInASharedQueueKeepsItsStreamsAwakeAndLosesNothing) {
    Runtime runtime(streams_with(2, WEFT_POOL_SHARED));
    weft_pool* target = pool_of(1);
    for (const bool second_pushes : {false, true}) {
        atomic<int> ran{0};
        std::unique_ptr<Ult> first, second;
        Stop pusher(Probe::fifo_push_before_link, nullptr);
        std::thread outside([&] { first = std::make_unique<Ult>([&] { ran.fetch_add(1); }, nullptr, target); });
        pusher.await();
        if (second_pushes) second = std::make_unique<Ult>([&] { ran.fetch_add(1); }, nullptr, target);
        if (forced) {
            std::size_t length = 0;
            EXPECT_EQ(weft_pool_length_get(target, &length), WEFT_OK);
            EXPECT_GE(length, 1u) << "a hint of 0 would let a stream sleep";
            EXPECT_EQ(ran, 0) << "nothing behind the gap can run";
        }
        pusher.let_go();
        outside.join();
        must_happen("both run", [&] { return ran == (second_pushes ? 2 : 1); });
    }
}

// ---- carriers that end to make room -------------------------------------------------------------

namespace {

// A domain that harts enter, meet in, and leave: a carrier of its own brings each hart, and is idle
// afterwards.
class MeetingPlace {
public:
    MeetingPlace() {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* raw) {
            auto& self = *static_cast<MeetingPlace*>(raw);
            if (self.came_.fetch_add(1) + 1 == most) self.met_ = true;
            while (!self.met_) std::this_thread::yield();
            EXPECT_EQ(weft_domain_request(self.domain_, -1), WEFT_OK);   // first, or it might come again
            EXPECT_EQ(weft_domain_yield(), WEFT_OK);
        };
        ops.unblock = [](void*, weft_unit*) {};
        EXPECT_EQ(weft_domain_create(&ops, this, &domain_), WEFT_OK) << weft_error_text();
        EXPECT_EQ(weft_domain_request(domain_, most), WEFT_OK);
        while (!met_) EXPECT_EQ(weft_sleep_for(100'000), WEFT_OK);   // the caller's hart is one of them
    }
    static constexpr int most = 2;

private:
    weft_domain* domain_ = nullptr;
    atomic<int> came_{0};
    atomic<bool> met_{false};
};

// Stops the first carrier that is idle before it checks for remote calls, and the first one that
// has run its last one.
struct Carriers {
    static inline atomic<int> idle{0}, told{0};
    static inline atomic<bool> idle_go{false}, told_go{false};

    static void hook(Probe where) {
        if (where == Probe::carrier_free && idle.fetch_add(1) == 0)
            must_happen("the idle one goes on", [] { return idle_go.load(); });
        if (where == Probe::carrier_told && told.fetch_add(1) == 0)
            must_happen("the one that ends goes on", [] { return told_go.load(); });
    }
    static void reset() {
        idle = told = 0;
        idle_go = told_go = false;
        weft::probe_hook.store(hook);
    }
};

}   // namespace

TEST_F(Windows, TwoThatMakeRoomAtOnceEndACarrierEach) {
    if (weft_hart_limit() < MeetingPlace::most) GTEST_SKIP() << "needs a hart for each of two carriers";
    Carriers::reset();
    weft_settings settings = streams_with(1, WEFT_POOL_PRIVATE);
    settings.neighbours = WEFT_NEIGHBOURS_IGNORE;   // both harts are needed, whatever else computes on the machine
    Runtime runtime(settings);
    const MeetingPlace place;
    const auto streams = [] {
        weft_hart_use use{};
        use.size = sizeof use;
        EXPECT_EQ(weft_hart_use_get(&use), WEFT_OK);
        return use.streams;
    };
    if (forced) must_happen("both are idle", [] { return Carriers::idle == MeetingPlace::most; });
    atomic<int> made{0};
    const auto make_room = [&] {
        EXPECT_EQ(weft_hosted_make_room([](void*) { return true; }, nullptr), WEFT_OK);
        made.fetch_add(1);
    };
    std::thread first(make_room);
    if (forced) must_happen("one has its last remote call", [] { return Carriers::told == 1; });
    std::thread second(make_room);
    for (int look = 0; look < 100; ++look) std::this_thread::yield();   // mostly, its remote call is there by then
    Carriers::told_go = true;
    while (made == 0) EXPECT_EQ(weft_sleep_for(100'000), WEFT_OK);   // without a hart: the others have them
    EXPECT_TRUE(!forced || made == 1) << "the second remote call was for the carrier that is stopped";
    Carriers::idle_go = true;
    while (made != 2) EXPECT_EQ(weft_sleep_for(100'000), WEFT_OK);
    first.join();
    second.join();
    EXPECT_TRUE(!forced || Carriers::told == 2);
    must_happen("only the runtime's own stream is left", [&] { return streams() == 1; });
}

// ---- a release build ----------------------------------------------------------------------------

TEST_F(Windows, ProbesAreOnlyInCheckedBuilds) {
    const int before = Stop::passed;
    {
        Runtime runtime(streams_with(2, WEFT_POOL_PRIVATE));
        Stop stop(Probe::finish_before_publish, &runtime);   // stops no stream: only counts
        Ult unit([] {}, nullptr, pool_of(1));
        unit.join();
    }
    EXPECT_EQ(Stop::passed > before, forced);
}
