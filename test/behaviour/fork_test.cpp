// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The child of a fork: the unit that forked goes on, alone, on one stream of a runtime of its own
// in which everything works.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/config.hpp"
#include "os/fault.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/several.hpp"
#include "test/behaviour/variable.hpp"
#include "weft/weft.hpp"

using namespace weft_test;

// LeakSanitizer calls this at exit; exit_test.cpp gives the reason.
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() { return 1; }

namespace {

// What a child reports to its parent.
struct Told {
    atomic<int> ended{0}, ran{0}, handlers{0}, failed_at{0};
};
Told& told() {
    static Told* const shared =
        new (mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Told;
    return *shared;
}

class Fork : public testing::Test {
protected:
    void SetUp() override {
        if (weft::config::thread_sanitizer)
            GTEST_SKIP() << "the thread sanitizer does not follow a process with several threads into a fork";
        new (&told()) Told;
    }
};

// A gtest failure in a child would not be reported.
struct Wrong {
    int line;
};
void check(bool right, int line = __builtin_LINE()) {   // std::source_location is not in every clang that builds this
    if (!right) throw Wrong{line};
}

long fib(int n) {
    if (n < 2) return n;
    const auto [a, b] = weft::invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

void add_one(void* to) { ++*static_cast<atomic<int>*>(to); }

void spawn_and_join(weft_pool* pool) {
    atomic<int> ran{0};
    weft_unit* units[20];
    for (int i = 0; i < 20; ++i) {
        const auto spawn = i % 2 == 0 ? weft_ult_spawn : weft_tasklet_spawn;
        check(spawn(pool, add_one, &ran, nullptr, &units[i]) == WEFT_OK);
    }
    check(weft_unit_join_free_many(units, 20) == WEFT_OK);
    check(ran == 20);
}

void two_units_and_a_mutex() {
    struct Both {
        weft_mutex mutex = WEFT_MUTEX_INIT;
        atomic<int> in{0};
    } both;
    weft_unit* units[2];
    for (weft_unit*& unit : units) {
        check(weft_ult_spawn(
                  nullptr,
                  [](void* raw) {
                      auto& of = *static_cast<Both*>(raw);
                      weft_mutex_lock(&of.mutex);
                      weft_unit_yield();
                      ++of.in;
                      weft_mutex_unlock(&of.mutex);
                  },
                  &both, nullptr, &unit) == WEFT_OK);
    }
    check(weft_unit_join_free_many(units, 2) == WEFT_OK);
    check(both.in == 2);
}

void another_stream(weft_pool* from) {
    weft_stream_options options = stream_options();
    weft_stream* stream = nullptr;
    check(weft_stream_create(&options, &stream) == WEFT_OK);
    weft_pool* pool = nullptr;
    check(weft_stream_pool_get(stream, &pool) == WEFT_OK);
    spawn_and_join(pool);
    weft_unit* moves = nullptr;
    check(weft_ult_spawn(
              from, [](void*) {}, nullptr, nullptr, &moves) == WEFT_OK);
    if (weft_unit_migrate_to_pool(moves, pool) == WEFT_OK) weft_unit_migrate_wait(moves);
    check(weft_unit_join_free(moves) == WEFT_OK);
    check(weft_stream_join_free(stream) == WEFT_OK);
}

void waits_outside() {
    check(weft_sleep_for(100'000) == WEFT_OK);
    atomic<int> called{0};
    check(weft_blocking(add_one, &called) == WEFT_OK && called == 1);
    weft_timer timer{};
    check(weft_timer_start(&timer, add_one, &called, weft_now_ns() + 10'000) == WEFT_OK);
    while (called != 2) weft_unit_yield();
}

// Everything that a runtime does, called by its primary unit.
void tour() {
    check(weft_initialized());
    check(counter("/units/count/created") == 0 && counter("/streams/count/live") == 1);
    weft_settings settings{};
    settings.size = sizeof settings;
    check(weft_settings_get(&settings) == WEFT_OK && settings.streams == 1);
    spawn_and_join(nullptr);
    two_units_and_a_mutex();
    another_stream(nullptr);
    waits_outside();
    atomic<int> members{0};
    check(weft_spmd(3, add_one, &members) == WEFT_OK && members == 3);
    check(fib(10) == 55);
    std::FILE* const nowhere = std::fopen("/dev/null", "w");
    check(weft_dump(nowhere) == WEFT_OK);
    std::fclose(nowhere);
    weft_key* key = nullptr;
    check(weft_key_create(nullptr, &key) == WEFT_OK && weft_key_free(key) == WEFT_OK);
    check(weft_init(nullptr) == WEFT_OK && weft_finalize() == WEFT_OK);
}

bool begins_with_one_stream() {
    const weft_settings settings = with_streams(1);
    return weft_init(&settings) == WEFT_OK;
}

// The child's end as its parent sees it: 0, the exit code, or 1000 plus the signal.
int end_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool sleeps(const std::filesystem::path& thread) {
    std::string stat;
    std::getline(std::ifstream(thread / "stat"), stat);
    const std::size_t name_ends = stat.rfind(')');
    return name_ends == std::string::npos || stat[name_ends + 2] == 'S';   // it has ended, or waits
}

// The address sanitizer's allocator does not survive a fork while another OS thread allocates, as a
// thread does that has just been started.
void until_no_other_thread_allocates() {
    const std::string self = std::to_string(gettid());
    for (int left = weft::config::address_sanitizer ? 200 : 0; left != 0; --left) {
        const std::filesystem::directory_iterator threads("/proc/self/task");
        if (std::all_of(begin(threads), end(threads),
                        [&](const auto& thread) { return thread.path().filename() == self || sleeps(thread.path()); }))
            return;
        usleep(1000);
    }
}

// A child that hangs is ended by a signal.
pid_t fork_with_alarm() {
    std::fflush(nullptr);
    until_no_other_thread_allocates();
    const pid_t child = fork();
    if (child == 0) alarm(60);
    return child;
}

// Returns the line of the failed check, or 0 if none failed.
int line_of(const std::function<void()>& part) {
    try {
        part();
    } catch (const Wrong& wrong) {
        return wrong.line;
    }
    return 0;
}

// Forks; the child runs `part` and exits. Returns how it ended.
int in_child(const std::function<void()>& part) {
    const pid_t child = fork_with_alarm();
    if (child != 0) return end_of(child);
    const int wrong = line_of(part);
    if (wrong != 0) told().failed_at = wrong;
    _exit(wrong == 0 ? 0 : 1);
}
testing::AssertionResult ended_well(int how) {
    if (how == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "ended with " << how << ", in line " << told().failed_at.load();
}

weft_unit_options of_kind(weft_kind kind) {
    weft_unit_options made = options();
    made.kind = kind;
    return made;
}

constexpr weft_kind all_kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC,
                                   WEFT_KIND_SS,   WEFT_KIND_SC,  WEFT_KIND_RTC};

}   // namespace

TEST_F(Fork, FromThePrimaryUnitTheChildGoesOnAndFinalizes) {
    const Runtime runtime(3);
    weft_unit* const self = weft_unit_self();
    EXPECT_TRUE(ended_well(in_child([self] {
        check(weft_unit_self() == self);
        tour();
        check(weft_finalize() == WEFT_OK && !weft_initialized());
        check(begins_with_one_stream());
        spawn_and_join(nullptr);
        check(weft_finalize() == WEFT_OK);
    })));
    spawn_and_join(pool_of(2));   // and the parent notices nothing
}

TEST_F(Fork, FromUnitsOfEveryKindInEveryPoolOnEveryStream) {
    for (weft_pool_kind pool : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        weft_settings settings = with_streams(2);
        settings.pool = pool;
        const Runtime runtime(settings);
        for (weft_kind kind : all_kinds) {
            for (std::size_t rank : {0, 1}) {
                const weft_unit_options asked = of_kind(kind);
                int how = -1;
                const Ult unit([&how] { how = in_child(tour); }, &asked, pool_of(rank));
                EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
                EXPECT_EQ(how, 0) << "kind " << kind << " in pool " << pool << " of stream " << rank << ", in line "
                                  << told().failed_at.load();
            }
        }
    }
}

// The unit's own frames go on in the child; its caller does not, be that a joiner, the scheduler,
// or the parent.
TEST_F(Fork, TheUnitsEndIsTheEndOfTheChild) {
    for (weft_pool_kind pool : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        weft_settings settings = with_streams(2);
        settings.pool = pool;
        const Runtime runtime(settings);
        for (weft_kind kind : all_kinds) {
            for (bool joined_at_once : {true, false}) {
                for (bool child_first : {true, false}) {
                    if (child_first && kind > WEFT_KIND_LSA && kind != WEFT_KIND_ROC) continue;   // refused
                    for (bool waits : {true, false}) {
                        new (&told()) Told;
                        weft_unit_options asked = of_kind(kind);
                        asked.child_first = child_first;
                        int how = -1;
                        const Ult unit(
                            [&how, waits] {
                                const pid_t child = fork_with_alarm();
                                if (child != 0) {
                                    how = end_of(child);
                                    return;
                                }
                                weft_ult_spawn(nullptr, add_one, &told().ran, nullptr, nullptr);
                                if (waits) weft_sleep_for(1000);
                                weft_tasklet_spawn(nullptr, add_one, &told().ran, nullptr, nullptr);
                                ++told().ended;
                            },
                            &asked);
                        if (!joined_at_once) weft_unit_yield();
                        EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
                        EXPECT_EQ(how, 0) << "kind " << kind << " in pool " << pool << ", joined at once "
                                          << joined_at_once << ", child first " << child_first;
                        EXPECT_EQ(told().ended, 1);
                        EXPECT_EQ(told().ran, 2) << "what is ready runs before the end";
                    }
                }
            }
        }
    }
}

TEST_F(Fork, AUnitMayEndTheChildInItsMiddleAndCannotFinalize) {
    const Runtime runtime(2);
    int how = -1;
    weft_ult_spawn(
        pool_of(1),
        [](void* raw) {
            const pid_t child = fork_with_alarm();
            if (child == 0) {
                std::atexit([] { ++told().handlers; });
                if (weft_finalize() == WEFT_WRONG_CONTEXT &&
                    std::string(weft_error_text()).find("fork") != std::string::npos)
                    ++told().ended;
                weft_unit_exit();
            }
            *static_cast<int*>(raw) = end_of(child);
        },
        &how, nullptr, nullptr);
    until([&how] { return *const_cast<volatile int*>(&how) != -1; });
    EXPECT_EQ(how, 0);
    EXPECT_EQ(told().ended, 1);
    EXPECT_EQ(told().handlers, 1);
}

TEST_F(Fork, WhatTheUnitHasGoesAlong) {
    const Runtime runtime(2);
    weft_key* key = nullptr;
    ASSERT_EQ(weft_key_create([](void* value) { ++*static_cast<atomic<int>*>(value); }, &key), WEFT_OK);
    int how = -1;
    weft_unit_options named = options();
    named.name = "forks";
    {
        const Ult unit(
            [key, &how] {
                weft_local_set(key, &told().ran);
                weft_unit* const self = weft_unit_self();
                const std::uint64_t id = value_of(weft_unit_id_get, self);
                try {
                    throw std::runtime_error("kept");
                } catch (const std::runtime_error&) {
                    errno = 77;
                    const pid_t child = fork_with_alarm();
                    if (child != 0) {
                        how = end_of(child);
                        weft_local_set(key, nullptr);
                        return;
                    }
                    const int error = errno;
                    weft_sleep_for(1000);
                    for (int i = 0; i < 10; ++i) {
                        weft_unit* other = nullptr;
                        weft_tasklet_spawn(
                            nullptr, [](void*) {}, nullptr, nullptr, &other);
                        if (value_of(weft_unit_id_get, other) == id) ++told().failed_at;
                        weft_unit_join_free(other);
                    }
                    if (error == 77 && weft_unit_self() == self && value_of(weft_unit_id_get, self) == id &&
                        weft_local_get(key) == &told().ran)
                        ++told().ended;
                    try {
                        throw;
                    } catch (const std::runtime_error& again) {
                        if (std::string(again.what()) == "kept") ++told().ended;
                    }
                }
            },
            &named, pool_of(1));
    }
    EXPECT_EQ(how, 0);
    EXPECT_EQ(told().ended, 2);
    EXPECT_EQ(told().failed_at, 0) << "no other unit has its number";
    EXPECT_EQ(told().ran, 1) << "its values are destroyed at its end";
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}

// Values under lasting keys: the child frees two keys itself, and its runtime releases the rest.
TEST_F(Fork, WhatItsHandleHasGoesAlongToo) {
    const Runtime runtime(2);
    weft_key_options lasting{};
    lasting.size = sizeof lasting;
    lasting.lasting = true;
    lasting.release = [](void* value) { ++*static_cast<atomic<int>*>(value); };
    weft_key* keys[5] = {};
    for (weft_key*& key : keys) {
        ASSERT_EQ(weft_key_create_with(&lasting, &key), WEFT_OK);
        ASSERT_EQ(weft_local_set(key, &told().ran), WEFT_OK);
    }
    EXPECT_TRUE(ended_well(in_child([&keys] {
        for (weft_key* const key : keys) check(weft_local_get(key) == &told().ran);
        check(weft_key_free(keys[0]) == WEFT_OK && told().ran == 1);
        check(weft_key_free(keys[4]) == WEFT_OK && told().ran == 2);
        check(weft_finalize() == WEFT_OK && told().ran == 5);
    })));
    for (weft_key* const key : keys) {
        EXPECT_EQ(weft_local_get(key), &told().ran) << "the parent's";
        EXPECT_EQ(weft_key_free(key), WEFT_OK);
    }
    EXPECT_EQ(told().ran, 10);
}

TEST_F(Fork, WhatTheParentWasAskedIsNotAskedOfTheChild) {
    const Runtime runtime(2);
    int how = -1;
    Ult unit([&how] {
        if (weft_unit_cancel(weft_unit_self()) != WEFT_OK) return;
        how = in_child([] {
            weft_unit_yield();   // where a cancelled unit ends
            weft_sleep_for(1000);
        });
        weft_unit_yield();
        how = -2;
    });
    const weft_unit_outcome outcome = unit.outcome();
    if (outcome == WEFT_OUTCOME_RETURNED && how == -1) GTEST_SKIP() << "built without cancellation";
    EXPECT_EQ(outcome, WEFT_OUTCOME_CANCELLED);
    EXPECT_EQ(how, 0);
}

// The unit's pthread is the child's only thread.
TEST_F(Fork, FromAHostedUnit) {
    static thread_local int own;
    const Runtime runtime(2);
    const weft_unit_options hosted = of_kind(WEFT_KIND_HOSTED);
    for (std::size_t rank : {0, 1}) {
        int how = -1;
        const Ult unit(
            [&how] {
                own = 7;
                weft_unit_yield();
                const pthread_t self = pthread_self();
                how = in_child([self] {
                    check(pthread_equal(pthread_self(), self) && own == 7);
                    tour();
                    check(own == 7);
                    const weft_unit_options another = of_kind(WEFT_KIND_HOSTED);
                    atomic<int> ran{0};
                    weft_unit* units[3];
                    for (weft_unit*& child : units)
                        check(weft_ult_spawn(nullptr, add_one, &ran, &another, &child) == WEFT_OK);
                    check(weft_unit_join_free_many(units, 3) == WEFT_OK);
                    check(ran == 3 && setuid(getuid()) == 0);
                });
                EXPECT_EQ(own, 7);
                weft_unit_yield();
            },
            &hosted, pool_of(rank));
        EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
        EXPECT_TRUE(ended_well(how));
    }
}

TEST_F(Fork, AHostedUnitsEndIsTheEndOfTheChild) {
    const Runtime runtime(1);
    static pid_t child;
    const weft_unit_options hosted = of_kind(WEFT_KIND_HOSTED);
    const pid_t parent = getpid();
    const Ult unit([] { child = fork_with_alarm(); }, &hosted);
    EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
    ASSERT_EQ(getpid(), parent);
    EXPECT_EQ(end_of(child), 0);
}

// Guests that fork inside, where others may still wait, and one that forks outside, having left its
// hart reclaimable.
TEST_F(Fork, FromGuests) {
    const Runtime runtime(2);
    atomic<int> how[3];
    for (auto& one : how) one = -1;
    weft_barrier all;
    ASSERT_EQ(weft_barrier_init(&all, 3, nullptr, nullptr), WEFT_OK);
    with_threads(3, [&](int self) {
        EXPECT_EQ(weft_guest_enter(), WEFT_OK);
        weft_barrier_wait(&all);
        if (self == 2) {
            EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        }
        how[self] = in_child([self] {
            if (self == 2) {
                check(!weft_initialized());
                check(weft_guest_enter() == WEFT_OK);
            }
            spawn_and_join(nullptr);
            two_units_and_a_mutex();
            waits_outside();
            atomic<int> members{0};
            check(weft_spmd(3, add_one, &members) == WEFT_OK && members == 3);
            check(fib(10) == 55);
        });
        if (self != 2) {
            EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        }
    });
    for (int self = 0; self < 3; ++self) EXPECT_TRUE(ended_well(how[self])) << self;
    spawn_and_join(pool_of(1));
}

TEST_F(Fork, AChildForksInItsTurn) {
    const Runtime runtime(2);
    int how = -1;
    const Ult unit([&how] {
        how = in_child([] {
            tour();
            check(in_child(tour) == 0);
            weft_unit* other = nullptr;
            int inner = -1;
            check(weft_ult_spawn(
                      nullptr, [](void* raw) { *static_cast<int*>(raw) = in_child(tour); }, &inner, nullptr, &other) ==
                  WEFT_OK);
            check(weft_unit_join_free(other) == WEFT_OK && inner == 0);
        });
    });
    EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
    EXPECT_TRUE(ended_well(how));
}

TEST_F(Fork, FromAnOsThreadThatIsNoStreamThereIsNoRuntime) {
    const Runtime runtime(2);
    int how = -1;
    std::thread([&how] {
        how = in_child([] {
            check(!weft_initialized() && weft_unit_self() == nullptr);
            check(weft_ult_spawn(nullptr, add_one, &told().ran, nullptr, nullptr) == WEFT_NOT_INITIALIZED);
            check(begins_with_one_stream());
            tour();
            check(weft_finalize() == WEFT_OK);
        });
    }).join();
    EXPECT_TRUE(ended_well(how));
}

TEST_F(Fork, FromABlockingCallWhoseEndIsTheEndOfTheChild) {
    const Runtime runtime(1);
    int how = -1;
    EXPECT_EQ(weft_blocking(
                  [](void* raw) {
                      const pid_t child = fork_with_alarm();
                      if (child == 0) {
                          if (!weft_initialized()) ++told().ended;
                          return;
                      }
                      *static_cast<int*>(raw) = end_of(child);
                  },
                  &how),
              WEFT_OK);
    EXPECT_EQ(how, 0);
    EXPECT_EQ(told().ended, 1);
}

TEST_F(Fork, AfterTheRuntimeHasEndedThereIsNothingToDo) {
    weft_init(nullptr);
    weft_finalize();
    EXPECT_TRUE(ended_well(in_child([] {
        check(begins_with_one_stream());
        tour();
        check(weft_finalize() == WEFT_OK);
    })));
}

TEST_F(Fork, TheChildMayReplaceItsProgram) {
    const Runtime runtime(2);
    int how = -1;
    const Ult unit(
        [&how] {
            how = in_child([] {
                execl("/bin/true", "true", static_cast<char*>(nullptr));
                check(false);
            });
        },
        nullptr, pool_of(1));
    EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
    EXPECT_EQ(how, 0);
}

TEST_F(Fork, InTheMiddleOfAFork) {
    const Runtime runtime(1);
    int how = -1;
    const Ult unit([&how] {
        how = in_child([] {   // the second branch lies in the child's ring, and in the grandchild's
            const auto [first, second] =
                weft::invoke([] { return in_child([] { check(fib(8) == 21); }); }, [] { return fib(5); });
            check(first == 0 && second == 5);
        });
        const auto [child, five] = weft::invoke(
            [] {
                const pid_t forked = fork_with_alarm();
                if (forked == 0) return 0;
                return end_of(forked);
            },
            [] { return fib(5); });
        if (child == 0 && five == 5) ++told().ended;   // the child comes here, too, and joins what is its own now
    });
    EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
    EXPECT_EQ(how, 0);
    EXPECT_EQ(told().ended, 2);
}

// With two streams the second branch is published at once; the other stream sleeps or is paused, so
// the job is not taken.
TEST_F(Fork, AJobThatWasShownAndNotTakenIsItsOwnersAgain) {
    const Runtime runtime(2);
    ASSERT_EQ(weft_stream_suspend(weft_stream_at(1)), WEFT_OK);
    int how = -1;
    static weft_event others_too;
    others_too = WEFT_EVENT_INIT;
    const Ult other(
        [] {
            const pid_t parent = getpid();
            weft::invoke([] { weft_event_wait(&others_too, nullptr); },
                         [parent] {
                             if (getpid() != parent) ++told().ran;   // this job is none of the child's
                         });
        },
        nullptr, pool_of(0));
    const Ult unit(
        [&how] {
            const auto [child, five] = weft::invoke(
                [] {
                    weft_unit_yield();
                    const pid_t forked = fork_with_alarm();
                    return forked == 0 ? -2 : end_of(forked);
                },
                [] { return fib(5); });
            weft_sleep_for(3'000'000);   // while the stream searches for something to run
            if (child == -2 && five == 5) ++told().ended;
            how = child;
        },
        nullptr, pool_of(0));
    EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
    EXPECT_EQ(weft_event_set(&others_too, nullptr), WEFT_OK);
    EXPECT_EQ(weft_unit_join(other.handle()), WEFT_OK);
    EXPECT_EQ(weft_stream_resume(weft_stream_at(1)), WEFT_OK);
    EXPECT_EQ(told().ran, 0);
    EXPECT_EQ(how, 0);
    EXPECT_EQ(told().ended, 1);
}

TEST_F(Fork, InAnArenaTheUnitComesOutOfItAlone) {
    const Runtime runtime(1);
    const weft::arena arena(1);
    int how = -1;
    const Ult unit([&] {
        int five = 0;
        const int child = arena.execute([&five] {
            const auto both = weft::invoke(
                [] {
                    weft_unit_yield();   // which publishes the other branch
                    const pid_t forked = fork_with_alarm();
                    return forked == 0 ? -2 : end_of(forked);
                },
                [] { return fib(5); });
            five = static_cast<int>(both.second);
            return both.first;
        });
        if (child == -2 && five == 5 && arena.execute([] { return fib(6); }) == 8) ++told().ended;
        how = child;
    });
    EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
    EXPECT_EQ(how, 0);
    EXPECT_EQ(told().ended, 1);
}

TEST_F(Fork, FromAMemberOfATeam) {
    const Runtime runtime(2);
    static atomic<int> how{-1};
    how = -1;
    EXPECT_EQ(weft_spmd(
                  4,
                  [](void*) {
                      if (weft_spmd_member() != 2) return;
                      const pid_t child = fork_with_alarm();
                      if (child == 0) {
                          told().failed_at = line_of(tour);
                          return;   // the other members belong to the parent
                      }
                      how = end_of(child);
                  },
                  nullptr),
              WEFT_OK);
    EXPECT_EQ(how, 0);
    EXPECT_EQ(told().failed_at, 0);
}

TEST_F(Fork, ADomainOfTheParentsIsNotTheChilds) {
    const Runtime runtime(1);
    static weft_domain* domain;
    static atomic<weft_unit*> ready{nullptr};
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.unblock = [](void*, weft_unit* context) { ready = context; };
    ops.enter = [](void*) {
        if (weft_unit* const context = ready.exchange(nullptr)) weft_context_resume(context);
    };
    int how = -1;
    const Ult unit([&] {
        ASSERT_EQ(weft_domain_register(&ops, nullptr, &domain), WEFT_OK);
        how = in_child([] {
            check(weft_domain_self() == nullptr);
            tour();
            check(weft_domain_unregister(domain) == WEFT_WRONG_CONTEXT);
        });
        EXPECT_EQ(weft_domain_unregister(domain), WEFT_OK);
    });
    EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
    EXPECT_TRUE(ended_well(how));
}

TEST_F(Fork, TheChildOfABoundStreamHasAllCpus) {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;
    const Runtime runtime(settings);
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one CPU";
    ASSERT_EQ(weft_stream_bind_hart(weft_stream_at(1), 0), WEFT_OK) << weft_error_text();
    static int count;
    count = CPU_COUNT(&before);
    int how = -1;
    const Ult unit(
        [&how] {
            how = in_child([] {
                cpu_set_t now;
                check(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_COUNT(&now) == count);
            });
        },
        nullptr, pool_of(1));
    EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
    EXPECT_TRUE(ended_well(how));
}

TEST_F(Fork, DumpsAtASignalGoOn) {
    const Variable dump("WEFT_DUMP", "USR2");
    const Runtime runtime(2);
    EXPECT_TRUE(ended_well(in_child([] {
        int ends[2];
        check(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0 && raise(SIGUSR2) == 0);
        std::string text;
        char some[512];
        while (text.find("end of the dump") == std::string::npos) {
            const ssize_t bytes = read(ends[0], some, sizeof some);
            check(bytes > 0);
            text.append(some, static_cast<std::size_t>(bytes));
        }
        check(text.find("stream 0") != std::string::npos && text.find("stream 1") == std::string::npos);
    })));
    int how = -1;
    std::thread([&how] {   // without a runtime, the signal has its previous action
        how = in_child([] {
            raise(SIGUSR2);
            check(false);
        });
    })
        .join();
    EXPECT_EQ(how, 1000 + SIGUSR2);
}

TEST_F(Fork, WithoutMemoryTheChildMayReplaceItsProgramOrEnd) {
    if (!weft::config::checked) GTEST_SKIP() << "faults are injected in checked builds";
    const Runtime runtime(2);
    for (weft_kind kind : all_kinds) {
        for (int passed = 0; passed < 40; ++passed) {
            static int left;
            const weft_unit_options asked = of_kind(kind);
            int how = -1, how_ended = -1;
            auto refuse = [](weft::os::Seam seam) {
                return (seam == weft::os::Seam::allocate || seam == weft::os::Seam::map) && left-- == 0;
            };
            auto forks = [&](int* to, bool replaces) {
                return [=] {
                    std::fflush(nullptr);
                    until_no_other_thread_allocates();
                    left = passed;
                    weft::os::fault_hook.store(refuse);
                    const pid_t child = fork();
                    weft::os::fault_hook.store(nullptr);
                    if (child != 0) {
                        *to = end_of(child);
                        return;
                    }
                    alarm(60);
                    if (replaces) execl("/bin/true", "true", static_cast<char*>(nullptr));
                };
            };
            { const Ult unit(forks(&how, true), &asked); }
            { const Ult unit(forks(&how_ended, false), &asked); }
            EXPECT_EQ(how, 0) << "kind " << kind << ", refused after " << passed;
            EXPECT_EQ(how_ended, 0) << "kind " << kind << ", refused after " << passed;
        }
    }
}

// Other units are in the middle of everything while one unit forks.
TEST_F(Fork, WithAllLocksBusy) {
    if (weft::config::address_sanitizer)
        GTEST_SKIP() << "the sanitizer's allocator does not survive a fork while another OS thread allocates";
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_SHARED;   // from which no stream takes units along to its end
    const Runtime runtime(settings);
    static atomic<bool> stop;
    stop = false;
    std::vector<std::thread> threads;
    auto hammer = [&threads](auto work) {
        threads.emplace_back([work] {
            while (!stop.load()) work();
        });
    };
    weft_pool* const shared = make_pool(WEFT_POOL_SHARED);
    hammer([] { another_stream(pool_of(1)); });
    hammer([] { spawn_and_join(pool_of(1)); });
    hammer([] {
        weft_pool* const pool = make_pool(WEFT_POOL_DEQUE);
        weft_pool_free(pool);
        weft_key* key = nullptr;
        weft_key_create(nullptr, &key);
        weft_key_free(key);
        weft_hart_limit();
    });
    hammer([] {
        std::FILE* const nowhere = std::fopen("/dev/null", "w");
        weft_counters_print(nowhere);
        weft_dump(nowhere);
        std::fclose(nowhere);
        std::uint64_t live = 0;
        weft_counter_read("/stacks/count/live", &live);
    });
    weft_unit* busy[3];
    weft_ult_spawn(
        pool_of(1),
        [](void*) {
            while (!stop.load()) {
                fib(8);
                weft_sleep_for(10'000);
            }
        },
        nullptr, nullptr, &busy[0]);
    weft_ult_spawn(
        pool_of(1),
        [](void*) {
            atomic<int> members{0};
            while (!stop.load()) {
                weft_spmd(2, add_one, &members);
                weft_blocking(add_one, &members);
                weft_unit_yield();
            }
        },
        nullptr, nullptr, &busy[1]);
    weft_ult_spawn(
        pool_of(1),
        [](void* pool) {
            while (!stop.load()) {
                weft_unit* unit = nullptr;
                weft_ult_spawn(
                    static_cast<weft_pool*>(pool), [](void*) {}, nullptr, nullptr, &unit);
                weft_unit_migrate_to_pool(unit, pool_of(1));
                weft_unit* popped = nullptr;
                weft_pool_pop(static_cast<weft_pool*>(pool), &popped);
                if (popped != nullptr) weft_pool_push(pool_of(1), popped);
                weft_unit_join_free(unit);
                weft_unit_yield();
            }
        },
        shared, nullptr, &busy[2]);
    const Ult forks(
        [] {
            for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i) {
                EXPECT_TRUE(ended_well(in_child(tour))) << "of child " << i;
                weft_unit_yield();
            }
            stop = true;
        },
        nullptr, pool_of(0));
    EXPECT_EQ(weft_unit_join(forks.handle()), WEFT_OK);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(weft_unit_join_free_many(busy, 3), WEFT_OK);
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}

TEST_F(Fork, KeepsTheFloatingPointEnvironmentOfWhoHasOneOfItsOwn) {
    for (const bool by_setting : {false, true}) {
        if (by_setting && (weft_features() & WEFT_FEATURE_OBSERVERS) == 0) continue;
        const Variable chosen("WEFT_OWN_FLOAT", by_setting ? "1" : "0");
        const Runtime runtime;
        weft_unit_options own = options();
        own.own_float = true;
        std::fesetround(FE_TOWARDZERO);   // the stream's mode
        Ult forks(
            [&] {
                std::fesetround(FE_UPWARD);
                EXPECT_TRUE(ended_well(in_child([by_setting] {
                    check(std::fegetround() == FE_UPWARD);
                    const int others = by_setting ? FE_UPWARD : FE_TOWARDZERO;
                    int begins = -1, after = -1;
                    Ult next([&] { begins = std::fegetround(); });   // which a joiner might call
                    check(next.free() == WEFT_OK && begins == others);
                    {
                        Ult other([&] {
                            begins = std::fegetround();
                            if (!by_setting) return;
                            std::fesetround(FE_DOWNWARD);
                            weft_unit_yield();
                            after = std::fegetround();
                        });
                        for (int i = 0; i < 3; ++i) weft_unit_yield();
                        check(std::fegetround() == FE_UPWARD);
                        check(other.free() == WEFT_OK);
                    }
                    check(begins == others && (!by_setting || after == FE_DOWNWARD));
                    check(std::fegetround() == FE_UPWARD);
                })));
                EXPECT_EQ(std::fegetround(), FE_UPWARD);
            },
            &own);
        EXPECT_EQ(forks.free(), WEFT_OK);
        EXPECT_EQ(std::fegetround(), FE_TOWARDZERO);
        std::fesetround(FE_TONEAREST);
    }
}

// While a unit runs, its word is in its OS thread's memory.
TEST_F(Fork, NobodyIsCalledInThePlaceOfAUnitThatAKeyFollows) {
    static thread_local void* word;
    weft_key_options how{};
    how.size = sizeof how;
    how.destructor = how.leaves = [](void*) { word = nullptr; };
    how.returns = [](void* value) { word = value; };
    weft_key* key = nullptr;
    ASSERT_EQ(weft_key_create_with(&how, &key), WEFT_OK) << weft_error_text();
    const Runtime runtime;
    for (const bool has_value : {true, false}) {
        Ult forks([&] {
            EXPECT_EQ(weft_local_set(key, has_value ? &word : nullptr), WEFT_OK);
            word = has_value ? &word : nullptr;
            EXPECT_TRUE(ended_well(in_child([has_value] {
                void* seen = &seen;
                Ult next([&] { seen = word; });   // which its joiner might call
                check(next.free() == WEFT_OK && seen == nullptr);
                check(word == (has_value ? &word : nullptr));
            })));
        });
        EXPECT_EQ(forks.free(), WEFT_OK);
    }
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}
