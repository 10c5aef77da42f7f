// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries about the library, and dumps of all ULTs' stacks, also in a signal handler and while a
// stream hangs.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "test_support.hpp"

using namespace abt_test;

// Exported and not inlined, so that a dump can find its name.
extern "C" [[gnu::noinline, gnu::visibility("default")]] void info_stands_here() {
    EXPECT_EQ(ABT_self_suspend(), ABT_SUCCESS);
    asm volatile("");   // no tail call
}

namespace {

// A file in memory.
class Text {
public:
    Text() : file_(open_memstream(&text_, &bytes_)) { EXPECT_NE(file_, nullptr); }
    ~Text() {
        std::fclose(file_);
        std::free(text_);
    }
    Text(const Text&) = delete;

    std::FILE* file() const { return file_; }
    std::string now() {
        std::fflush(file_);
        return {text_, bytes_};
    }
    bool has(const std::string& part) { return now().find(part) != std::string::npos; }

private:
    char* text_ = nullptr;
    std::size_t bytes_ = 0;
    std::FILE* file_;
};

void suspended_body(void* mark) {
    volatile std::uint64_t on_the_stack = *static_cast<const std::uint64_t*>(mark);
    info_stands_here();
    EXPECT_EQ(on_the_stack, *static_cast<const std::uint64_t*>(mark));
}

constexpr std::uint64_t mark = 0x5eed0badcafe1234;

// A ULT that is suspended in a known function and has a known number on its stack.
class Suspended {
public:
    explicit Suspended(ABT_pool pool = own_pool())
        : thread_(create(suspended_body, const_cast<std::uint64_t*>(&mark), pool)) {
        ABT_thread_state state{};
        do {
            EXPECT_EQ(ABT_thread_yield(), ABT_SUCCESS);
            EXPECT_EQ(ABT_thread_get_state(thread_, &state), ABT_SUCCESS);
        } while (state != ABT_THREAD_STATE_BLOCKED);
    }
    ~Suspended() {
        EXPECT_EQ(ABT_thread_resume(thread_), ABT_SUCCESS);
        release(thread_);
    }
    Suspended(const Suspended&) = delete;
    ABT_thread handle() const { return thread_; }

private:
    ABT_thread thread_;
};

double seconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Called when a dump is over.
struct Told {
    std::atomic<int> times{0};
    std::atomic<int> timed_out{-1};

    static void call(ABT_bool timed_out, void* self) {
        auto& to = *static_cast<Told*>(self);
        to.timed_out.store(timed_out);
        ++to.times;
    }
    void wait_yielding(int count = 1) const {
        while (times.load() < count) EXPECT_EQ(ABT_thread_yield(), ABT_SUCCESS);
    }
    void wait_hanging(int count = 1) const {
        while (times.load() < count) {}
    }
};

}   // namespace

// ---- queries ------------------------------------------------------------------------------------

TEST(Query, WritesTheBytesOfItsAnswerAndNoOther) {
    Library library;
    for (int kind = ABT_INFO_QUERY_KIND_ENABLED_DEBUG; kind <= ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC; ++kind) {
        const bool wide = kind == ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE ||
                          kind == ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE ||
                          kind == ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ ||
                          kind == ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC;
        const std::size_t bytes = wide ? 8 : 4;
        unsigned char zeros[16], ones[16];
        std::memset(zeros, 0, sizeof zeros);
        std::memset(ones, 0xff, sizeof ones);
        EXPECT_EQ(ABT_info_query_config(static_cast<ABT_info_query_kind>(kind), zeros + 4), ABT_SUCCESS) << kind;
        EXPECT_EQ(ABT_info_query_config(static_cast<ABT_info_query_kind>(kind), ones + 4), ABT_SUCCESS) << kind;
        EXPECT_EQ(std::memcmp(zeros + 4, ones + 4, bytes), 0) << kind;
        for (std::size_t i = 0; i < sizeof zeros; ++i) {
            if (i >= 4 && i < 4 + bytes) continue;
            EXPECT_EQ(zeros[i], 0) << kind << " at " << i;
            EXPECT_EQ(ones[i], 0xff) << kind << " at " << i;
        }
    }
}

