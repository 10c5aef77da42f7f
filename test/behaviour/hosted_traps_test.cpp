// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What differs when an OS thread runs by another's thread pointer: each way in which the C library
// or the kernel notices.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/config.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/file.hpp"
#include "test/behaviour/hosted.hpp"
#include "weft/domain.h"
#include "weft/thread.hpp"

namespace {

using namespace weft_test;

// Runs in a process of its own, which is ended if it hangs: what the body changes cannot be undone.
template <class Body>
void in_child(Body body) {
    if constexpr (weft::config::thread_sanitizer)
        GTEST_SKIP() << "a process that was forked has no threads under the thread sanitizer";
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(30);
        body();
        std::fflush(nullptr);
        _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

constexpr uid_t nobody = 54321;

// On that stream, the unit may keep the stream for itself.
weft_unit_options bound_to(std::size_t rank) {
    auto made = hosted();
    made.stream = weft_stream_at(rank);
    made.bound = true;
    return made;
}

// ---- the end of a unit --------------------------------------------------------------------------

struct Unwound {
    int& count;
    ~Unwound() { ++count; }
};

TEST(HostedTraps, PthreadExitEndsTheUnitAndUnwinds) {
    Runtime runtime;
    int unwound = 0;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(run_hosted([&] {
                      const Unwound outer{unwound};
                      yield();
                      [&] {
                          const Unwound inner{unwound};
                          pthread_exit(nullptr);
                      }();
                      ADD_FAILURE();
                  }),
                  WEFT_OUTCOME_RETURNED);
    }
    EXPECT_EQ(unwound, 6);
    EXPECT_EQ(counter("/hosts/count/used-up"), 3u);
    EXPECT_EQ(run_hosted([] { yield(); }), WEFT_OUTCOME_RETURNED);
}

TEST(HostedTraps, PthreadCancelEndsTheUnitWhereAThreadWouldBeCancelled) {
    Runtime runtime;
    int unwound = 0;
    pthread_t its{};
    const auto how = hosted();
    Ult unit(
        [&] {
            const Unwound one{unwound};
            its = self();
            for (;;) {
                yield();
                pthread_testcancel();
            }
        },
        &how);
    while (its == pthread_t{}) yield();
    EXPECT_EQ(pthread_cancel(its), 0);
    EXPECT_EQ(unit.free(), WEFT_OK);
    EXPECT_EQ(unwound, 1);
    EXPECT_EQ(run_hosted([] { pthread_testcancel(); }), WEFT_OUTCOME_RETURNED);
}

TEST(HostedTraps, ACancellationThatComesTooLateIsNotForTheNextUnit) {
    Runtime runtime;
    for (int i = 0; i < 3; ++i) {
        bool ran = false;
        EXPECT_EQ(run_hosted([&] {
                      EXPECT_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr), 0);
                      pthread_testcancel();
                      ran = true;
                      EXPECT_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr), 0);
                      EXPECT_EQ(pthread_cancel(self()), 0);
                  }),
                  WEFT_OUTCOME_RETURNED);
        EXPECT_TRUE(ran);
    }
}

TEST(HostedTraps, TheProcessMayExitFromOne) {
    if (weft::config::address_sanitizer || weft::config::thread_sanitizer) {
        GTEST_SKIP() << "the leak checker would not find the stack of the OS thread that calls, and a process that was "
                        "forked has no threads";
    }
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(30);
        Runtime runtime(2);
        run_hosted([] {
            yield();
            std::exit(3);
        });
        _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << status;
}

TEST(HostedTraps, TheRuntimeMayEndWhileOneIsSuspended) {
    Runtime runtime;
    runtime.expected = WEFT_BUSY;
    const auto how = hosted();
    Ult unit([] { weft_unit_suspend(nullptr, nullptr); }, &how);
    yield();
    EXPECT_EQ(unit.state(), WEFT_UNIT_SUSPENDED);
    unit.forget();
}

// ---- limits -------------------------------------------------------------------------------------

