// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The trace of WEFT_TRACE: what Chrome and Perfetto read, whatever a program does, and where the
// trace may be written.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "test/behaviour/trace_reader.hpp"
#include "test/behaviour/variable.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

// The leak checker searches from the stack that it runs on; where a unit calls exit(), that is not
// main's.
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() { return weft_initialized(); }

namespace {

weft_settings traced(const File& file, std::size_t streams = 1) {
    weft_settings settings = with_streams(streams);
    settings.trace = file.name();
    settings.rescue = WEFT_RESCUE_OFF;   // its stand-ins are tracks, too, and appear on a slow machine
    return settings;
}

weft_unit* spawn(const char* name, void (*body)(void*), void* argument = nullptr, weft_pool* pool = nullptr) {
    weft_unit* unit = nullptr;
    auto how = options();
    how.name = name;
    EXPECT_EQ(weft_ult_spawn(pool, body, argument, &how, &unit), WEFT_OK);
    return unit;
}

void nothing(void*) {}

std::string hex(const void* address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx",
                  static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address)));
    return text;
}

}   // namespace

TEST(Trace, AUnitIsASliceForEachTimeThatItRan) {
    File file;
    std::uint64_t id = 0;
    {
        Runtime runtime(traced(file));
        weft_unit* unit = spawn("twice", [](void*) { weft_unit_yield(); });
        id = value_of(weft_unit_id_get, unit);
        weft_unit* tasklet = nullptr;
        EXPECT_EQ(weft_tasklet_spawn(nullptr, nothing, nullptr, nullptr, &tasklet), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    }
    const Trace trace(file);
    EXPECT_EQ(trace.faults(), "");
    const auto slices = trace.with("B", "twice");
    ASSERT_EQ(slices.size(), 2u);
    for (const Json& slice : slices) {
        EXPECT_EQ(slice["args"]["id"].text, std::to_string(id));
        EXPECT_EQ(slice["args"]["kind"].text, "lsa");
        EXPECT_NE(slice["args"]["spawned_at"].text.find('+'), std::string::npos) << slice["args"]["spawned_at"].text;
    }
    EXPECT_EQ(trace.left("twice", "yielded").size(), 1u);
    ASSERT_EQ(trace.left("twice", "finished").size(), 1u);
    EXPECT_EQ(trace.left("twice", "finished")[0]["args"]["outcome"].text, "returned");
    EXPECT_EQ(trace.with("s", "spawn").size(), 2u);
    EXPECT_EQ(trace.with("f", "spawn").size(), 2u);
    std::size_t tasklets = 0;
    for (const Json& slice : trace.with("B")) tasklets += slice["args"]["kind"].text == "tasklet";
    EXPECT_EQ(tasklets, 1u);
    EXPECT_EQ(trace.all["otherData"]["events_lost"].text, "0");
}

TEST(Trace, AWaitIsAnArrowAndSaysWhatFor) {
    File file;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_event event = WEFT_EVENT_INIT;
    {
        Runtime runtime(traced(file));
        EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
        weft_unit* locker = spawn(
            "locker",
            [](void* raw) {
                weft_mutex_lock(static_cast<weft_mutex*>(raw));
                weft_mutex_unlock(static_cast<weft_mutex*>(raw));
            },
            &mutex);
        weft_unit* listener = spawn(
            "listener", [](void* raw) { weft_event_wait(static_cast<weft_event*>(raw), nullptr); }, &event);
        weft_unit* suspends = spawn("suspends", [](void*) { weft_unit_suspend(nullptr, nullptr); });
        until([&] { return waiting_for("mutex") == 1 && waiting_for("event") == 1 && waiting_for("suspend") == 1; });
        weft_mutex_unlock(&mutex);
        weft_event_set(&event, nullptr);
        EXPECT_EQ(weft_unit_resume(suspends), WEFT_OK);
        for (weft_unit* unit : {locker, listener, suspends}) EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    const Trace trace(file);
    EXPECT_EQ(trace.faults(), "");
    const std::pair<const char*, std::pair<const char*, std::string>> all[] = {
        {"locker", {"mutex", hex(&mutex)}}, {"listener", {"event", hex(&event)}}, {"suspends", {"suspend", ""}}};
    for (const auto& [name, wait] : all) {
        const auto ends = trace.left(name, "suspended");
        ASSERT_GE(ends.size(), 1u) << name;
        EXPECT_EQ(ends[0]["args"]["waits_for"].text, wait.first);
        EXPECT_EQ(ends[0]["args"]["object"].text, wait.second);
    }
    EXPECT_GE(trace.with("s", "wait").size(), 3u);
    EXPECT_EQ(trace.with("s", "wait").size(), trace.with("f", "wait").size());
}

TEST(Trace, StealsAndSleepsAreOnTheTrackOfTheirStream) {
    File file;
    {
        weft_settings settings = traced(file, 2);
        settings.pool = WEFT_POOL_DEQUE;
        Runtime runtime(settings);
        until_others_rest();
        atomic<bool> ran{false};
        weft_unit* unit = spawn(
            "stolen", [](void* flag) { static_cast<atomic<bool>*>(flag)->store(true); }, &ran, pool_of(0));
        while (!ran) std::this_thread::yield();   // this stream runs nothing else meanwhile
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        until_others_rest();
    }
    const Trace trace(file);
    EXPECT_EQ(trace.faults(), "");
    ASSERT_EQ(trace.with("i", "steal").size(), 1u);
    ASSERT_EQ(trace.with("B", "stolen").size(), 1u);
    EXPECT_EQ(trace.with("i", "steal")[0]["tid"].text, "2");
    EXPECT_EQ(trace.with("B", "stolen")[0]["tid"].text, "2");
    std::size_t sleeps = 0;
    for (const Json& sleep : trace.with("B", "asleep")) sleeps += sleep["tid"].text == "2";
    EXPECT_GE(sleeps, 1u);
    std::set<std::string> names;
    for (const Json& event : trace.with("M", "thread_name")) names.insert(event["args"]["name"].text);
    EXPECT_EQ(names, (std::set<std::string>{"weft/0", "weft/1"}));
}

TEST(Trace, CancellationsMigrationsAndOtherLivesAreSeen) {
    File file;
    {
        Runtime runtime(traced(file));
        weft_unit* cancelled = spawn("cancelled", nothing);
        EXPECT_EQ(weft_unit_cancel(cancelled), WEFT_OK);
        EXPECT_EQ(end_of(cancelled), WEFT_OUTCOME_CANCELLED);
        weft_unit* again = spawn("again", nothing);
        EXPECT_EQ(weft_unit_join(again), WEFT_OK);
        EXPECT_EQ(weft_unit_revive(again, nullptr, nothing, nullptr), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(again), WEFT_OK);
        Stream other;
        weft_unit* goes = spawn("goes", [](void*) { weft_unit_yield(); });
        EXPECT_EQ(weft_unit_migrate_to_stream(goes, other.handle()), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(goes), WEFT_OK);
    }
    const Trace trace(file);
    EXPECT_EQ(trace.faults(), "");
    EXPECT_EQ(trace.with("i", "cancel").size(), 1u);
    EXPECT_EQ(trace.with("B", "cancelled").size(), 0u);
    EXPECT_EQ(trace.with("B", "again").size(), 2u);
    EXPECT_EQ(trace.with("f", "revive").size(), 1u);
    EXPECT_EQ(trace.with("i", "migrate").size(), 1u);
    for (const Json& slice : trace.with("B", "goes")) EXPECT_EQ(slice["tid"].text, "2");
}

TEST(Trace, ManyStreamsThatComeAndGoAndOsThreadsAreTracks) {
    File file;
    {
        Runtime runtime(traced(file, 3));
        for (int round = 0; round < 3; ++round) {
            Stream passing;
            weft_unit* units[300] = {};
            EXPECT_EQ(weft_unit_spawn_many(
                          nullptr, 300, [](void*) { weft_unit_yield(); }, nullptr, nullptr, units),
                      WEFT_OK);
            weft_unit* there = spawn(
                "there", [](void*) { weft_sleep_until(weft_now_ns() + 1000); }, nullptr, passing.pool());
            std::thread([] { EXPECT_EQ(weft_unit_join_free(spawn("from outside", nothing)), WEFT_OK); }).join();
            EXPECT_EQ(weft_unit_join_free(there), WEFT_OK);
            EXPECT_EQ(weft_unit_join_free_many(units, 300), WEFT_OK);
        }
    }
    const Trace trace(file);
    EXPECT_EQ(trace.faults(), "");
    std::set<std::string> names;
    for (const Json& event : trace.with("M", "thread_name")) names.insert(event["args"]["name"].text);
    EXPECT_EQ(names, (std::set<std::string>{"weft/0", "weft/1", "weft/2", "weft/3", "other OS threads"}));
    EXPECT_EQ(trace.with("B", "from outside").size(), 3u);
    std::size_t finished = 0;
    for (const Json& end : trace.with("E")) finished += end["args"]["left"].text == "finished";
    EXPECT_EQ(finished, 3u * 302);
}

TEST(Trace, NamesMayHoldWhateverBytes) {
    File file;
    {
        Runtime runtime(traced(file));
        for (const char* name : {"quote\" back\\slash", "new\nline\ttab", "gr\xc3\xbc\xc3\x9f", "broken\xff\xc3"}) {
            EXPECT_EQ(weft_unit_join_free(spawn(name, nothing)), WEFT_OK);
        }
    }
    const Trace trace(file);
    EXPECT_EQ(trace.faults(), "");
    for (const char* name : {"quote\" back\\slash", "new\nline\ttab", "gr\xc3\xbc\xc3\x9f", "broken\xc3\xbf\xc3\x83"}) {
        EXPECT_EQ(trace.with("B", name).size(), 1u) << name;
    }
}

TEST(Trace, AFullRingLosesItsOldestAndSaysHowMany) {
    File file;
    {
        weft_settings settings = traced(file);
        settings.trace_events = 16;
        Runtime runtime(settings);
        for (int i = 0; i < 100; ++i) EXPECT_EQ(weft_unit_join_free(spawn(i == 99 ? "last" : "", nothing)), WEFT_OK);
    }
    const Trace trace(file);
    EXPECT_EQ(trace.faults(), "");
    EXPECT_EQ(trace.with("B", "last").size(), 1u);
    EXPECT_GT(trace.all["otherData"]["events_lost"].number, 400);
    EXPECT_LE(trace.all["otherData"]["events"].number, 16);
    std::size_t told = 0;
    for (const Json& event : trace.with("i")) told += event["name"].text.find("events lost before: ") == 0;
    EXPECT_EQ(told, 1u);
}

TEST(Trace, TheVariableWinsAndWithoutEitherNothingIsWritten) {
    File asked, file;
    {
        Variable variable("WEFT_TRACE", file.name()), events("WEFT_TRACE_EVENTS", "64");
        Runtime runtime(traced(asked));
        weft_settings now{};
        now.size = sizeof now;
        EXPECT_EQ(weft_settings_get(&now), WEFT_OK);
        EXPECT_STREQ(now.trace, file.name());
        EXPECT_EQ(now.trace_events, 64u);
    }
    EXPECT_EQ(Trace(file).faults(), "");
    EXPECT_EQ(asked.text(), "");
    file.clear();
    { Runtime runtime; }
    EXPECT_EQ(file.text(), "");
}

TEST(Trace, AFileThatCannotBeWrittenIsRefusedWithAReason) {
    {
        Variable empty("WEFT_TRACE", "");
        testing::internal::CaptureStderr();
        EXPECT_EQ(weft_init(nullptr), WEFT_ENVIRONMENT);
        EXPECT_NE(testing::internal::GetCapturedStderr().find("WEFT_TRACE"), std::string::npos);
    }
    Variable variable("WEFT_TRACE", "/no/such/folder/trace.json");
    EXPECT_EQ(weft_init(nullptr), WEFT_ENVIRONMENT);
    const std::string why = weft_error_text();
    for (const char* part : {"/no/such/folder/trace.json", "WEFT_TRACE", "No such file"})
        EXPECT_NE(why.find(part), std::string::npos) << why;
    EXPECT_FALSE(weft_initialized());
}

TEST(Trace, ADiskThatIsFullIsTold) {
    if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
    Variable variable("WEFT_TRACE", "/dev/full");
    testing::internal::CaptureStderr();
    { Runtime runtime; }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("'/dev/full' is not complete"), std::string::npos) << said;
}

TEST(TraceDeathTest, AProgramThatExitsInAUnitWritesItOnce) {
    File file;
    setenv("WEFT_TRACE", file.name(), 0);   // the program is this one, started anew, with the first one's file
    auto program = [] {
        const weft_settings settings = with_streams(2);
        weft_init(&settings);
        weft_unit* unit = spawn("leaves", [](void*) { std::exit(3); });
        weft_unit_join_free(unit);
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(3), "");
    unsetenv("WEFT_TRACE");
    const Trace trace(file);
    EXPECT_EQ(trace.faults(), "");
    EXPECT_EQ(trace.with("B", "leaves").size(), 1u);
}

TEST(Trace, ObserversComeAndGoBesideIt) {
    File file;
    {
        Runtime runtime(traced(file));
        weft_observer_options how{};
        how.size = sizeof how;
        how.events = WEFT_OBSERVED_ALL;
        atomic<int> told{0};
        how.argument = &told;
        how.call = [](const weft_observation*, void* count) { ++*static_cast<atomic<int>*>(count); };
        weft_observer* observer = nullptr;
        EXPECT_EQ(weft_observer_register(&how, &observer), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(spawn("both", nothing)), WEFT_OK);
        EXPECT_EQ(weft_observer_unregister(observer), WEFT_OK);
        EXPECT_EQ(told, 7);
        EXPECT_EQ(weft_unit_join_free(spawn("trace alone", nothing)), WEFT_OK);
        EXPECT_EQ(told, 7);
    }
    const Trace trace(file);
    EXPECT_EQ(trace.faults(), "");
    EXPECT_EQ(trace.with("B", "both").size(), 1u);
    EXPECT_EQ(trace.with("B", "trace alone").size(), 1u);
}