TEST(Query, TellsWhatTheEnvironmentSays) {
    Variable stack("ABT_THREAD_STACKSIZE", "40000"), sched("ABT_SCHED_STACKSIZE", "1048576"),
        streams("ABT_MAX_NUM_XSTREAMS", "7"), frequency("ABT_SCHED_EVENT_FREQ", "123"),
        sleep("ABT_SCHED_SLEEP_NSEC", "4567");
    Library library;
    std::size_t bytes = 0;
    std::uint64_t number = 0;
    unsigned count = 0;
    EXPECT_EQ(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, &bytes), ABT_SUCCESS);
    EXPECT_EQ(bytes, 40000u);
    EXPECT_EQ(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE, &bytes), ABT_SUCCESS);
    EXPECT_EQ(bytes, 1048576u);
    EXPECT_EQ(ABT_info_query_config(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS, &count), ABT_SUCCESS);
    EXPECT_EQ(count, 7u);
    EXPECT_EQ(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ, &number), ABT_SUCCESS);
    EXPECT_EQ(number, 123u);
    EXPECT_EQ(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC, &number), ABT_SUCCESS);
    EXPECT_EQ(number, 4567u);
}

TEST(Query, OfWhatThereAlwaysIsTellsYes) {
    Library library;
    for (ABT_info_query_kind kind :
         {ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR, ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED,
          ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD}) {
        ABT_bool answer = ABT_FALSE;
        EXPECT_EQ(ABT_info_query_config(kind, &answer), ABT_SUCCESS);
        EXPECT_EQ(answer, ABT_TRUE) << kind;
    }
}

TEST(Query, IsRefusedOfNoKindAndBeforeTheLibraryKnows) {
    std::uint64_t value = 0;
    EXPECT_EQ(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, &value), ABT_ERR_UNINITIALIZED);
    Library library;
    EXPECT_EQ(ABT_info_query_config(static_cast<ABT_info_query_kind>(28), &value), ABT_ERR_INV_QUERY_KIND);
    EXPECT_EQ(ABT_info_query_config(static_cast<ABT_info_query_kind>(-1), &value), ABT_ERR_INV_QUERY_KIND);
    EXPECT_EQ(value, 0u);
}

// ---- printing -----------------------------------------------------------------------------------

TEST(Print, WritesSomethingOfEachObject) {
    Library library;
    ABT_sched sched = ABT_SCHED_NULL;
    ASSERT_EQ(ABT_xstream_get_main_sched(own_xstream(), &sched), ABT_SUCCESS);
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ASSERT_EQ(ABT_thread_attr_create(&attr), ABT_SUCCESS);
    ABT_thread thread = create([](void*) {});
    ABT_task task = ABT_TASK_NULL;
    ASSERT_EQ(ABT_task_create(
                  own_pool(), [](void*) {}, nullptr, &task),
              ABT_SUCCESS);
    const auto written = [](auto print) {
        Text text;
        EXPECT_EQ(print(text.file()), ABT_SUCCESS);
        return text.now();
    };
    EXPECT_NE(written([](FILE* to) { return ABT_info_print_config(to); }), "");
    EXPECT_NE(written([](FILE* to) { return ABT_info_print_all_xstreams(to); }), "");
    EXPECT_NE(written([](FILE* to) { return ABT_info_print_xstream(to, own_xstream()); }), "");
    EXPECT_NE(written([&](FILE* to) { return ABT_info_print_sched(to, sched); }), "");
    EXPECT_NE(written([](FILE* to) { return ABT_info_print_pool(to, own_pool()); }), "");
    EXPECT_NE(written([&](FILE* to) { return ABT_info_print_thread(to, thread); }), "");
    EXPECT_NE(written([&](FILE* to) { return ABT_info_print_thread_attr(to, attr); }), "");
    EXPECT_NE(written([&](FILE* to) { return ABT_info_print_task(to, task); }), "");
    EXPECT_NE(written([&](FILE* to) { return ABT_info_print_thread_stack(to, thread); }), "");
    EXPECT_NE(written([](FILE* to) { return ABT_info_print_thread_stacks_in_pool(to, own_pool()); }), "");
    release(thread);
    EXPECT_EQ(ABT_task_free(&task), ABT_SUCCESS);
    EXPECT_EQ(ABT_thread_attr_free(&attr), ABT_SUCCESS);
}

