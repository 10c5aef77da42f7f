// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every setting has its variable: which values it accepts, that it takes precedence over the
// program, and that invalid values are refused.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "test/behaviour/file.hpp"
#include "test/behaviour/several.hpp"
#include "test/behaviour/variable.hpp"

using namespace weft_test;

namespace {

struct Legal {
    const char* variable;
    std::vector<std::pair<const char*, std::size_t>> values;   // the text, and the value it sets
    std::vector<const char*> illegal;
    std::vector<const char*> told;   // what the refusal must list
    std::size_t (*read)(const weft_settings& settings);
};

const std::vector<const char*> no_numbers = {"", " ", "x", "-1", "1x", "0x10", "1 ", "+1", "99999999999999999999999"};

std::vector<const char*> and_also(std::vector<const char*> list, std::initializer_list<const char*> more) {
    list.insert(list.end(), more);
    return list;
}

// WEFT_GUARD=install is legal everywhere; whether the kernel supports it is another question
// (below).
const std::vector<Legal> table = {
    {"WEFT_STREAMS",
     {{"1", 1}, {"3", 3}, {"all", 0}},
     and_also(no_numbers, {"0", "1025", "ALL"}),
     {"all", "1", "1024"},
     [](const weft_settings& s) { return s.streams; }},
    {"WEFT_STACK_BYTES",
     {{"16384", 16384}, {"65536", 65536}, {"1048576", 1048576}},
     and_also(no_numbers, {"0", "100", "16383"}),
     {"number from 16384"},
     [](const weft_settings& s) { return s.stack_bytes; }},
    {"WEFT_GUARD_BYTES",
     {{"4096", 4096}, {"0", 0}, {"65536", 65536}},
     no_numbers,
     {"number", "0"},
     [](const weft_settings& s) { return s.guard_bytes; }},
    {"WEFT_GUARD",
     {{"auto", WEFT_GUARD_AUTO},
      {"mprotect", WEFT_GUARD_MPROTECT},
      {"canary", WEFT_GUARD_CANARY},
      {"none", WEFT_GUARD_NONE}},
     {"", "1", "Auto", "page"},
     {"auto", "install", "mprotect", "canary", "none"},
     [](const weft_settings& s) -> std::size_t { return s.guard; }},
    {"WEFT_KIND",
     {{"full", WEFT_KIND_FULL}, {"lsa", WEFT_KIND_LSA}},
     {"", "1", "tasklet"},
     {"full", "lsa"},
     [](const weft_settings& s) -> std::size_t { return s.kind; }},
    {"WEFT_POOL",
     {{"auto", WEFT_POOL_DEFAULT},
      {"private", WEFT_POOL_PRIVATE},
      {"shared", WEFT_POOL_SHARED},
      {"deque", WEFT_POOL_DEQUE},
      {"lifo", WEFT_POOL_LIFO},
      {"priority", WEFT_POOL_PRIORITY},
      {"blocking", WEFT_POOL_BLOCKING}},
     {"", "1", "user"},
     {"private", "shared", "deque", "lifo", "priority", "blocking"},
     [](const weft_settings& s) -> std::size_t { return s.pool; }},
    {"WEFT_SCHEDULER",
     {{"auto", WEFT_SCHED_DEFAULT},
      {"basic", WEFT_SCHED_BASIC},
      {"random-steal", WEFT_SCHED_RANDOM_STEAL},
      {"basic-wait", WEFT_SCHED_BASIC_WAIT},
      {"priority", WEFT_SCHED_PRIORITY}},
     {"", "1", "random", "user"},
     {"basic", "random-steal", "basic-wait", "priority"},
     [](const weft_settings& s) -> std::size_t { return s.scheduler; }},
    {"WEFT_SCHEDULER_STACK_BYTES",
     {{"65536", 65536}, {"524288", 524288}},
     and_also(no_numbers, {"100"}),
     {"number"},
     [](const weft_settings& s) { return s.scheduler_stack_bytes; }},
    {"WEFT_IDLE_MEMORY_BYTES",
     {{"1", 1}, {"1048576", 1048576}},
     and_also(no_numbers, {"0"}),
     {"number"},
     [](const weft_settings& s) { return s.idle_memory_bytes; }},
    {"WEFT_SPIN_NS",
     {{"1", 1}, {"50000", 50000}},
     and_also(no_numbers, {"0", "2000000000"}),
     {"number"},
     [](const weft_settings& s) { return s.spin_ns; }},
    {"WEFT_DUMP",
     {{"off", 0}, {"USR1", 10}, {"USR2", 12}, {"WINCH", 28}, {"10", 10}, {"40", 40}},
     and_also(no_numbers, {"SIGUSR1", "usr1", "KILL", "SEGV", "0", "9", "11", "19", "32", "65"}),
     {"off", "USR1", "from 1 to 64", "SEGV", "KILL"},
     [](const weft_settings& s) { return static_cast<std::size_t>(s.dump); }},
    {"WEFT_TIMING",
     {{"off", 0}, {"on", 1}},
     {"", "1", "0", "true", "ON"},
     {"on", "off"},
     [](const weft_settings& s) -> std::size_t { return s.timing; }},
    {"WEFT_OWN_STACKS",
     {{"off", 0}, {"on", 1}},
     {"", "1", "0", "true", "ON"},
     {"on", "off"},
     [](const weft_settings& s) -> std::size_t { return s.own_stacks; }},
    {"WEFT_HART_POLICY",
     {{"fair", WEFT_HART_FAIR}, {"weighted", WEFT_HART_WEIGHTED}, {"first-come", WEFT_HART_FIRST_COME}},
     {"", "0", "first_come", "unfair"},
     {"fair", "weighted", "first-come"},
     [](const weft_settings& s) -> std::size_t { return s.hart_policy; }},
    {"WEFT_DEADLOCK",
     {{"report", WEFT_DEADLOCK_REPORT}, {"abort", WEFT_DEADLOCK_ABORT}, {"ignore", WEFT_DEADLOCK_IGNORE}},
     {"", "0", "on", "Report"},
     {"report", "abort", "ignore"},
     [](const weft_settings& s) -> std::size_t { return s.deadlock; }},
    {"WEFT_SLICE_NS",
     {{"1", 1}, {"200000", 200000}},
     and_also(no_numbers, {"0", "20000000000"}),
     {"number"},
     [](const weft_settings& s) { return s.slice_ns; }},
    {"WEFT_ROAMING_PRIMARY",
     {{"off", 0}, {"on", 1}},
     {"", "1", "0", "true", "ON"},
     {"on", "off"},
     [](const weft_settings& s) -> std::size_t { return s.roaming_primary; }},
    {"WEFT_TRACE_EVENTS",
     {{"16", 16}, {"1048576", 1048576}},
     and_also(no_numbers, {"0", "15"}),
     {"number"},
     [](const weft_settings& s) { return s.trace_events; }},
    {"WEFT_RESCUE",
     {{"on", WEFT_RESCUE_ON}, {"off", WEFT_RESCUE_OFF}, {"ignore", WEFT_RESCUE_IGNORE}, {"all", WEFT_RESCUE_ALL}},
     {"", "1", "0", "true", "ON"},
     {"on", "off", "ignore", "all"},
     [](const weft_settings& s) -> std::size_t { return s.rescue; }},
    {"WEFT_RESCUE_BOUND",
     {{"units", 0}, {"1", 1}, {"64", 64}},
     and_also(no_numbers, {"0", "1025", "all"}),
     {"units", "1", "1024"},
     [](const weft_settings& s) { return s.rescue_bound; }},
    {"WEFT_HARTS",
     {{"0", 0}, {"1", 1}, {"1024", 1024}},
     and_also(no_numbers, {"1025", "units"}),
     {"all", "0", "1024"},
     [](const weft_settings& s) { return s.harts; }},
    {"WEFT_NEIGHBOURS",
     {{"withhold", WEFT_NEIGHBOURS_WITHHOLD}, {"ignore", WEFT_NEIGHBOURS_IGNORE}},
     {"", "1", "0", "on", "off"},
     {"withhold", "ignore"},
     [](const weft_settings& s) -> std::size_t { return s.neighbours; }},
    {"WEFT_OWN_FLOAT",
     {{"off", 0}, {"on", 1}, {"1", 1}},
     {"", "2", "yes"},
     {"off", "on"},
     [](const weft_settings& s) -> std::size_t { return s.own_float; }},
};

weft_settings in_force() {
    weft_settings now{};
    now.size = sizeof now;
    EXPECT_EQ(weft_settings_get(&now), WEFT_OK);
    return now;
}

}   // namespace

