// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that hang forever because only one stream may run what they wait for: the sentry reports it
// within a second.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/single_threaded.h>
#include <sys/time.h>

#include "base/config.hpp"
#include "test/behaviour/stuck.hpp"

using namespace weft_test;

TEST(StuckAlone, AReadThatNobodyAnswersIsToldWithItsUnitTheCallAndTheRemedy) {
    const std::string text = said_of_a_reader(one_stream());
    EXPECT_NE(text.find("'reader'"), std::string::npos) << text;
    EXPECT_NE(text.find("blocked"), std::string::npos) << text;
    EXPECT_NE(text.find("in read,"), std::string::npos) << text;
    EXPECT_NE(text.find("WEFT_RESCUE=all"), std::string::npos) << text;
    EXPECT_NE(text.find("weft_blocking"), std::string::npos) << text;
    EXPECT_EQ(times(text, "weft:"), 1u) << text;
}

namespace {

// A unit takes a C library lock and yields, and another unit wants the lock.
[[noreturn]] void hold_a_mutex_over_a_yield() {
    Runtime runtime(one_stream());
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const auto body = [] {
        pthread_mutex_lock(&mutex);
        weft_unit_yield();
        pthread_mutex_unlock(&mutex);
    };
    const itimerval soon{{}, {1, 200'000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    const weft_unit_options options = named("second");
    Ult one(body), other(body, &options);
    one.join();
    _exit(0);
}

}   // namespace

TEST(StuckAloneDeath, AMutexHeldOverAYieldIsToldOfTheOneThatWantsIt) {
    EXPECT_EXIT(hold_a_mutex_over_a_yield(), testing::KilledBySignal(SIGALRM),
                "'second' on stream 0 has been blocked for .* in futex.*WEFT_RESCUE=all");
}

TEST(StuckAlone, ASleepThatHasEndedWaitsAsWell) {
    Said said;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    {
        const FromOutside writes(ends[1]);
        Runtime runtime(one_stream());
        const weft_unit_options options = named("reader");
        Ult writer([&] {
            EXPECT_EQ(weft_sleep_for(1'000'000), WEFT_OK);
            EXPECT_EQ(write(ends[1], "b", 1), 1);
        });
        Ult reader(
            [&] {
                char byte = 0;
                EXPECT_EQ(read(ends[0], &byte, 1), 1);
            },
            &options);
        EXPECT_EQ(reader.join(), WEFT_OK);
        EXPECT_EQ(writer.join(), WEFT_OK);
    }
    close(ends[0]);
    close(ends[1]);
    const std::string text = said.text();
    EXPECT_NE(text.find("'reader' on stream 0 has been blocked for"), std::string::npos) << text;
    EXPECT_NE(text.find("in read, while 1 unit waits"), std::string::npos) << text;
}

TEST(StuckAlone, ASpinIsToldOnceAndDifferently) {
    Said said;
    {
        Runtime runtime(one_stream());
        const weft_unit_options options = named("spinner");
        for (int round = 0; round < 2; ++round) {
            const std::uint64_t end_ns = in_ms(1'250);
            Ult spinner(
                [&] {
                    while (weft_now_ns() < end_ns) sched_yield();
                },
                &options);
            Ult setter([] {});
            EXPECT_EQ(setter.join(), WEFT_OK);
        }
    }
    const std::string text = said.text();
    EXPECT_NE(text.find("'spinner' on stream 0 has computed, or spun, for"), std::string::npos) << text;
    EXPECT_NE(text.find("while 1 unit waits"), std::string::npos) << text;
    EXPECT_NE(text.find("weft_unit_yield"), std::string::npos) << text;
    EXPECT_EQ(times(text, "weft:"), 1u) << text;
}

// A process with one OS thread takes shorter paths, also while the sentry is there.
TEST(StuckAloneDeath, AProcessWithOneOsThreadIsOneStill) {
    const auto look = [] {
        Runtime runtime(one_stream());
        {
            Ult unit([] {});
        }
        _exit(__libc_single_threaded ? 0 : 1);
    };
    if (!weft::config::checked && !weft::config::thread_sanitizer && !weft::config::address_sanitizer) {
        EXPECT_EXIT(look(), testing::ExitedWithCode(0), "");
    }
}