TEST(Print, OfAllStreamsHasALineOfEach) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Library library;
    ABT_xstream other = ABT_XSTREAM_NULL;
    ASSERT_EQ(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 5, &other), ABT_SUCCESS);
    Text text;
    EXPECT_EQ(ABT_info_print_all_xstreams(text.file()), ABT_SUCCESS);
    EXPECT_TRUE(text.has("execution stream 0 ")) << text.now();
    EXPECT_TRUE(text.has("execution stream 5 ")) << text.now();
    EXPECT_TRUE(text.has("RUNNING")) << text.now();
    EXPECT_FALSE(text.has("TERMINATED")) << text.now();
    ASSERT_EQ(ABT_xstream_join(other), ABT_SUCCESS);
    EXPECT_EQ(ABT_info_print_xstream(text.file(), other), ABT_SUCCESS);
    EXPECT_TRUE(text.has("TERMINATED")) << text.now();
    EXPECT_EQ(ABT_xstream_free(&other), ABT_SUCCESS);
}

TEST(Print, OfTheConfigurationIsMadeAtTheStartIfTheEnvironmentAsks) {
    Variable asked("ABT_PRINT_CONFIG", "1");
    testing::internal::CaptureStdout();
    { Library library; }
    EXPECT_NE(testing::internal::GetCapturedStdout(), "");
}

TEST(Print, RefusesNullHandlesAndTheTimeBeforeTheStart) {
    Text text;
    EXPECT_EQ(ABT_info_print_config(text.file()), ABT_ERR_UNINITIALIZED);
    EXPECT_EQ(ABT_info_print_all_xstreams(text.file()), ABT_ERR_UNINITIALIZED);
    EXPECT_EQ(ABT_info_print_xstream(text.file(), ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_info_print_sched(text.file(), ABT_SCHED_NULL), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_info_print_pool(text.file(), ABT_POOL_NULL), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_info_print_thread(text.file(), ABT_THREAD_NULL), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_info_print_thread_attr(text.file(), ABT_THREAD_ATTR_NULL), ABT_ERR_INV_THREAD_ATTR);
    EXPECT_EQ(ABT_info_print_task(text.file(), ABT_TASK_NULL), ABT_ERR_INV_TASK);
    EXPECT_EQ(ABT_info_print_thread_stack(text.file(), ABT_THREAD_NULL), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_info_print_thread_stacks_in_pool(text.file(), ABT_POOL_NULL), ABT_ERR_INV_POOL);
    EXPECT_EQ(text.now(), "");
}

// ---- stacks -------------------------------------------------------------------------------------

namespace {

std::string hexadecimal(std::uint64_t word) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(word));
    return text;
}

}   // namespace

TEST(Stack, OfAUnitShowsWhereItStandsAndWhatItHolds) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Library library;
    Suspended suspended;
    Text text;
    EXPECT_EQ(ABT_info_print_thread_stack(text.file(), suspended.handle()), ABT_SUCCESS);
    EXPECT_TRUE(text.has("info_stands_here")) << text.now();
    EXPECT_TRUE(text.has(hexadecimal(mark))) << text.now();
}

TEST(Stack, WithoutItsBytesIsWhatTheEnvironmentMayAskFor) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Variable raw("ABT_PRINT_RAW_STACK", "0");
    Library library;
    Suspended suspended;
    Text text;
    EXPECT_EQ(ABT_info_print_thread_stack(text.file(), suspended.handle()), ABT_SUCCESS);
    EXPECT_TRUE(text.has("info_stands_here")) << text.now();
    EXPECT_FALSE(text.has(hexadecimal(mark))) << text.now();
}

TEST(Stack, OfTheCallerAndOfATaskletIsNotThereAndNoError) {
    Library library;
    ABT_thread self = ABT_THREAD_NULL;
    ASSERT_EQ(ABT_self_get_thread(&self), ABT_SUCCESS);
    Text text;
    EXPECT_EQ(ABT_info_print_thread_stack(text.file(), self), ABT_SUCCESS);
    ABT_task task = ABT_TASK_NULL;
    ASSERT_EQ(ABT_task_create(
                  own_pool(), [](void*) {}, nullptr, &task),
              ABT_SUCCESS);
    EXPECT_EQ(ABT_info_print_thread_stack(text.file(), task), ABT_SUCCESS);
    EXPECT_EQ(ABT_task_free(&task), ABT_SUCCESS);
}