void limit_threads(rlim_t most) {
    const rlimit limit{most, most};
    ASSERT_EQ(setresuid(nobody, nobody, nobody), 0);
    ASSERT_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
}

TEST(HostedTraps, WithoutAPthreadTheUnitEndsAndSaysSo) {
    if (geteuid() != 0) GTEST_SKIP() << "needs a user of its own, whose processes are counted";
    in_child([] {
        limit_threads(1);
        Runtime runtime;
        int ran = 0;
        EXPECT_EQ(run_hosted([&] { ++ran; }), WEFT_OUTCOME_NO_PTHREAD);
        EXPECT_EQ(ran, 0);
        EXPECT_GE(counter("/hosts/count/refused"), 1u);
        EXPECT_EQ(counter("/hosts/count/live"), 0u);
    });
}

// The C++ owner of such a unit throws once and owns nothing afterwards; otherwise its destructor
// would end the process.
TEST(HostedTraps, WithoutAPthreadAThreadOfCxxIsJoinedAndGone) {
    if (geteuid() != 0) GTEST_SKIP() << "needs a user of its own, whose processes are counted";
    in_child([] {
        limit_threads(1);
        Runtime runtime;
        const auto outcome_thrown = [](auto join) {
            try {
                join();
            } catch (const weft::not_returned& thrown) {
                EXPECT_NE(std::string(thrown.what()).find("refused a pthread"), std::string::npos) << thrown.what();
                return thrown.outcome();
            }
            return weft::unit_outcome::returned;
        };
        const weft::attributes wanted{.kind = weft::unit_kind::hosted};
        weft::thread one(wanted, [] {});
        EXPECT_EQ(outcome_thrown([&] { one.join(); }), weft::unit_outcome::no_pthread);
        EXPECT_FALSE(one.joinable());
        weft::thread_group group = weft::spawn_many(wanted, 3, [] {});
        EXPECT_EQ(outcome_thrown([&] { group.join(); }), weft::unit_outcome::no_pthread);
        EXPECT_FALSE(group.joinable());
        std::vector<weft::thread> several;
        for (int i = 0; i < 3; ++i) several.emplace_back(wanted, [] {});
        EXPECT_EQ(outcome_thrown([&] { weft::join_all(several); }), weft::unit_outcome::no_pthread);
        for (const weft::thread& thread : several) EXPECT_FALSE(thread.joinable());
    });
}

TEST(HostedTraps, WherePthreadsAreRefusedSomeArePreparedAndUnitsRunAllTheSame) {
    if (geteuid() != 0) GTEST_SKIP() << "needs a user of its own, whose processes are counted";
    in_child([] {
        limit_threads(4);
        Runtime runtime;
        EXPECT_EQ(weft_hosted_prepare(10, 0), WEFT_SYSTEM);
        const std::uint64_t live = counter("/hosts/count/live");
        EXPECT_LT(live, 10u);
        // A unit that needs a larger stack gets the room of a prepared host that is too small for
        // it.
        weft_unit_options large = hosted();
        large.stack_bytes = 64 << 20;
        EXPECT_EQ(run_hosted([] {}, large), live == 0 ? WEFT_OUTCOME_NO_PTHREAD : WEFT_OUTCOME_RETURNED);
        EXPECT_LE(counter("/hosts/count/live"), live);
        int ran = 0;
        for (int i = 0; i < 10; ++i)
            EXPECT_EQ(run_hosted([&] { ++ran; }), live == 0 ? WEFT_OUTCOME_NO_PTHREAD : WEFT_OUTCOME_RETURNED);
        EXPECT_EQ(ran, live == 0 ? 0 : 10);
    });
}

