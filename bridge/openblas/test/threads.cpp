// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenBLASes with threads of their own: where their jobs run, and how many threads they use. Three
// libraries stand for them (threaded_blas.cpp). The program is to be compiled with OpenMP, and run
// with what `weft run` preloads and two harts. Once with WEFT_BLAS_THREADS=follow, for the tests
// whose names begin with Follow, and once with `full`.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.h>

#include "threaded_blas.hpp"

namespace {

using blas_for_test::Blas;
using blas_for_test::Callback;
using blas_for_test::Job;
using blas_for_test::Work;
using std::chrono::steady_clock;

constexpr int harts = 2, most_workers = 64;

const Blas* blas_at(const char* path) {
    void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    return reinterpret_cast<blas_for_test::Get>(dlsym(library, "threaded_blas"))();
}
const Blas* blas_of(const char* variable) { return blas_at(std::getenv(variable)); }

// ---- what is known of the jobs that run ---------------------------------------------------------

std::atomic<int> running{0}, most_running{0};   // on Weft, of all copies

struct Copy {
    const Blas* blas = nullptr;
    std::atomic<bool> taken[most_workers] = {};
    std::atomic<int> wrong_workers{0};
};

// A call's jobs, and what is wrong with them.
class Watched final : public Work {
public:
    explicit Watched(Copy& copy, int expected = harts) : copy_(copy), expected_(expected), runs_(256) {}

    void begins(int, int worker) override {
        if (worker < 0 || worker >= most_workers || copy_.taken[worker].exchange(true)) ++copy_.wrong_workers;
        if (omp_in_parallel() == 0) return;
        const int now = ++running;
        for (int most = most_running; now > most && !most_running.compare_exchange_weak(most, now);) {}
    }

    void runs(int job, int worker) override {
        ++runs_[static_cast<std::size_t>(job)];
        if (omp_get_num_threads() == expected_ && omp_in_parallel() != 0) ++in_regions_;
        if (then) then();
        if (omp_in_parallel() != 0) --running;
        copy_.taken[worker] = false;
    }

    // How many of the jobs below `count` have run once; -1 where another one has run.
    int ran_once(int count) const {
        int once = 0;
        for (int job = 0; job < static_cast<int>(runs_.size()); ++job) {
            const int runs = runs_[static_cast<std::size_t>(job)];
            if (job >= count && runs != 0) return -1;
            once += runs == 1;
        }
        return once;
    }
    int in_regions() const { return in_regions_; }