TEST(Environment, EachLegalValueIsTakenAndAUnitRunsUnderIt) {
    for (const Legal& entry : table) {
        for (auto [text, value] : entry.values) {
            if (std::string(entry.variable) == "WEFT_OWN_FLOAT" && value != 0 &&
                (weft_features() & WEFT_FEATURE_OBSERVERS) == 0)
                continue;
            SCOPED_TRACE(std::string(entry.variable) + "=" + text);
            Variable set(entry.variable, text);
            Runtime runtime;
            if (std::string(text) == "all" && std::string(entry.variable) != "WEFT_RESCUE") value = weft_hart_limit();
            EXPECT_EQ(entry.read(in_force()), value);
            Ult unit([] { weft_unit_yield(); });
            EXPECT_EQ(unit.join(), WEFT_OK);
        }
    }
}

TEST(Environment, EachIllegalValueIsRefusedAndTheLegalOnesAreListed) {
    for (const Legal& entry : table) {
        for (const char* text : entry.illegal) {
            SCOPED_TRACE(std::string(entry.variable) + "=" + text);
            Variable set(entry.variable, text);
            testing::internal::CaptureStderr();
            EXPECT_EQ(weft_init(nullptr), WEFT_ENVIRONMENT);
            const std::string said = testing::internal::GetCapturedStderr();
            const std::string why = weft_error_text();
            EXPECT_NE(said.find(why), std::string::npos) << "the user learns it too: " << said;
            EXPECT_NE(why.find(entry.variable), std::string::npos) << why;
            EXPECT_NE(why.find(std::string("'") + text + "'"), std::string::npos) << why;
            for (const char* legal : entry.told) EXPECT_NE(why.find(legal), std::string::npos) << why;
            EXPECT_FALSE(weft_initialized());
        }
    }
}

