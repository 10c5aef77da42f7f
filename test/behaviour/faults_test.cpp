// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// System calls that fail. One scenario is repeated: the first time its first call fails, then its
// second call, and so on until a whole run sees no failure. Each call that Weft makes must end in a
// status and leave the runtime usable. A release build has no injector; there the scenario runs
// once, without a failure.
#include <string>
#include <vector>

#include "os/fault.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/stress/stress.hpp"

using namespace weft_test;
using weft::os::Seam;

namespace {

// Which calls fail.
struct Faults {
    static inline atomic<unsigned> seams{0};   // one bit per seam
    static inline atomic<long> calls{0}, from{0}, to{0}, every{0};
    static inline atomic<long> failed{0};

    static bool hook(Seam seam) {
        if ((seams.load() & (1u << static_cast<unsigned>(seam))) == 0) return false;
        const long call = calls.fetch_add(1) + 1;
        const bool fails = every.load() != 0 ? call % every.load() == 0 : call >= from.load() && call <= to.load();
        if (fails) failed.fetch_add(1);
        return fails;
    }

    // Makes the calls number `first` to `last` through one of `which` fail.
    static void arm(std::initializer_list<Seam> which, long first, long last) {
        unsigned bits = 0;
        for (const Seam seam : which) bits |= 1u << static_cast<unsigned>(seam);
        calls = 0, failed = 0, every = 0, from = first, to = last;
        seams = bits;
        weft::os::fault_hook.store(hook);
    }
    static void disarm() {
        seams = 0;
        weft::os::fault_hook.store(nullptr);
    }
};

bool refused(weft_status status) {
    EXPECT_TRUE(status == WEFT_OK || status == WEFT_NO_MEMORY || status == WEFT_SYSTEM)
        << weft_status_name(status) << ": " << weft_error_text();
    return status != WEFT_OK;
}

// A unit of the scenario: it ran once, or its outcome says that it never ran.
struct Probed {
    atomic<int> runs{0};
    atomic<weft_unit*> sleeper{nullptr};
    weft_unit* unit = nullptr;

    static void body(void* raw) {
        auto& self = *static_cast<Probed*>(raw);
        self.runs.fetch_add(1);
        weft_unit_yield();
    }
    static void sleep(void* raw) {
        EXPECT_EQ(weft_unit_suspend(
                      [](weft_unit* sleeps, void* to) { static_cast<Probed*>(to)->sleeper.store(sleeps); }, raw),
                  WEFT_OK);
        body(raw);
    }