TEST(HostedTraps, WithFewPthreadsUnitsWaitForOneAnother) {
    if (geteuid() != 0) GTEST_SKIP() << "needs a user of its own, whose processes are counted";
    in_child([] {
        limit_threads(3);
        Runtime runtime;
        int ran = 0;
        const auto how = hosted();
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 20; ++i) {
            units.push_back(std::make_unique<Ult>(
                [&] {
                    yield();
                    ++ran;
                },
                &how));
        }
        for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
        EXPECT_EQ(ran, 20);
        EXPECT_LE(counter("/hosts/count/live"), 2u);
        // More units than can exist at once: some end without having run.
        weft_barrier barrier;
        ASSERT_EQ(weft_barrier_init(&barrier, 2, nullptr, nullptr), WEFT_OK);
        units.clear();
        for (int i = 0; i < 5; ++i) units.push_back(std::make_unique<Ult>([&] { weft_barrier_wait(&barrier); }, &how));
        int met = 0;
        for (const auto& unit : units) {
            const weft_unit_outcome outcome = unit->outcome();
            met += outcome == WEFT_OUTCOME_RETURNED;
            EXPECT_TRUE(outcome == WEFT_OUTCOME_RETURNED || outcome == WEFT_OUTCOME_NO_PTHREAD) << outcome;
            if (met == 4) break;   // the fifth waits for a partner
        }
        EXPECT_EQ(met, 4);
        Ult last([&] { weft_barrier_wait(&barrier); });
        units.clear();
        EXPECT_EQ(last.free(), WEFT_OK);
    });
}

// ---- ids ----------------------------------------------------------------------------------------

// The user of each OS thread of the process, as the kernel knows it.
std::vector<uid_t> users() {
    std::vector<uid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(entry.path() / "status");
        for (std::string word; file >> word;) {
            if (word != "Uid:") continue;
            uid_t user = 0;
            file >> user;
            found.push_back(user);
        }
    }
    return found;
}

void set_user() {
    int answer = -1;
    weft_hosted_as_carrier([](void* raw) { *static_cast<int*>(raw) = setuid(nobody); }, &answer);
    EXPECT_EQ(answer, 0);
}

// Runs body() while hosted units run, are suspended, and have ended, on every stream.
template <class Body>
void with_hosted_units_about(Body body) {
    Runtime runtime(3);
    atomic<bool> over{false};
    atomic<int> there{0};
    std::vector<std::unique_ptr<Ult>> units;
    const auto how = hosted();
    for (std::size_t rank = 1; rank < 3; ++rank) {
        const auto there_alone = bound_to(rank);
        units.push_back(std::make_unique<Ult>(
            [&] {
                ++there;
                while (!over.load()) {}
            },
            &there_alone));
    }
    for (int i = 0; i < 3; ++i) {
        units.push_back(std::make_unique<Ult>(
            [&] {
                ++there;
                while (!over.load()) yield();
            },
            &how));
    }
    EXPECT_EQ(run_hosted([] {}), WEFT_OUTCOME_RETURNED);
    until([&] { return there.load() == 5; });
    body();
    const std::vector<uid_t> all = users();
    EXPECT_GE(all.size(), 8u);
    for (const uid_t user : all) EXPECT_EQ(user, nobody);
    over.store(true);
    for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
}

TEST(HostedTraps, MainSetsTheIdsOfAllThreads) {
    if (geteuid() != 0) GTEST_SKIP() << "needs a user who may become another";
    in_child([] { with_hosted_units_about([] { EXPECT_EQ(setuid(nobody), 0); }); });
}

TEST(HostedTraps, AHostedUnitSetsTheIdsOfAllThreads) {
    if (geteuid() != 0) GTEST_SKIP() << "needs a user who may become another";
    in_child([] {
        with_hosted_units_about([] {
            EXPECT_EQ(run_hosted([] {
                          const pthread_t mine = self();
                          set_user();
                          EXPECT_TRUE(pthread_equal(mine, self()));
                          yield();
                      }),
                      WEFT_OUTCOME_RETURNED);
        });
    });
}

// ---- signals ------------------------------------------------------------------------------------

atomic<int> handled{0};
pthread_t handled_by{};
thread_local int handled_here = 0;

void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
}

void note_who(int) {
    handled_by = pthread_self();
    ++handled;
}