    std::function<void()> then;

private:
    Copy& copy_;
    const int expected_;
    std::vector<std::atomic<int>> runs_;
    std::atomic<int> in_regions_{0};
};

// ---- load ---------------------------------------------------------------------------------------

constexpr auto patience = std::chrono::seconds(20);

template <class Condition>
bool becomes_while_idle(Condition condition) {
    for (const auto end = steady_clock::now() + patience; !condition();) {
        if (steady_clock::now() > end) return false;
        usleep(200);
    }
    return true;
}

// While this thread computes.
template <class Condition>
bool becomes(Condition condition) {
    for (const auto end = steady_clock::now() + patience; !condition();) {
        if (steady_clock::now() > end) return false;
    }
    return true;
}

double cpu_seconds() {
    timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

// Long enough for several looks at which threads compute.
template <class Condition>
bool holds_for_looks(Condition condition, double seconds = .04) {
    for (const double end = cpu_seconds() + seconds; cpu_seconds() < end;) {
        if (!condition()) return false;
    }
    return true;
}

// Two threads that compute while this lives.
class TwoCompute {
public:
    TwoCompute() {
        for (std::thread& thread : threads_) {
            thread = std::thread([this] {
                while (!stop_) {}
            });
        }
    }
    ~TwoCompute() {
        stop_ = true;
        for (std::thread& thread : threads_) thread.join();
    }
    TwoCompute(const TwoCompute&) = delete;
    TwoCompute& operator=(const TwoCompute&) = delete;

private:
    std::atomic<bool> stop_{false};
    std::thread threads_[2];
};

// ---- the tests ----------------------------------------------------------------------------------

// Copies with the callback: NumPy 2.4's names, whose threads start when it is loaded, and OpenBLAS'
// own. One without: NumPy 1.26's names.
Copy wheel, other_wheel, old_wheel;

class BlasThreads : public ::testing::Test {
protected:
    void SetUp() override {
        alarm(100);
        if (wheel.blas == nullptr) {
            wheel.blas = blas_of("BLAS_WHEEL");
            other_wheel.blas = blas_of("BLAS_OTHER_WHEEL");
            old_wheel.blas = blas_of("BLAS_OLD_WHEEL");
            ASSERT_TRUE(wheel.blas != nullptr && other_wheel.blas != nullptr && old_wheel.blas != nullptr) << dlerror();
        }
        for (Copy* const copy : {&wheel, &other_wheel, &old_wheel}) {
            copy->blas->set_number(harts);
            Watched work(*copy);
            copy->blas->call(work);
        }
        settle();
        most_running = 0;
    }

    void TearDown() override {
        EXPECT_EQ(running, 0);
        for (Copy* const copy : {&wheel, &other_wheel, &old_wheel}) {
            EXPECT_EQ(copy->wrong_workers, 0) << "of jobs that run, two had one worker, or it was none";
            copy->wrong_workers = 0;
        }
    }

    // No number is lowered, and none is about to be.
    static void settle() {
        ASSERT_TRUE(becomes([] {
            return holds_for_looks([] {
                return wheel.blas->number() == harts && other_wheel.blas->number() == harts &&
                       old_wheel.blas->number() == harts;
            });
        }));
    }
};

using Follow = BlasThreads;
using Full = BlasThreads;

bool is_right_call(Copy& copy, int jobs = harts) {
    Watched work(copy, jobs);
    copy.blas->call_with(work, jobs);
    return work.ran_once(jobs) == jobs;
}

bool is_right_own_region() {
    std::atomic<int> members{0};
#pragma omp parallel num_threads(harts)
    {
        for (int i = 0; i < 1000; ++i) asm volatile("" ::: "memory");
        ++members;
    }
    return members == harts;
}

// The jobs run in a region of their own, at the latest when OpenMP has been used again: a thread
// that looks decides.
bool is_right_region(Copy& copy) {
    bool right = true;
    const bool ran = becomes([&] {
        right = is_right_own_region();
        Watched work(copy);
        copy.blas->call_with(work, harts);
        right = right && work.ran_once(harts) == harts;
        return !right || work.in_regions() == harts;
    });
    return ran && right;
}

bool are_on_weft() { return *wheel.blas->callback != nullptr && *other_wheel.blas->callback != nullptr; }

// Jobs run on Weft for a while.
void use_openmp() {
    ASSERT_TRUE(becomes([] { return is_right_own_region() && are_on_weft(); }));
}

int status_of(std::function<void()> child_does) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        child_does();
        _exit(42);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// ---- where jobs run -----------------------------------------------------------------------------

TEST_F(Follow, JobsRunInRegionsOnceEachAndAtOnce) {
    use_openmp();
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(is_right_region(wheel));
        ASSERT_TRUE(is_right_region(other_wheel));
        ASSERT_TRUE(is_right_call(old_wheel));
    }
    EXPECT_LE(most_running, harts);
}

TEST_F(Follow, ThreadsThatCallAtOnceHaveNoMoreJobsThanHarts) {
    use_openmp();
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&, i] {
                for (int round = 0; round < 25; ++round) {
                    wrong += !is_right_region(i % 2 == 0 ? wheel : other_wheel);
                    wrong += !is_right_call(wheel, 1);
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(most_running, harts);
}

// Calls of one job each run side by side.
TEST_F(Follow, JobsOfTwoCallsHaveTwoWorkers) {
    use_openmp();
    std::atomic<int> inside{0};
    std::atomic<bool> beside{false};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int round = 0; round < 25; ++round) {
                    Watched work(wheel);
                    const auto end = steady_clock::now() + std::chrono::milliseconds(1);
                    work.then = [&] {
                        for (++inside; inside < 2 && steady_clock::now() < end;) {}
                        if (inside >= 2) beside = true;
                        --inside;
                    };
                    wheel.blas->call_with(work, 1);
                }
            });
        }
    }
    EXPECT_TRUE(beside);
}

TEST_F(Follow, MembersOfARegionCall) {
    use_openmp();
    std::atomic<int> wrong{0}, members{0};
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 10; ++round) {
        ++members;
        wrong += !is_right_call(wheel);
        wrong += !is_right_call(other_wheel);
        wrong += omp_get_max_active_levels() != 1;   // what a call sets for its jobs is the call's
#pragma omp barrier
    }
    EXPECT_EQ(members, 40);
    EXPECT_EQ(wrong, 0);
}