TEST(Stack, CanBeAskedForByAUnitWithASmallStack) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Library library;
    Suspended suspended;
    static ABT_thread of;
    of = suspended.handle();
    static Text* text;
    Text made;
    text = &made;
    release(create([](void*) { EXPECT_EQ(ABT_info_print_thread_stack(text->file(), of), ABT_SUCCESS); }));
    EXPECT_TRUE(made.has("info_stands_here")) << made.now();
}

TEST(Stack, OfAPoolAreThoseOfTheUnitsThatWaitInIt) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Library library;
    ABT_pool apart = ABT_POOL_NULL;
    ASSERT_EQ(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &apart), ABT_SUCCESS);
    ABT_thread here = create([](void*) {}, nullptr, apart), there = create([](void*) {});
    Text text;
    EXPECT_EQ(ABT_info_print_thread_stacks_in_pool(text.file(), apart), ABT_SUCCESS);
    std::size_t units = 0;
    for (std::size_t at = text.now().find("\nunit "); at != std::string::npos; at = text.now().find("\nunit ", at + 1))
        ++units;
    EXPECT_EQ(units, 1u) << text.now();
    ABT_thread popped = ABT_THREAD_NULL;
    EXPECT_EQ(ABT_pool_pop_thread(apart, &popped), ABT_SUCCESS);
    EXPECT_EQ(popped, here);
    EXPECT_EQ(ABT_pool_push_thread(own_pool(), here), ABT_SUCCESS);
    release(here);
    release(there);
    EXPECT_EQ(ABT_pool_free(&apart), ABT_SUCCESS);
}

TEST(Stack, OfAPoolThatCannotTellItsUnitsAreRefused) {
    Library library;
    ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
    ASSERT_EQ(ABT_pool_user_def_create([](ABT_pool, ABT_thread thread) { return reinterpret_cast<ABT_unit>(thread); },
                                       [](ABT_pool, ABT_unit) {}, [](ABT_pool) -> ABT_bool { return ABT_TRUE; },
                                       [](ABT_pool, ABT_pool_context) -> ABT_thread { return ABT_THREAD_NULL; },
                                       [](ABT_pool, ABT_unit, ABT_pool_context) {}, &def),
              ABT_SUCCESS);
    ABT_pool pool = ABT_POOL_NULL;
    ASSERT_EQ(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool), ABT_SUCCESS);
    Text text;
    EXPECT_EQ(ABT_info_print_thread_stacks_in_pool(text.file(), pool), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_free(&pool), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_user_def_free(&def), ABT_SUCCESS);
}

// ---- all stacks, on request ---------------------------------------------------------------------

namespace {

// For a signal handler.
Text* handlers_text;
Told* handlers_told;
double handlers_timeout;
std::atomic<int> handlers_error;

void on_signal(int) {
    handlers_error.store(
        ABT_info_trigger_print_all_thread_stacks(handlers_text->file(), handlers_timeout, Told::call, handlers_told));
}

class Handler {
public:
    Handler(Text& text, Told& told, double timeout) {
        handlers_text = &text;
        handlers_told = &told;
        handlers_timeout = timeout;
        handlers_error.store(-1);
        struct sigaction ours {};
        ours.sa_handler = on_signal;
        sigemptyset(&ours.sa_mask);
        sigaction(SIGUSR1, &ours, &before_);
    }
    ~Handler() { sigaction(SIGUSR1, &before_, nullptr); }
    Handler(const Handler&) = delete;

private:
    struct sigaction before_ {};
};

}   // namespace

TEST(AllStacks, ArePrintedWhenAllStreamsHaveCome) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Library library;
    Streams streams(2);
    Suspended here, there(streams.pool(1));
    Text text;
    Told told;
    ASSERT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), -1, Told::call, &told), ABT_SUCCESS);
    told.wait_yielding();
    EXPECT_EQ(told.timed_out.load(), ABT_FALSE);
    EXPECT_TRUE(text.has("info_stands_here")) << text.now();
    EXPECT_TRUE(text.has(hexadecimal(mark))) << text.now();
    EXPECT_EQ(told.times.load(), 1);
}