TEST(HostedTraps, ASignalForOneThatIsSuspendedWaitsForIt) {
    Runtime runtime;
    handle(SIGUSR1, note_who);
    handled.store(0);
    pthread_t its{};
    const auto how = hosted();
    Ult unit(
        [&] {
            its = self();
            weft_unit_suspend(nullptr, nullptr);
            EXPECT_EQ(handled.load(), 1);
            EXPECT_TRUE(pthread_equal(handled_by, self()));
        },
        &how);
    while (unit.state() != WEFT_UNIT_SUSPENDED) yield();
    EXPECT_EQ(weft_hosted_signal(its, SIGUSR1), WEFT_OK);
    EXPECT_EQ(weft_hosted_signal(its, 0), WEFT_OK);
    EXPECT_EQ(weft_hosted_signal(self(), SIGUSR1), WEFT_INVALID);
    yield();
    EXPECT_EQ(handled.load(), 0);
    EXPECT_EQ(weft_unit_resume(unit.handle()), WEFT_OK);
    EXPECT_EQ(unit.free(), WEFT_OK);
    EXPECT_EQ(handled.load(), 1);
    signal(SIGUSR1, SIG_DFL);
}

TEST(HostedTraps, ASignalForOneThatRunsComesAtOnceAlsoFromItself) {
    Runtime runtime(2);
    handle(SIGUSR1, note_who);
    handled.store(0);
    atomic<bool> there{false};
    pthread_t its{};
    const auto how = bound_to(1);
    Ult unit(
        [&] {
            its = self();
            there.store(true);
            while (handled.load() == 0) {}
            EXPECT_TRUE(pthread_equal(handled_by, self()));
            handled_by = {};
            EXPECT_EQ(raise(SIGUSR1), 0);
            EXPECT_EQ(handled.load(), 2);
            EXPECT_TRUE(pthread_equal(handled_by, self()));
            EXPECT_EQ(weft_hosted_signal(self(), SIGUSR1), WEFT_OK);
            EXPECT_EQ(handled.load(), 3);
        },
        &how);
    until_set(there);
    EXPECT_EQ(weft_hosted_signal(its, SIGUSR1), WEFT_OK);
    EXPECT_EQ(unit.free(), WEFT_OK);
    signal(SIGUSR1, SIG_DFL);
}

// A handler would run where the unit's pthread waits, beside the unit. The signal for the ids still
// reaches the pthread, because the caller that sets the ids waits for every thread.
TEST(HostedTraps, ThePthreadItselfTakesNoSignalButThatOfTheIds) {
    Runtime runtime;
    std::uint64_t masked = 0;
    EXPECT_EQ(run_hosted([&] {
                  std::ifstream file("/proc/self/task/" + std::to_string(weft_hosted_thread_id()) + "/status");
                  for (std::string word; file >> word;) {
                      if (word == "SigBlk:") file >> std::hex >> masked;
                  }
              }),
              WEFT_OUTCOME_RETURNED);
    constexpr std::uint64_t ids = std::uint64_t{1} << 32,
                            never = std::uint64_t{1} << (SIGKILL - 1) | std::uint64_t{1} << (SIGSTOP - 1);
    EXPECT_EQ(masked, ~(ids | never));
}

TEST(HostedTraps, AStormOfSignalsForTheProcessDisturbsNobody) {
    handle(SIGUSR2, [](int) {
        const int before = errno;
        errno = 1000;
        ++handled_here;
        ++handled;
        errno = before;
    });
    handled.store(0);
    {
        Runtime runtime;
        const Two two;
        atomic<int> alive{16};
        const auto how = hosted();
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 16; ++i) {
            units.push_back(std::make_unique<Ult>(
                [&] {
                    const pthread_t mine = self();
                    for (int step = 1; handled.load() < 1000 || step < 1000; ++step) {
                        errno = step;
                        yield();
                        ASSERT_TRUE(pthread_equal(mine, self()));
                        ASSERT_EQ(errno, step);
                    }
                    --alive;
                },
                &how, two.pool));
        }
        while (alive.load() != 0) {
            EXPECT_EQ(kill(getpid(), SIGUSR2), 0);
            std::this_thread::yield();
        }
        for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
    }
    EXPECT_GE(handled.load(), 1000);
    signal(SIGUSR2, SIG_DFL);
}