TEST_F(Follow, HostedUnitsCallAndGuests) {
    use_openmp();
    static std::atomic<int> wrong;
    wrong = 0;
    const auto body = [](void*) {
        for (int round = 0; round < 10; ++round) wrong += !is_right_region(round % 2 == 0 ? wheel : other_wheel);
    };
    weft_unit_options how{};
    how.size = sizeof how;
    how.kind = WEFT_KIND_HOSTED;
    std::vector<std::jthread> guests;
    for (int i = 0; i < 3; ++i) {
        guests.emplace_back([&] {
            EXPECT_EQ(weft_guest_enter(), WEFT_OK);
            body(nullptr);
            EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        });
    }
    EXPECT_EQ(weft_init(nullptr), WEFT_OK) << weft_error_text();
    weft_unit* units[4];
    for (weft_unit*& unit : units) ASSERT_EQ(weft_ult_spawn(nullptr, body, nullptr, &how, &unit), WEFT_OK);
    body(nullptr);
    EXPECT_EQ(weft_unit_join_free_many(units, 4), WEFT_OK);
    guests.clear();
    EXPECT_EQ(weft_finalize(), WEFT_OK);
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(most_running, harts);
}

TEST_F(Follow, ACallMayHaveNoJobsAndMoreThanHartsOrWorkers) {
    use_openmp();
    for (const int jobs : {0, 1, 2, 3, 8, 0, 1}) EXPECT_TRUE(is_right_call(wheel, jobs)) << jobs;
    // More jobs than workers cannot all run at once.
    Watched work(wheel);
    work.spins = false;
    wheel.blas->call_with(work, 150);
    EXPECT_EQ(work.ran_once(150), 150);
}

std::atomic<int> own_calls;
void own_callback(int, Job job, int count, std::size_t bytes, void* jobs, int extra) {
    ++own_calls;
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([=] { job(i, static_cast<char*>(jobs) + static_cast<std::size_t>(i) * bytes, extra); });
    }
}

// One that is set before the copy has threads, and one that is set later.
TEST_F(Follow, ACallbackOfTheProgramIsLeftAlone) {
    use_openmp();
    const auto path = std::filesystem::temp_directory_path() / ("libopenblas-" + std::to_string(getpid()) + ".so");
    std::filesystem::copy_file(std::getenv("BLAS_OTHER_WHEEL"), path);
    Copy fresh{blas_at(path.c_str())};
    std::filesystem::remove(path);
    ASSERT_NE(fresh.blas, nullptr);
    for (Copy* const copy : {&fresh, &wheel}) {
        const Callback before = *copy->blas->callback;
        own_calls = 0;
        copy->blas->set_callback(own_callback);
        copy->blas->set_number(harts);
        EXPECT_TRUE(is_right_call(*copy));
        EXPECT_TRUE(holds_for_looks([&] { return *copy->blas->callback == own_callback; }));
        EXPECT_EQ(own_calls, 1);
        copy->blas->set_callback(before);
    }
}

TEST_F(Follow, WhereOpenMpRestsTheirOwnThreadsRunTheJobs) {
    for (int round = 0; round < 3; ++round) {
        EXPECT_TRUE(becomes([] { return *wheel.blas->callback == nullptr && *other_wheel.blas->callback == nullptr; }));
        Watched work(wheel);
        wheel.blas->call(work);
        EXPECT_EQ(work.ran_once(harts), harts);
        EXPECT_EQ(work.in_regions(), 0);
        EXPECT_TRUE(becomes([] { return is_right_own_region() && are_on_weft(); }));
    }
}

// ---- how many threads they use ------------------------------------------------------------------

TEST_F(Follow, TheNumberIsOneWhileTwoThreadsComputeAndThenWhatItWas) {
    for (Copy* const copy : {&wheel, &old_wheel}) {
        const auto is_one = [&] { return copy->blas->number() == 1; };
        {
            const TwoCompute load;
            EXPECT_TRUE(becomes_while_idle(is_one));
            EXPECT_TRUE(holds_for_looks(is_one));
            EXPECT_TRUE(is_right_call(*copy, 1));
        }
        EXPECT_TRUE(becomes([&] { return copy->blas->number() == harts; }));
        EXPECT_TRUE(is_right_call(*copy));
    }
}