TEST(AllStacks, AreAskedForByASignalAtAnyMoment) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Library library;
    Streams streams(1);
    Suspended suspended(streams.pool(0));
    Text text;
    Told told;
    Handler handler(text, told, 30);
    std::atomic<bool> stop{false};
    ABT_thread busy = create(
        [](void* raw) {
            while (!static_cast<std::atomic<bool>*>(raw)->load()) EXPECT_EQ(ABT_thread_yield(), ABT_SUCCESS);
        },
        &stop, streams.pool(0));
    int asked = 0;
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(raise(SIGUSR1), 0);
        if (handlers_error.load() == ABT_SUCCESS) ++asked;
        told.wait_yielding(asked);
    }
    EXPECT_EQ(asked, 20);
    EXPECT_EQ(told.timed_out.load(), ABT_FALSE);
    EXPECT_TRUE(text.has("info_stands_here")) << text.now();
    stop.store(true);
    release(busy);
}

TEST(AllStacks, ComeThoughTheStreamsSleep) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Library library;
    Streams streams(2);
    Suspended suspended(streams.pool(0));
    Text text;
    Told told;
    ABT_eventual eventual = ABT_EVENTUAL_NULL;
    ASSERT_EQ(ABT_eventual_create(0, &eventual), ABT_SUCCESS);
    std::thread outside([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));   // meanwhile all are asleep
        EXPECT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), -1, Told::call, &told), ABT_SUCCESS);
        while (told.times.load() == 0) usleep(1000);
        EXPECT_EQ(ABT_eventual_set(eventual, nullptr, 0), ABT_SUCCESS);
    });
    EXPECT_EQ(ABT_eventual_wait(eventual, nullptr), ABT_SUCCESS);
    outside.join();
    EXPECT_EQ(told.timed_out.load(), ABT_FALSE);
    EXPECT_TRUE(text.has("info_stands_here")) << text.now();
    EXPECT_EQ(ABT_eventual_free(&eventual), ABT_SUCCESS);
}

TEST(AllStacks, ArePrintedWithoutAStreamThatHangsWhenTheTimeIsUp) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Library library;
    Streams streams(2);
    Suspended suspended(streams.pool(0));
    std::atomic<bool> hangs{false}, stop{false};
    struct Both {
        std::atomic<bool>&hangs, &stop;
    } both{hangs, stop};
    ABT_thread hanging = create(
        [](void* raw) {
            auto& of = *static_cast<Both*>(raw);
            of.hangs.store(true);
            while (!of.stop.load()) {}
        },
        &both, streams.pool(1));
    while (!hangs.load()) EXPECT_EQ(ABT_thread_yield(), ABT_SUCCESS);
    Text text;
    Told told;
    const double begin = seconds();
    ASSERT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), 0.1, Told::call, &told), ABT_SUCCESS);
    told.wait_yielding();
    EXPECT_GE(seconds() - begin, 0.1);
    EXPECT_EQ(told.timed_out.load(), ABT_TRUE);
    EXPECT_TRUE(text.has("info_stands_here")) << text.now();
    EXPECT_TRUE(text.has("execution stream 2 has not come")) << text.now();
    EXPECT_FALSE(text.has("execution stream 1 has not come")) << text.now();
    stop.store(true);
    release(hanging);
    // The late stream takes part in the next dump.
    ASSERT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), -1, Told::call, &told), ABT_SUCCESS);
    told.wait_yielding(2);
    EXPECT_EQ(told.timed_out.load(), ABT_FALSE);
}

TEST(AllStacks, ArePrintedThoughTheOneWhoAsksHangs) {
    if (elsewhere()) GTEST_SKIP() << "the formats are not the same";
    Library library;
    Streams streams(1);
    Suspended suspended(streams.pool(0));
    Text text;
    Told told;
    Handler handler(text, told, 0.05);
    ASSERT_EQ(raise(SIGUSR1), 0);
    ASSERT_EQ(handlers_error.load(), ABT_SUCCESS);
    told.wait_hanging();
    EXPECT_EQ(told.timed_out.load(), ABT_TRUE);
    EXPECT_TRUE(text.has("info_stands_here")) << text.now();
    EXPECT_TRUE(text.has("execution stream 0 has not come")) << text.now();
}