    // Called on an OS thread: a unit that waited in a loop would keep its stream from finding out
    // that nothing else can run.
    void wake(const atomic<bool>& over) {
        while (sleeper.load() == nullptr && !over.load()) std::this_thread::yield();
        if (sleeper.load() != nullptr) {
            EXPECT_EQ(weft_unit_resume(sleeper.load()), WEFT_OK);
        }
    }
    void end() {
        if (unit == nullptr) return;
        const weft_unit_outcome outcome = end_of(unit);
        EXPECT_TRUE(outcome == WEFT_OUTCOME_RETURNED || outcome == WEFT_OUTCOME_NO_STACK) << outcome;
        EXPECT_EQ(runs, outcome == WEFT_OUTCOME_RETURNED ? 1 : 0) << "a unit without a stack does not run";
    }
};

weft_unit_options of_kind(weft_kind kind, std::size_t stack_bytes) {
    auto chosen = options();
    chosen.kind = kind;
    chosen.stack_bytes = stack_bytes;
    chosen.name = "faulty";
    return chosen;
}

void spawn_units(weft_pool* pool) {
    Probed full, lazy, large, tasklet, sleeper, outside;
    const auto as_full = of_kind(WEFT_KIND_FULL, 0), as_lazy = of_kind(WEFT_KIND_LSA, 0),
               as_large = of_kind(WEFT_KIND_LSA, 1 << 20);
    if (refused(weft_ult_spawn(pool, Probed::body, &full, &as_full, &full.unit))) full.unit = nullptr;
    if (refused(weft_ult_spawn(pool, Probed::body, &lazy, &as_lazy, &lazy.unit))) lazy.unit = nullptr;
    if (refused(weft_ult_spawn(pool, Probed::body, &large, &as_large, &large.unit))) large.unit = nullptr;
    if (refused(weft_tasklet_spawn(
            pool, [](void* raw) { static_cast<Probed*>(raw)->runs.fetch_add(1); }, &tasklet, nullptr, &tasklet.unit)))
        tasklet.unit = nullptr;
    if (refused(weft_ult_spawn(pool, Probed::sleep, &sleeper, &as_lazy, &sleeper.unit))) sleeper.unit = nullptr;
    std::thread([&] {
        if (refused(weft_ult_spawn(pool, Probed::body, &outside, &as_full, &outside.unit))) outside.unit = nullptr;
    }).join();
    atomic<bool> over{false};
    std::thread waker([&] { sleeper.wake(over); });
    for (Probed* one : {&full, &lazy, &large, &tasklet, &sleeper, &outside}) one->end();
    over = true;
    waker.join();
}

// Spawns all units, or none.
void spawn_many(weft_pool* pool, weft_kind kind, bool outside) {
    constexpr std::size_t count = 40;
    std::vector<Probed> probed(count);
    std::vector<void*> arguments;
    std::vector<weft_unit*> units(count);
    for (auto& one : probed) arguments.push_back(&one);
    const auto chosen = of_kind(kind, 0);
    weft_status status = WEFT_OK;
    auto spawn = [&] {
        status = weft_unit_spawn_many(pool, count, Probed::body, arguments.data(), &chosen, units.data());
        refused(status);
    };
    outside ? std::thread(spawn).join() : spawn();
    if (status != WEFT_OK) return;
    for (std::size_t i = 0; i < count; ++i) {
        probed[i].unit = units[i];
        probed[i].end();
    }
}

void make_things() {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        weft_pool* pool = nullptr;
        if (refused(weft_pool_create(kind, &pool))) continue;
        weft_sched* sched = nullptr;
        weft_stream* stream = nullptr;
        if (!refused(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched))) {
            weft_stream_options chosen{};
            chosen.size = sizeof chosen;
            chosen.sched = sched;
            if (refused(weft_stream_create(&chosen, &stream))) {
                EXPECT_EQ(weft_sched_free(sched), WEFT_OK) << "a scheduler that no stream took is the caller's";
            } else {
                spawn_units(pool);
                EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK);
            }
        }
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK) << weft_error_text();
    }
    weft_stream* stream = nullptr;
    if (refused(weft_stream_create(nullptr, &stream))) return;
    EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK);
}

// Returns true if the runtime started.
bool scenario() {
    weft_settings settings = with_streams(2);
    settings.spin_ns = 1;
    if (refused(weft_init(&settings))) {
        EXPECT_FALSE(weft_initialized());
        return false;
    }
    const std::size_t alive = units_alive();
    for (std::size_t rank = 0; rank < 2; ++rank) spawn_units(pool_of(rank));
    for (const auto kind : {WEFT_KIND_FULL, WEFT_KIND_LSA}) {
        spawn_many(pool_of(1), kind, false);
        spawn_many(nullptr, kind, true);
    }
    make_things();
    while (units_alive() != alive) weft_unit_yield();
    Faults::disarm();
    // The runtime is usable, whatever failed before.
    Probed after;
    EXPECT_EQ(weft_ult_spawn(nullptr, Probed::body, &after, nullptr, &after.unit), WEFT_OK);
    after.end();
    EXPECT_EQ(after.runs, 1);
    EXPECT_EQ(weft_finalize(), WEFT_OK) << weft_error_text();
    return true;
}

// Makes call k fail, or all calls from k on, for k = 1, 2, 3, ... until a whole run makes fewer
// calls.
void each_call_fails(std::initializer_list<Seam> seams, bool all_later, int stride = 1) {
    long started = 0, runs = 0;
    for (long k = 1;; k += stride) {
        SCOPED_TRACE(testing::Message() << "call " << k << (all_later ? " and all later ones" : " alone"));
        Faults::arm(seams, k, all_later ? 1L << 60 : k);
        const bool up = scenario();
        Faults::disarm();
        started += up;
        ++runs;
        ASSERT_FALSE(testing::Test::HasFailure());
        if (Faults::failed == 0) break;
    }
    if (weft::config::checked) {
        EXPECT_GT(runs, 2) << "some calls were made to fail";
    }
    EXPECT_GT(started, 0);
    EXPECT_TRUE(scenario()) << "nothing is left behind that stands in the way";
}

}   // namespace