// As Python's threads do, which run one after the other outside of libraries.
TEST_F(Follow, ThreadsThatComputeByTurnsCountIfTheyAskOpenMp) {
    std::atomic<bool> stop{false};
    std::atomic<int> turn{0};
    std::thread threads[2];
    for (int self = 0; self < 2; ++self) {
        threads[self] = std::thread([&, self] {
            while (!stop) {
                if (turn != self) {
                    usleep(100);
                    continue;
                }
                omp_get_max_threads();
                for (const auto end = steady_clock::now() + std::chrono::milliseconds(3); steady_clock::now() < end;) {}
                turn = 1 - self;
            }
        });
    }
    const auto is_one = [] { return wheel.blas->number() == 1; };
    EXPECT_TRUE(becomes_while_idle(is_one));
    // Where the machine is busy both may be kept from asking for a while.
    int ones = 0;
    for (int attempt = 0; attempt < 5 && ones != 100; ++attempt) {
        ones = 0;
        for (int i = 0; i < 100; ++i, usleep(1000)) ones += is_one();
    }
    EXPECT_EQ(ones, 100);
    stop = true;
    for (std::thread& thread : threads) thread.join();
}

// It is raised again when nothing computes, too.
TEST_F(Follow, AnIdleProcessHasItsNumberAndUsesNoCpu) {
    {
        const TwoCompute load;
        EXPECT_TRUE(becomes_while_idle([] { return wheel.blas->number() == 1; }));
    }
    EXPECT_TRUE(becomes_while_idle([] { return wheel.blas->number() == harts; }));
    const double before = cpu_seconds();
    usleep(300'000);
    EXPECT_LT(cpu_seconds() - before, .004);
}

TEST_F(Follow, TheNumberIsNeverAboveTheHartsForLong) {
    for (Copy* const copy : {&wheel, &old_wheel}) {
        copy->blas->set_number(4 * harts);
        EXPECT_TRUE(becomes([&] { return copy->blas->number() == harts; }));
    }
}

// Whether the number is read back, if no look comes between, which is seldom.
bool reads_back(const Blas& blas, int number) {
    for (int attempt = 0; attempt < 20; ++attempt) {
        blas.set_number(number);
        if (blas.number() == number) return true;
    }
    return false;
}

TEST_F(Follow, ANumberThatTheProgramSetsIsTheNewMost) {
    for (Copy* const copy : {&wheel, &old_wheel}) {
        EXPECT_TRUE(reads_back(*copy->blas, 1));
        EXPECT_TRUE(holds_for_looks([&] { return copy->blas->number() == 1; }));
        EXPECT_TRUE(reads_back(*copy->blas, 2));
        EXPECT_TRUE(holds_for_looks([&] { return copy->blas->number() == 2; }));
        {
            const TwoCompute load;
            EXPECT_TRUE(becomes_while_idle([&] { return copy->blas->number() == 1; }));
            EXPECT_TRUE(reads_back(*copy->blas, 5));
            EXPECT_TRUE(becomes_while_idle([&] { return copy->blas->number() == 1; }));
        }
        EXPECT_TRUE(becomes([&] { return copy->blas->number() == harts; }));
    }
}

// The threads of OpenMP and of the copies compute for it.
TEST_F(Follow, OneComputingThreadKeepsItsNumber) {
    const auto keeps_it = [] {
        Watched work(old_wheel);
        work.then = [] {
            for (const auto end = steady_clock::now() + std::chrono::milliseconds(5); steady_clock::now() < end;) {}
        };
        old_wheel.blas->call_with(work, harts);
        return is_right_own_region() && is_right_call(wheel) && wheel.blas->number() == harts &&
               old_wheel.blas->number() == harts;
    };
    EXPECT_TRUE(holds_for_looks(keeps_it, .2));
}

// ---- copies that come and go --------------------------------------------------------------------

TEST_F(Follow, ACopyThatTheProgramClosesIsThereForTheNextOpen) {
    const char* const path = std::getenv("BLAS_WHEEL");
    for (int i = 0; i < 2; ++i) {
        void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(handle, nullptr);
        EXPECT_EQ(dlclose(handle), 0);
        EXPECT_EQ(dlclose(handle), 0);   // the one of SetUp, or of the round before
        const TwoCompute load;
        EXPECT_TRUE(becomes_while_idle([] { return old_wheel.blas->number() == 1; }));
        EXPECT_EQ(blas_of("BLAS_WHEEL"), wheel.blas);
    }
    settle();
    use_openmp();
    EXPECT_TRUE(is_right_region(wheel));
}

// ---- processes ----------------------------------------------------------------------------------

TEST_F(Follow, AForksChildComputesAnewWhileJobsRun) {
    for (Copy* const copy : {&wheel, &old_wheel}) {
        std::atomic<bool> stop{false};
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                while (!stop) is_right_call(*copy, 1), is_right_call(*copy);
            });
        }
        for (int i = 0; i < 6; ++i) {
            EXPECT_EQ(status_of([&] {
                          for (std::atomic<bool>& taken : copy->taken) taken = false;
                          copy->wrong_workers = running = most_running = 0;
                          if (copy->blas->number() != harts) _exit(1);
                          for (int round = 0; round < 5; ++round) {
                              if (!is_right_call(*copy)) _exit(2);
                          }
                          if (most_running > harts || copy->wrong_workers != 0) _exit(3);
                      }),
                      42);
        }
        stop = true;
    }
}