TEST(Environment, OfALongValueTheBeginningIsShownAndTheLegalOnesAreListedAllTheSame) {
    const std::string value(5000, 'x');
    for (const Legal& entry : table) {
        SCOPED_TRACE(entry.variable);
        Variable set(entry.variable, value);
        testing::internal::CaptureStderr();
        EXPECT_EQ(weft_init(nullptr), WEFT_ENVIRONMENT);
        testing::internal::GetCapturedStderr();
        const std::string why = weft_error_text();
        EXPECT_NE(why.find("'xxxxxxxxxxxxxxxx"), std::string::npos) << why;
        for (const char* legal : entry.told) EXPECT_NE(why.find(legal), std::string::npos) << why;
    }
    Variable counters("WEFT_COUNTERS", value);
    testing::internal::CaptureStderr();
    EXPECT_EQ(weft_init(nullptr), WEFT_ENVIRONMENT);
    testing::internal::GetCapturedStderr();
    EXPECT_NE(std::string(weft_error_text()).find("stderr"), std::string::npos) << weft_error_text();
}

TEST(Environment, AVariableWinsOverWhatTheProgramAsks) {
    weft_settings asked = with_streams(2);
    asked.stack_bytes = 32 << 10;
    asked.guard = WEFT_GUARD_CANARY;
    asked.kind = WEFT_KIND_FULL;
    asked.pool = WEFT_POOL_SHARED;
    asked.scheduler = WEFT_SCHED_BASIC;
    asked.timing = true;
    Variable streams("WEFT_STREAMS", "3"), stack("WEFT_STACK_BYTES", "131072"), guard("WEFT_GUARD", "none"),
        kind("WEFT_KIND", "lsa"), pool("WEFT_POOL", "deque"), sched("WEFT_SCHEDULER", "random-steal"),
        timing("WEFT_TIMING", "off");
    Runtime runtime(asked);
    EXPECT_EQ(weft_stream_count(), 3u);
    const weft_settings now = in_force();
    EXPECT_EQ(now.streams, 3u);
    EXPECT_EQ(now.stack_bytes, 131072u);
    EXPECT_EQ(now.guard, WEFT_GUARD_NONE);
    EXPECT_EQ(now.kind, WEFT_KIND_LSA);
    EXPECT_EQ(now.pool, WEFT_POOL_DEQUE);
    EXPECT_EQ(now.scheduler, WEFT_SCHED_RANDOM_STEAL);
    EXPECT_FALSE(now.timing);
    Ult unit([] {
        weft_stack_info info{};
        info.size = sizeof info;
        EXPECT_EQ(weft_unit_stack_get(weft_unit_self(), &info), WEFT_OK);
        EXPECT_EQ(info.guarded, WEFT_UNSUPPORTED);
        EXPECT_GT(info.bytes, 100000u);
    });
}