// Where no unit has a stack that could come free, the units end without one, although a unit runs
// all the time.
TEST(Faults, AUnitWithoutAStackEndsThoughOneLooksForItsEndInALoop) {
    if (!weft::config::checked) GTEST_SKIP() << "the fault injector is in checked builds";
    const Deadline deadline(60);
    for (const std::size_t streams : {1u, 2u}) {
        Runtime runtime(streams);
        Faults::arm({Seam::map}, 1, 1L << 60);
        std::vector<weft_unit*> units(100);
        const auto lazy = of_kind(WEFT_KIND_LSA, 1 << 20);   // a size that no idle stack has
        ASSERT_EQ(weft_unit_spawn_many(
                      pool_of(streams - 1), units.size(), [](void*) {}, nullptr, &lazy, units.data()),
                  WEFT_OK);
        for (weft_unit* unit : units) {
            while (weft_unit_try_join(unit) == WEFT_BUSY) weft_unit_yield();
            EXPECT_EQ(end_of(unit), WEFT_OUTCOME_NO_STACK);
        }
        Faults::disarm();
    }
}

TEST(Faults, WhereNobodySaysHowManyStreamsThereAreThoseThatTheSystemGrants) {
    if (!weft::config::checked) GTEST_SKIP() << "the fault injector is in checked builds";
    if (weft_hart_limit() < 2) GTEST_SKIP() << "needs two harts";
    const Deadline deadline(60);
    Faults::arm({Seam::thread}, 1, 1L << 60);
    testing::internal::CaptureStderr();
    ASSERT_EQ(weft_init(nullptr), WEFT_OK) << weft_error_text();
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("1 can start: the kernel refused another OS thread"), std::string::npos) << told;
    EXPECT_EQ(weft_stream_count(), 1u);
    weft_settings now{};
    now.size = sizeof now;
    EXPECT_EQ(weft_settings_get(&now), WEFT_OK);
    EXPECT_EQ(now.streams, 1u);
    {
        Ult first([] { weft_unit_yield(); }), second([] { weft_unit_yield(); });
    }
    EXPECT_EQ(weft_finalize(), WEFT_OK) << weft_error_text();
    const weft_settings asked = with_streams(2), all = with_streams(WEFT_ALL_HARTS);
    EXPECT_EQ(weft_init(&asked), WEFT_SYSTEM) << "so many are asked for";
    EXPECT_EQ(weft_init(&all), WEFT_SYSTEM);
    Faults::disarm();
    EXPECT_FALSE(weft_initialized());
}

// The unit has neither a stack nor a pthread, and its outcome says so.
TEST(Faults, AHostedUnitThatIsRefusedAPthreadTellsItsJoinerWhy) {
    if (!weft::config::checked) GTEST_SKIP() << "the fault injector is in checked builds";
    const Deadline deadline(60);
    Runtime runtime;
    const auto hosted = of_kind(WEFT_KIND_HOSTED, 0);
    weft_unit* unit = nullptr;
    Faults::arm({Seam::thread}, 1, 1L << 60);
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &hosted, &unit),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_NOT_RETURNED);
    EXPECT_NE(std::string(weft_error_text()).find("refused a pthread"), std::string::npos) << weft_error_text();
    EXPECT_NE(std::string(weft_error_text()).find("ulimit -u"), std::string::npos) << weft_error_text();
    Faults::disarm();
}