// ---- what the kernel writes, and which thread it runs where -------------------------------------

extern "C" {
[[gnu::weak]] extern const std::ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
}

// The CPU that the kernel has last written for this thread pointer; negative: it writes none.
[[gnu::noinline]] int noted_cpu() {
    int cpu;
    std::memcpy(&cpu, static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset + 4, sizeof cpu);
    return cpu;
}

TEST(HostedTraps, RestartableSequencesAreOfNobodyWhereHostedUnitsRun) {
    // On a thread of its own, which the C library registers only if the starting thread is
    // registered: earlier tests may have ended that.
    bool registered = false;
    std::thread([&] {
        if (&__rseq_size == nullptr || __rseq_size == 0) return;
        constexpr std::uint32_t signature = 0x53053053;
        if (noted_cpu() < 0)
            syscall(SYS_rseq, static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset, 32, 0, signature);
        registered = noted_cpu() >= 0;
        if (!registered) return;
        Runtime runtime;
        EXPECT_EQ(run_hosted([] {
                      EXPECT_LT(noted_cpu(), 0);
                      EXPECT_GE(sched_getcpu(), 0);
                  }),
                  WEFT_OUTCOME_RETURNED);
        EXPECT_LT(noted_cpu(), 0);
        EXPECT_GE(sched_getcpu(), 0);
    }).join();
    if (!registered) GTEST_SKIP() << "not registered by this C library, or not known to this kernel";
}

int cpus_of(pid_t thread) {
    cpu_set_t cpus;
    return sched_getaffinity(thread, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : -1;
}

TEST(HostedTraps, WhatIsStartedFromAStreamThatIsBoundIsNotBound) {
    const int all = cpus_of(0);
    if (all < 2) GTEST_SKIP() << "needs two CPUs";
    Runtime runtime;
    Stream stream;
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_stream_pool_get(stream.handle(), &pool), WEFT_OK);
    cpu_set_t one;
    ASSERT_EQ(sched_getaffinity(0, sizeof one, &one), 0);
    int first = 0;
    while (!CPU_ISSET(first, &one)) ++first;
    ASSERT_EQ(weft_stream_bind_cpus(stream.handle(), std::to_string(first).c_str()), WEFT_OK) << weft_error_text();
    const auto how = hosted();
    Ult unit(
        [&] {
            EXPECT_EQ(cpus_of(0), 1);
            EXPECT_EQ(cpus_of(static_cast<pid_t>(weft_hosted_thread_id())), all);
            int of_thread = 0, of_child = 0;
            auto start = [&] {
                pthread_t started;
                ASSERT_EQ(pthread_create(
                              &started, nullptr,
                              [](void* raw) -> void* {
                                  *static_cast<int*>(raw) = cpus_of(0);
                                  return nullptr;
                              },
                              &of_thread),
                          0);
                pthread_join(started, nullptr);
                const pid_t child = fork();
                if (child == 0) _exit(cpus_of(0));
                waitpid(child, &of_child, 0);
            };
            weft_hosted_unconfined([](void* raw) { (*static_cast<decltype(start)*>(raw))(); }, &start);
            EXPECT_EQ(of_thread, all);
            EXPECT_EQ(WEXITSTATUS(of_child), all);
            EXPECT_EQ(cpus_of(0), 1);
        },
        &how, pool);
    EXPECT_EQ(unit.free(), WEFT_OK);
}

// ---- libraries, domains, dumps ------------------------------------------------------------------