TEST_F(Follow, AJobMayEndTheProcess) {
    for (Copy* const copy : {&wheel, &old_wheel}) {
        for (const bool at_once : {true, false}) {
            for (const int by : {0, 1}) {
                const int status = status_of([&] {
                    std::atomic<int> calls{0};
                    Watched work(*copy);
                    work.then = [&] {
                        if (calls++ == by) at_once ? _exit(7) : std::exit(7);
                    };
                    copy->blas->call(work);
                    pause();   // the other one's end
                });
                EXPECT_EQ(status, 7) << at_once << by;
            }
        }
    }
}

TEST_F(Follow, CallsNeedNoMorePthreadsOnceTheyHaveSome) {
    constexpr uid_t nobody = 61187;
    if (geteuid() != 0) GTEST_SKIP() << "needs a user of its own, whose processes are counted";
    EXPECT_EQ(status_of([] {
                  const rlimit limit{1, 1};
                  use_openmp();
                  if (!is_right_region(wheel) || !is_right_call(old_wheel)) _exit(1);
                  if (setresuid(nobody, nobody, nobody) != 0 || setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(2);
                  for (int i = 0; i < 10; ++i) {
                      if (!is_right_region(wheel) || !is_right_call(old_wheel)) _exit(3);
                  }
                  // More jobs than harts ask for threads of their own. Those that do not wait for
                  // each other run one after the other.
                  Watched work(wheel);
                  work.spins = false;
                  wheel.blas->call_with(work, 5);
                  if (work.ran_once(5) != 5 || wheel.wrong_workers != 0) _exit(4);
              }),
              42);
}

TEST_F(Follow, AWrongWordIsIgnoredAndTheLegalOnesAreNamed) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    const std::string command = "WEFT_BLAS_THREADS=half " + program + " --gtest_filter=Full.Threads* 2>&1 >/dev/null";
    FILE* const output = popen(command.c_str(), "r");
    ASSERT_NE(output, nullptr);
    char text[512];
    const std::size_t bytes = fread(text, 1, sizeof text - 1, output);
    text[bytes] = '\0';
    EXPECT_EQ(pclose(output), 0);
    EXPECT_STREQ(text, "weft: WEFT_BLAS_THREADS is 'half', which is ignored; legal are: full, follow\n");
}

// ---- full ---------------------------------------------------------------------------------------

TEST_F(Full, NumbersAreTheProgramsAffair) {
    for (const int number : {harts, 3 * harts, 1, harts}) {
        for (Copy* const copy : {&wheel, &old_wheel}) copy->blas->set_number(number);
        const TwoCompute load;
        EXPECT_TRUE(holds_for_looks([&] {
            EXPECT_TRUE(is_right_call(old_wheel, number));
            EXPECT_TRUE(is_right_call(wheel, number));
            return wheel.blas->number() == number && old_wheel.blas->number() == number;
        }));
    }
}

TEST_F(Full, AboveTheHartsTheirOwnThreadsRunTheJobs) {
    use_openmp();
    const Callback ours = *wheel.blas->callback;
    ASSERT_NE(ours, nullptr);
    for (int round = 0; round < 3; ++round) {
        wheel.blas->set_number(2 * harts);
        EXPECT_TRUE(is_right_call(wheel, 2 * harts));
        EXPECT_EQ(*wheel.blas->callback, nullptr);
        EXPECT_TRUE(
            holds_for_looks([] { return is_right_call(wheel, 2 * harts) && *wheel.blas->callback == nullptr; }));
        EXPECT_EQ(wheel.blas->number(), 2 * harts);
        wheel.blas->set_number(harts);
        use_openmp();
        EXPECT_EQ(*wheel.blas->callback, ours);
        EXPECT_TRUE(is_right_region(wheel));
    }
}

TEST_F(Full, ThreadsThatCallAtOnceHaveNoMoreJobsThanHarts) {
    use_openmp();
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&, i] {
                for (int round = 0; round < 25; ++round) wrong += !is_right_region(i % 2 == 0 ? wheel : other_wheel);
            });
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(most_running, harts);
    EXPECT_EQ(wheel.blas->number(), harts);
}

}   // namespace