// A detached unit that does not run could not be reported to a joiner, so it waits.
TEST(Faults, ADetachedHostedUnitRunsWhenThePthreadCanBeHadThatItWasRefused) {
    if (!weft::config::checked) return;   // the fault injector is in checked builds
    const Deadline deadline(60);
    for (const std::size_t streams : {1u, 2u}) {
        Runtime runtime(streams);
        const auto hosted = of_kind(WEFT_KIND_HOSTED, 0);
        static atomic<int> ran;
        ran = 0;
        Faults::arm({Seam::thread}, 1, 1L << 60);
        for (int i = 0; i < 5; ++i)
            ASSERT_EQ(weft_ult_spawn(
                          nullptr, [](void*) { ran.fetch_add(1); }, nullptr, &hosted, nullptr),
                      WEFT_OK);
        for (int i = 0; i < 20; ++i) weft_sleep_for(1'000'000);
        EXPECT_EQ(ran, 0);
        Faults::disarm();
        while (ran != 5) weft_unit_yield();
    }
}

TEST(Faults, ADetachedUnitWithoutAStackRunsThoughOneAloneMayPushToItsPool) {
    if (!weft::config::checked) return;   // the fault injector is in checked builds
    const Deadline deadline(60);
    Runtime runtime;
    weft_pool_options how{};
    how.size = sizeof how;
    how.kind = WEFT_POOL_SHARED;
    how.access = WEFT_POOL_ACCESS_SPSC;
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_pool_create_with(&how, &pool), WEFT_OK);
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched), WEFT_OK);
    weft_stream_options with{};
    with.size = sizeof with;
    with.sched = sched;
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(&with, &stream), WEFT_OK);
    const auto chosen = of_kind(WEFT_KIND_LSA, 1 << 20);
    static atomic<int> ran;
    ran = 0;
    Faults::arm({Seam::map}, 1, 1L << 60);
    for (int i = 0; i < 5; ++i)
        ASSERT_EQ(weft_ult_spawn(
                      pool, [](void*) { ran.fetch_add(1); }, nullptr, &chosen, nullptr),
                  WEFT_OK);
    weft_sleep_for(10'000'000);
    EXPECT_EQ(ran, 0);
    Faults::disarm();
    while (ran != 5) weft_sleep_for(1'000'000);
    EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Faults, WhoDetachesAUnitThatHasNotRunIsToldBySentence) {
    if (!weft::config::checked) return;   // the fault injector is in checked builds
    const Deadline deadline(60);
    Runtime runtime;
    const auto chosen = of_kind(WEFT_KIND_LSA, 1 << 20);
    weft_unit* unit = nullptr;
    Faults::arm({Seam::map}, 1, 1L << 60);
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &chosen, &unit),
              WEFT_OK);
    weft_unit_state state{};
    for (weft_unit_state_get(unit, &state); state != WEFT_UNIT_DONE; weft_unit_state_get(unit, &state))
        weft_unit_yield();
    testing::internal::CaptureStderr();
    EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("has not run: no stack of 1048576 bytes"), std::string::npos) << text;
    Faults::disarm();
}

TEST(Faults, EachAllocationThatFailsIsAStatus) {
    const Deadline deadline(120);
    each_call_fails({Seam::allocate}, false);
}

TEST(Faults, AllAllocationsFromOneOnThatFailAreStatuses) {
    const Deadline deadline(120);
    each_call_fails({Seam::allocate}, true);
}

TEST(Faults, EachMappingThatFailsIsAStatus) {
    const Deadline deadline(120);
    each_call_fails({Seam::map}, false);
}

TEST(Faults, AllMappingsFromOneOnThatFailAreStatuses) {
    const Deadline deadline(120);
    each_call_fails({Seam::map}, true);
}

TEST(Faults, GuardsThatFailAreReplacedByTheNextKind) {
    const Deadline deadline(120);
    each_call_fails({Seam::guard}, false, 7);
    each_call_fails({Seam::guard, Seam::protect}, true, 7);
}

TEST(Faults, AThreadThatIsRefusedIsAStatus) {
    const Deadline deadline(120);
    each_call_fails({Seam::thread}, false);
    each_call_fails({Seam::thread}, true);
}