TEST(Environment, AGuardThatTheKernelLacksIsRefusedWithAReason) {
    Variable guard("WEFT_GUARD", "install");
    const weft_status status = weft_init(nullptr);
    if (status == WEFT_OK) {
        EXPECT_EQ(in_force().guard, WEFT_GUARD_INSTALL);
        EXPECT_EQ(weft_finalize(), WEFT_OK);
    } else {
        EXPECT_EQ(status, WEFT_UNSUPPORTED);
        EXPECT_NE(std::string(weft_error_text()).find("WEFT_GUARD"), std::string::npos) << weft_error_text();
        EXPECT_FALSE(weft_initialized());
    }
}

TEST(Environment, CountersGoToTheFileOnce) {
    File file;
    {
        Variable counters("WEFT_COUNTERS", file.name());
        {
            Runtime runtime;
            Ult unit([] {});
        }
    }
    const std::string text = file.text();
    EXPECT_EQ(times(text, "/units/count/created\t1\n"), 1u) << text;
    EXPECT_EQ(times(text, "/units{stream#0}/count/created\t1\n"), 1u) << text;
    file.clear();
    { Runtime runtime; }
    EXPECT_EQ(file.text(), "") << "without the variable nothing is written";
}

TEST(Environment, CountersGoToStderrOnce) {
    Variable counters("WEFT_COUNTERS", "stderr");
    testing::internal::CaptureStderr();
    {
        Runtime runtime;
        Ult unit([] {});
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(times(said, "/units/count/created\t1\n"), 1u) << said;
}

TEST(Environment, OffIsNeitherAFileOfCountersNorOneOfATrace) {
    Variable counters("WEFT_COUNTERS", "off"), trace("WEFT_TRACE", "off");
    EXPECT_EQ(weft_environment_check(nullptr), WEFT_OK);
    weft_settings asked = with_streams(1);
    asked.trace = "/no/such/folder/at/all";
    testing::internal::CaptureStderr();
    {
        Runtime runtime(asked);
        EXPECT_EQ(in_force().trace, nullptr) << "the variable wins";
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Environment, CountersGoNowhereElse) {
    for (const char* bad : {"", "stdout", "counters.txt", "1"}) {
        Variable counters("WEFT_COUNTERS", bad);
        testing::internal::CaptureStderr();
        EXPECT_EQ(weft_init(nullptr), WEFT_ENVIRONMENT) << bad;
        testing::internal::GetCapturedStderr();
        EXPECT_NE(std::string(weft_error_text()).find("stderr"), std::string::npos) << weft_error_text();
        EXPECT_FALSE(weft_initialized());
    }
    Variable counters("WEFT_COUNTERS", "/no/such/folder/at/all");
    testing::internal::CaptureStderr();
    { Runtime runtime; }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("/no/such/folder/at/all"), std::string::npos);
}

TEST(Environment, CountersOfAProgramThatExitsWithoutFinalizeArePrintedOnce) {
    auto program = [] {
        setenv("WEFT_COUNTERS", "stderr", 1);
        weft_init(nullptr);
        std::exit(0);
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "/units/count/created\t0");
    auto both = [] {
        setenv("WEFT_COUNTERS", "stderr", 1);
        weft_init(nullptr);
        weft_finalize();
        std::fprintf(stderr, "finalized\n");
        std::exit(0);
    };
    // Extended regular expressions cannot count occurrences; instead, nothing may follow the
    // marker.
    EXPECT_EXIT(both(), testing::ExitedWithCode(0), "/units/count/created\t0(.|\n)*finalized\n$");
}

TEST(Environment, IsCheckedWithoutStartingAnything) {
    EXPECT_EQ(weft_environment_check(nullptr), WEFT_OK);
    Variable harts("WEFT_HARTS", "many"), guard("WEFT_GUARD", "mprotect"), counters("WEFT_COUNTERS", "somewhere"),
        trace("WEFT_TRACE", "/no/such/folder/at/all");
    char* text = nullptr;
    std::size_t bytes = 0;
    std::FILE* file = open_memstream(&text, &bytes);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(weft_environment_check(file), WEFT_ENVIRONMENT);
    std::fclose(file);
    const std::string printed(text, bytes);
    std::free(text);
    EXPECT_EQ(times(printed, "\n"), 2u) << printed;
    EXPECT_EQ(printed.rfind("WEFT_HARTS is 'many'; legal are: all, or a number from 0 to 1024\n", 0), 0u) << printed;
    EXPECT_NE(printed.find("WEFT_COUNTERS is 'somewhere'"), std::string::npos) << printed;
    EXPECT_EQ(std::string(weft_error_text()).rfind("WEFT_COUNTERS is 'somewhere'", 0), 0u) << weft_error_text();
    testing::internal::CaptureStderr();
    EXPECT_EQ(weft_environment_check(nullptr), WEFT_ENVIRONMENT);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_FALSE(weft_initialized());
}

TEST(Environment, ANameThatIsNearlyOneOfOursIsToldOnceAndTheNamesStayInTheEnvironment) {
    EXPECT_EQ(weft_environment_doubts(nullptr), 0u);
    Variable misspelt("WEFT_STEAMS", "4"), other("WEFT_OF_ANOTHER_PROJECT", "1"), ours("WEFT_SPIN_NS", "1000");
    const std::string told = "WEFT_STEAMS is not a variable of Weft, and has no effect; is WEFT_STREAMS meant?\n";
    char* text = nullptr;
    std::size_t bytes = 0;
    std::FILE* file = open_memstream(&text, &bytes);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(weft_environment_doubts(file), 1u);
    std::fclose(file);
    EXPECT_EQ(std::string(text, bytes), told);
    std::free(text);
    const auto said_by_a_start = [] {
        testing::internal::CaptureStderr();
        { Runtime runtime; }
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(said_by_a_start(), "weft: " + told);
    EXPECT_EQ(said_by_a_start(), "");
    EXPECT_STREQ(std::getenv("WEFT_TOLD_OF"), "WEFT_STEAMS");
    EXPECT_STREQ(std::getenv("WEFT_OF_ANOTHER_PROJECT"), "1");
    Variable second("WEFT_KINDS", "lsa");
    EXPECT_EQ(said_by_a_start(),
              "weft: WEFT_KINDS is not a variable of Weft, and has no effect; is WEFT_KIND meant?\n");
    EXPECT_EQ(said_by_a_start(), "");
    EXPECT_STREQ(std::getenv("WEFT_TOLD_OF"), "WEFT_STEAMS:WEFT_KINDS");
    unsetenv("WEFT_TOLD_OF");
}

TEST(Environment, ThePrintNamesEveryVariable) {
    char* text = nullptr;
    std::size_t bytes = 0;
    std::FILE* file = open_memstream(&text, &bytes);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(weft_environment_print(file), WEFT_OK);
    std::fclose(file);
    const std::string printed(text, bytes);
    std::free(text);
    for (const Legal& entry : table) {
        EXPECT_EQ(times("\n" + printed, std::string("\n") + entry.variable + "\t"), 1u) << entry.variable;
    }
    EXPECT_EQ(times(printed, "WEFT_COUNTERS\t"), 1u);
    EXPECT_EQ(times(printed, "WEFT_TRACE\t"), 1u);
    EXPECT_EQ(times(printed, "\n"), table.size() + 2) << "a variable that this test does not know? " << printed;
    EXPECT_NE(printed.find("random-steal"), std::string::npos);
    EXPECT_EQ(weft_environment_print(nullptr), WEFT_INVALID);
}