TEST(HostedTraps, ALibraryThatIsOpenedLaterHasItsVariablesForEach) {
    Runtime runtime(2);
    const auto how = hosted();
    int* (*variable)() = nullptr;
    atomic<int> there{0};
    weft_event opened = WEFT_EVENT_INIT;
    std::vector<int*> seen(8);
    std::vector<std::unique_ptr<Ult>> units;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        units.push_back(std::make_unique<Ult>(
            [&, i] {
                ++there;
                EXPECT_EQ(weft_event_wait(&opened, nullptr), WEFT_OK);
                EXPECT_EQ(*variable(), 17);
                seen[i] = variable();
                *variable() = static_cast<int>(i);
                for (int step = 0; step < 100; ++step) {
                    yield();
                    ASSERT_EQ(variable(), seen[i]);
                    ASSERT_EQ(*variable(), static_cast<int>(i));
                }
            },
            &how, pool_of(i % 2)));
    }
    until([&] { return there.load() == static_cast<int>(seen.size()); });
    EXPECT_EQ(run_hosted([&] {
                  void* const library = dlopen(WEFT_TEST_MODULE, RTLD_NOW);
                  ASSERT_NE(library, nullptr) << dlerror();
                  variable = reinterpret_cast<int* (*)()>(dlsym(library, "variable_of_thread"));
                  ASSERT_NE(variable, nullptr);
                  EXPECT_EQ(*variable(), 17);
              }),
              WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(weft_event_set(&opened, nullptr), WEFT_OK);
    for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(seen[i], seen[j]);
    }
}

// A library whose domain resumes one unit after another.
struct Library {
    std::mutex lock;
    std::deque<weft_unit*> ready;
    weft_domain* domain = nullptr;

    Library() {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* raw) {
            auto& self = *static_cast<Library*>(raw);
            std::lock_guard guard(self.lock);
            if (self.ready.empty()) return;
            EXPECT_EQ(weft_context_resume(self.ready.front()), WEFT_OK) << weft_error_text();
            self.ready.pop_front();
        };
        ops.unblock = [](void* raw, weft_unit* context) {
            auto& self = *static_cast<Library*>(raw);
            std::lock_guard guard(self.lock);
            self.ready.push_back(context);
        };
        EXPECT_EQ(weft_domain_register(&ops, this, &domain), WEFT_OK) << weft_error_text();
    }
    ~Library() { EXPECT_EQ(weft_domain_unregister(domain), WEFT_OK) << weft_error_text(); }
};

void run_in_a_domain() {
    const pthread_t mine = self();
    Library library;
    EXPECT_EQ(weft_domain_request(library.domain, 1), WEFT_OK);
    const auto how = hosted();
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 0; i < 4; ++i) {
        units.push_back(std::make_unique<Ult>(
            [&] {
                const pthread_t its = self();
                for (int step = 0; step < 100; ++step) {
                    yield();
                    ASSERT_TRUE(pthread_equal(self(), its));
                    ASSERT_EQ(weft_domain_self(), library.domain);
                }
            },
            &how));
    }
    for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
    if (weft_hosted()) {
        EXPECT_TRUE(pthread_equal(self(), mine));
    }
}

TEST(HostedTraps, TheyAreContextsOfADomainAndRegisterOne) {
    Runtime runtime(2);
    Ult plainly(run_in_a_domain);
    EXPECT_EQ(plainly.free(), WEFT_OK);
    EXPECT_EQ(run_hosted(run_in_a_domain), WEFT_OUTCOME_RETURNED);
}

TEST(HostedTraps, ADumpShowsWhereOneStands) {
    Runtime runtime;
    const auto how = hosted();
    Ult unit([] { weft_unit_suspend(nullptr, nullptr); }, &how);
    while (unit.state() != WEFT_UNIT_SUSPENDED) yield();
    const File text;
    std::FILE* const file = std::fopen(text.name(), "w");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(weft_unit_dump(unit.handle(), file), WEFT_OK) << weft_error_text();
    std::fclose(file);
    EXPECT_NE(text.text().find("hosted"), std::string::npos) << text.text();
    EXPECT_NE(text.text().find("weft_unit_suspend"), std::string::npos) << text.text();
    EXPECT_EQ(weft_unit_resume(unit.handle()), WEFT_OK);
    EXPECT_EQ(unit.free(), WEFT_OK);
}

}   // namespace
