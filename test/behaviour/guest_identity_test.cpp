// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kernel, and a dump, know about a guest's OS thread.
#include "weft/guest.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/cpus.hpp"
#include "test/behaviour/forks.hpp"
#include "test/behaviour/guests.hpp"

namespace {

using namespace weft_test;

// What the kernel knows about a thread.
struct Identity {
    std::string name, cpus, mask;
    pid_t thread = 0;
    void* stack = nullptr;

    static Identity now() {
        Identity made;
        char name[16] = "";
        pthread_getname_np(pthread_self(), name, sizeof name);
        made.name = name;
        cpu_set_t cpus;
        EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus), 0);
        made.cpus.assign(reinterpret_cast<const char*>(&cpus), sizeof cpus);
        sigset_t mask;
        sigemptyset(&mask);
        pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        for (int number = 1; number < 65; ++number) made.mask += sigismember(&mask, number) == 1 ? '1' : '0';
        made.thread = gettid();
        stack_t alternate{};
        sigaltstack(nullptr, &alternate);
        made.stack = alternate.ss_sp;
        return made;
    }
    bool operator==(const Identity&) const = default;
};

// The threads have a name, a mask and a CPU of their own, and an alternate signal stack or none.
TEST(GuestIdentity, IsTheThreadsOwnInsideAndAfterwards) {
    Runtime runtime(2);
    with_threads(3, [](int self) {
        pthread_setname_np(pthread_self(), "mine");
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &one, nullptr);
        const cpu_set_t first = first_of(all_cpus());
        pthread_setaffinity_np(pthread_self(), sizeof first, &first);
        std::vector<char> memory(1 << 16);
        if (self == 0) {
            stack_t mine{};
            mine.ss_sp = memory.data();
            mine.ss_size = memory.size();
            EXPECT_EQ(sigaltstack(&mine, nullptr), 0);
        }
        const Identity before = Identity::now();
        const auto expect_own = [&] {
            Identity now = Identity::now();
            // the thread may have run contexts of others while it waited, also while it waited to
            // enter
            now.stack = before.stack;
            EXPECT_EQ(now, before);
        };
        for (int round = 0; round < 5; ++round) {
            Inside in;
            expect_own();
            weft_barrier barrier;
            EXPECT_EQ(weft_barrier_init(&barrier, 4, nullptr, nullptr), WEFT_OK);
            EXPECT_EQ(weft_spmd(
                          4, [](void* raw) { weft_barrier_wait(static_cast<weft_barrier*>(raw)); }, &barrier),
                      WEFT_OK);
            EXPECT_EQ(weft_sleep_for(1000), WEFT_OK);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            expect_own();
        }
        EXPECT_EQ(Identity::now(), before);
        if (self == 0) {
            stack_t none{};
            none.ss_flags = SS_DISABLE;
            EXPECT_EQ(sigaltstack(&none, nullptr), 0);
        }
    });
}

// OS threads that Weft starts while a guest with a single CPU is inside may use all CPUs.
TEST(GuestIdentity, IsNotInheritedByTheThreadsThatCarryForDomains) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    with_threads(1, [](int) {
        const cpu_set_t all = all_cpus(), first = first_of(all);
        pthread_setaffinity_np(pthread_self(), sizeof first, &first);
        Inside in;
        struct Seen {
            pthread_t here;
            int all;
            atomic<int> others{0};
        } seen{os_thread(), CPU_COUNT(&all)};
        EXPECT_EQ(weft_spmd(
                      4,
                      [](void* raw) {
                          auto& to = *static_cast<Seen*>(raw);
                          for (int i = 0; i < 100'000 && to.others.load() == 0; ++i) {
                              if (!pthread_equal(os_thread(), to.here)) {
                                  cpu_set_t now;
                                  pthread_getaffinity_np(pthread_self(), sizeof now, &now);
                                  EXPECT_EQ(CPU_COUNT(&now), to.all);
                                  ++to.others;
                              }
                              weft_unit_yield();
                          }
                      },
                      &seen),
                  WEFT_OK);
        EXPECT_NE(seen.others.load(), 0);
        pthread_setaffinity_np(pthread_self(), sizeof all, &all);
    });
}

TEST(GuestIdentity, ADumpTellsWhoIsInside) {
    Runtime runtime;
    weft_latch left, end;
    ASSERT_EQ(weft_latch_init(&left, 1), WEFT_OK);
    ASSERT_EQ(weft_latch_init(&end, 1), WEFT_OK);
    const auto dump = [] {
        char* text = nullptr;
        std::size_t bytes = 0;
        std::FILE* const file = open_memstream(&text, &bytes);
        EXPECT_EQ(weft_dump(file), WEFT_OK) << weft_error_text();
        std::fclose(file);
        std::string made(text, bytes);
        free(text);
        return made;
    };
    std::thread thread([&] {
        {
            Inside in;
            EXPECT_NE(dump().find("'guest': runs unit"), std::string::npos) << dump();
            EXPECT_NE(dump().find("    a guest's (runs): has 1, asks for 1\n"), std::string::npos) << dump();
        }
        EXPECT_EQ(weft_latch_count_down(&left, 1), WEFT_OK);
        EXPECT_EQ(weft_latch_wait(&end), WEFT_OK);
    });
    EXPECT_EQ(weft_latch_wait(&left), WEFT_OK);
    EXPECT_NE(dump().find("'guest': outside"), std::string::npos) << dump();
    EXPECT_EQ(weft_latch_count_down(&end, 1), WEFT_OK);
    thread.join();
}
}   // namespace
