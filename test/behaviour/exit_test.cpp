// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exit() inside a unit: the other streams stop at their next switch, the exit handlers run once,
// and the exit code is right.
#include <cstdio>
#include <cstdlib>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

// LeakSanitizer calls this at exit. It does not search the stacks of units that wait, and reports
// memory that only they refer to as leaked; so it stays silent where exit() leaves a runtime
// behind.
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() { return weft_initialized(); }

namespace {

atomic<int> switches{0};

// Prints what tests wait for. A second call would print it twice, and the end of the pattern would
// not match.
void handler() { std::fprintf(stderr, "[handler]"); }

enum class From { ult, tasklet, primary };

// A program with four streams on which units yield forever; one of the units, or a tasklet, calls
// exit(7).
[[noreturn]] void program(From from, std::size_t rank, weft_pool_kind pool_kind = WEFT_POOL_PRIVATE) {
    std::fprintf(stderr, "[begin]");
    weft_settings settings = with_streams(4);
    settings.pool = pool_kind;
    if (weft_init(&settings) != WEFT_OK) std::abort();
    std::atexit(handler);
    auto spin = [](void*) {
        for (;;) {
            ++switches;
            weft_unit_yield();
        }
    };
    for (std::size_t i = 0; i < 4; ++i) {
        weft_ult_spawn(pool_of(i), spin, nullptr, nullptr, nullptr);
        weft_ult_spawn(pool_of(i), spin, nullptr, nullptr, nullptr);
    }
    until([] { return switches > 1000; });
    auto leave = [](void*) { std::exit(7); };
    if (from == From::primary) std::exit(7);
    if (from == From::ult) weft_ult_spawn(pool_of(rank), leave, nullptr, nullptr, nullptr);
    if (from == From::tasklet) weft_tasklet_spawn(pool_of(rank), leave, nullptr, nullptr, nullptr);
    for (;;) weft_unit_yield();
}

constexpr char once[] = "^\\[begin\\]\\[handler\\]$";

}   // namespace

TEST(Exit, FromThePrimaryUnit) { EXPECT_EXIT(program(From::primary, 0), testing::ExitedWithCode(7), once); }

TEST(Exit, FromAUltOnStreamZero) { EXPECT_EXIT(program(From::ult, 0), testing::ExitedWithCode(7), once); }

TEST(Exit, FromAUltOnAnotherStream) { EXPECT_EXIT(program(From::ult, 2), testing::ExitedWithCode(7), once); }

TEST(Exit, FromATaskletOnStreamZero) { EXPECT_EXIT(program(From::tasklet, 0), testing::ExitedWithCode(7), once); }

TEST(Exit, FromATaskletOnAnotherStream) { EXPECT_EXIT(program(From::tasklet, 3), testing::ExitedWithCode(7), once); }

TEST(Exit, FromAUnitThatMayHaveBeenStolen) {
    EXPECT_EXIT(program(From::ult, 1, WEFT_POOL_DEQUE), testing::ExitedWithCode(7), once);
    EXPECT_EXIT(program(From::tasklet, 1, WEFT_POOL_SHARED), testing::ExitedWithCode(7), once);
}

TEST(Exit, OtherStreamsHaveStoppedBeforeLaterHandlersAreDone) {
    auto watch = [] {
        // Registered before weft_init, so it runs after Weft's own handler.
        std::atexit([] {
            // Each stream that still runs stops at its next switch, so the count stops changing.
            int before = -1;
            int quiet_rounds = 0;
            while (quiet_rounds < 100) {
                const int now = switches;
                quiet_rounds = now == before ? quiet_rounds + 1 : 0;
                before = now;
                for (int i = 0; i < 20; ++i) std::this_thread::yield();
            }
            std::fprintf(stderr, "[rest]");
        });
        program(From::ult, 2);
    };
    EXPECT_EXIT(watch(), testing::ExitedWithCode(7), "^\\[begin\\]\\[handler\\]\\[rest\\]$");
}

TEST(Exit, WhileStreamsSleepAreSuspendedAndWhileUnitsWait) {
    auto quiet = [] {
        weft_settings settings = with_streams(4);
        settings.pool = WEFT_POOL_PRIVATE;
        if (weft_init(&settings) != WEFT_OK) std::abort();
        std::atexit(handler);
        weft_stream_suspend(weft_stream_at(1));
        weft_ult_spawn(
            pool_of(2), [](void*) { weft_unit_suspend(nullptr, nullptr); }, nullptr, nullptr, nullptr);
        weft_unit* last = nullptr;
        weft_ult_spawn(
            pool_of(3), [](void*) { std::exit(5); }, nullptr, nullptr, &last);
        weft_unit_join(last);
        std::abort();
    };
    EXPECT_EXIT(quiet(), testing::ExitedWithCode(5), "^\\[handler\\]$");
}

TEST(Exit, AfterTheRuntimeHasEnded) {
    auto plain = [] {
        weft_init(nullptr);
        weft_finalize();
        std::atexit(handler);
        std::exit(3);
    };
    EXPECT_EXIT(plain(), testing::ExitedWithCode(3), "^\\[handler\\]$");
}

TEST(Exit, FromAnOsThreadThatIsNoStream) {
    auto outside = [] {
        weft_settings settings = with_streams(2);
        if (weft_init(&settings) != WEFT_OK) std::abort();
        std::atexit(handler);
        weft_ult_spawn(
            pool_of(1),
            [](void*) {
                for (;;) weft_unit_yield();
            },
            nullptr, nullptr, nullptr);
        std::thread([] { std::exit(9); }).detach();
        for (;;) weft_unit_yield();
    };
    EXPECT_EXIT(outside(), testing::ExitedWithCode(9), "^\\[handler\\]$");
}