TEST(AllStacks, AreAskedForBySeveralAtOnceAndEachLearnsOfHisOwn) {
    if (elsewhere()) GTEST_SKIP() << "one at a time may ask there";
    Library library;
    Streams streams(2);
    Text text;
    Told told;
    constexpr int threads = 4;
    std::atomic<int> asked{0}, refused{0}, running{threads};
    std::vector<std::thread> outside;
    for (int i = 0; i < threads; ++i) {
        outside.emplace_back([&] {
            for (int round = 0; round < 5; ++round) {
                const int error = ABT_info_trigger_print_all_thread_stacks(text.file(), -1, Told::call, &told);
                ++(error == ABT_SUCCESS ? asked : refused);
                if (error != ABT_SUCCESS) {
                    EXPECT_EQ(error, ABT_ERR_OTHER);
                }
            }
            --running;
        });
    }
    while (running.load() != 0 || told.times.load() < asked.load()) EXPECT_EQ(ABT_thread_yield(), ABT_SUCCESS);
    for (std::thread& each : outside) each.join();
    EXPECT_EQ(told.times.load(), asked.load());
    EXPECT_GE(asked.load(), 8);
}

TEST(AllStacks, ArePrintedWhileStreamsComeAndGo) {
    Library library;
    Text text;
    Told told;
    int asked = 0;
    for (int i = 0; i < 10; ++i) {
        Streams streams(2);
        ASSERT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), -1, Told::call, &told), ABT_SUCCESS);
        if (i % 2 == 0) told.wait_yielding(asked + 1);
        ++asked;
        if (i % 4 == 3) told.wait_yielding(asked);
    }
    told.wait_yielding(asked);
    EXPECT_EQ(told.timed_out.load(), ABT_FALSE);
}

TEST(AllStacks, ThatAreAskedForAtTheEndAreToldOfBeforeItIsOver) {
    Text text;
    Told told;
    {
        Library library;
        ASSERT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), -1, Told::call, &told), ABT_SUCCESS);
    }
    EXPECT_EQ(told.times.load(), 1);
    if (elsewhere()) return;   // Argobots does not refuse it after the end
    EXPECT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), -1, Told::call, &told), ABT_ERR_UNINITIALIZED);
    EXPECT_EQ(told.times.load(), 1);
}

TEST(AllStacks, NeedNobodyWhoIsTold) {
    if (elsewhere()) GTEST_SKIP() << "one at a time may ask there";
    Library library;
    Text text;
    ASSERT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), -1, nullptr, nullptr), ABT_SUCCESS);
    Told told;
    ASSERT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), -1, Told::call, &told), ABT_SUCCESS);
    told.wait_yielding();
}

TEST(AllStacks, MeetSchedulersOfTheProgramsOwnWhereTheyLookForEvents) {
    Library library;
    ABT_pool pool = ABT_POOL_NULL;
    ASSERT_EQ(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool), ABT_SUCCESS);
    ABT_sched_def def{};
    def.type = ABT_SCHED_TYPE_ULT;
    def.run = [](ABT_sched sched) {
        ABT_pool from = ABT_POOL_NULL;
        EXPECT_EQ(ABT_sched_get_pools(sched, 1, 0, &from), ABT_SUCCESS);
        for (ABT_bool stop = ABT_FALSE; stop == ABT_FALSE;) {
            ABT_unit unit = ABT_UNIT_NULL;
            EXPECT_EQ(ABT_pool_pop(from, &unit), ABT_SUCCESS);
            if (unit != ABT_UNIT_NULL) {
                EXPECT_EQ(ABT_xstream_run_unit(unit, from), ABT_SUCCESS);
            }
            EXPECT_EQ(ABT_xstream_check_events(sched), ABT_SUCCESS);
            EXPECT_EQ(ABT_sched_has_to_stop(sched, &stop), ABT_SUCCESS);
        }
    };
    ABT_sched sched = ABT_SCHED_NULL;
    ASSERT_EQ(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched), ABT_SUCCESS);
    ABT_xstream xstream = ABT_XSTREAM_NULL;
    ASSERT_EQ(ABT_xstream_create(sched, &xstream), ABT_SUCCESS);
    Text text;
    Told told;
    ASSERT_EQ(ABT_info_trigger_print_all_thread_stacks(text.file(), -1, Told::call, &told), ABT_SUCCESS);
    told.wait_yielding();
    EXPECT_EQ(told.timed_out.load(), ABT_FALSE);
    EXPECT_EQ(ABT_xstream_free(&xstream), ABT_SUCCESS);
    EXPECT_EQ(ABT_sched_free(&sched), ABT_SUCCESS);
}