// The reactor, which notifies busy streams of their timers, cannot be started.
TEST(Faults, TimersOfABusyStreamFireThoughAllThreadsAreRefused) {
    if (!weft::config::checked) return;   // only builds with the injector can fail here; the tests above skip visibly
    const Deadline deadline(60);
    Runtime runtime;
    Faults::arm({Seam::thread}, 1, 1L << 60);
    bool awake = false;
    Ult sleeper([&] {
        EXPECT_EQ(weft_sleep_for(5'000'000), WEFT_OK);
        awake = true;
    });
    while (!awake) weft_unit_yield();   // the stream is never idle
    EXPECT_GT(Faults::failed, 0);
    EXPECT_LT(Faults::failed, 1000) << "it is tried now and then, not at each switch";
    Faults::disarm();
}

TEST(Faults, EverythingAtOnceIsAStatus) {
    const Deadline deadline(120);
    each_call_fails({Seam::allocate, Seam::map, Seam::guard, Seam::protect, Seam::thread}, false, sanitized ? 7 : 3);
}

TEST(Faults, WaitsThatReturnForNoReasonAreInvisible) {
    const Deadline deadline(120);
    for (const long every : {1, 2, 3, 7}) {
        Faults::arm({Seam::futex_wait}, 0, 0);
        Faults::every = every;
        EXPECT_TRUE(scenario());
        Faults::arm({Seam::futex_wait}, 0, 0);
        Faults::every = every;
        {
            Runtime runtime(with_streams(4));
            atomic<int> runs{0};
            std::vector<std::unique_ptr<Ult>> units;
            for (int i = 0; i < 200; ++i)
                units.push_back(std::make_unique<Ult>([&] { runs.fetch_add(1); }, nullptr, pool_of(i % 4)));
            std::thread([&] { units[7]->join(); }).join();
            for (auto& unit : units) EXPECT_EQ(unit->join(), WEFT_OK);
            EXPECT_EQ(runs, 200);
        }
        Faults::disarm();
    }
}

// A unit that gets no lazily allocated stack now waits while other units may give one back.
TEST(Faults, AUnitWithoutAStackRunsWhenOneComesFree) {
    if (!weft::config::checked) return;   // only builds with the injector can fail here; the tests above skip visibly
    const Deadline deadline(60);
    Runtime runtime;
    const auto chosen = of_kind(WEFT_KIND_LSA, 1 << 20);   // a size class of its own: no such stack is cached
    std::vector<std::unique_ptr<Ult>> holders;
    Faults::arm({Seam::map}, 2, 1L << 60);   // one chunk of such stacks, and no more
    bool let_go = false;
    int began = 0, ended = 0;
    for (int i = 0; i < 12; ++i) {
        holders.push_back(std::make_unique<Ult>(
            [&] {
                ++began;
                while (!let_go) weft_unit_yield();
                ++ended;
            },
            &chosen));
    }
    for (int i = 0; i < 100; ++i) weft_unit_yield();
    EXPECT_GT(began, 0);
    EXPECT_LT(began, 12) << "not all can have a stack at once";
    EXPECT_GT(counter("/units/count/postponed"), 0u);
    let_go = true;
    for (auto& holder : holders) EXPECT_EQ(holder->join(), WEFT_OK);
    EXPECT_EQ(ended, 12);
    Faults::disarm();
}

TEST(Faults, UnitsThatNobodyCanGiveAStackEndAndSaySoOnAllStreams) {
    if (!weft::config::checked) return;   // the fault injector is in checked builds
    const Deadline deadline(60);
    for (const weft_pool_kind kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        weft_settings settings = with_streams(3);
        settings.pool = kind;
        Runtime runtime(settings);
        const auto chosen = of_kind(WEFT_KIND_LSA, 1 << 20);
        Faults::arm({Seam::map}, 1, 1L << 60);
        std::vector<Probed> probed(30);
        for (std::size_t i = 0; i < probed.size(); ++i) {
            ASSERT_EQ(weft_ult_spawn(pool_of(i % 3), Probed::body, &probed[i], &chosen, &probed[i].unit), WEFT_OK);
        }
        for (auto& one : probed) EXPECT_EQ(outcome_of(one.unit), WEFT_OUTCOME_NO_STACK);
        for (auto& one : probed) one.end();
        Faults::disarm();
        Ult after([] {}, &chosen);
        EXPECT_EQ(after.join(), WEFT_OK);
    }
}
