// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread looks which threads of the process compute (computing.hpp), since a copy whose calls do
// not come by way of us does not tell when it is called. It sleeps until the process has used some
// more CPU time, so an idle process has nothing to do for it.
#include "follow.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <weft/hart.h>
#include <weft/trace.h>

#include "../../common/held.hpp"
#include "../../common/variables.hpp"
#include "computing.hpp"
#include "copies.hpp"
#include "counts.hpp"
#include "jobs.hpp"

// ThreadSanitizer's, in a program that is built for it: each thread is to be its own.
extern "C" [[gnu::weak]] int __interceptor_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                                                          void*);   // NOLINT: its name

namespace weft_openblas {

namespace {

using weft_bridge::Held;

// Between looks. A look takes some 5 us for each thread of the process; looks have at most a
// fiftieth of the time.
constexpr std::int64_t pace_ns = 5'000'000, hurried_ns = 1'000'000;
constexpr int most_of_time = 50;
constexpr int calm_looks = 3;   // until a number is raised again
// Since OpenMP has begun a region, until it is thought to rest.
constexpr std::int64_t rest_ns = 100'000'000;

pthread_mutex_t following = PTHREAD_MUTEX_INITIALIZER;   // guards what follows, and the copies' numbers
int sharers = 1;                                         // threads that compute
int calm = 0;                                            // looks since several have
int forks = 0;                                           // under way: no number is lowered meanwhile
bool ended = false;   // the process ends: OpenBLAS ends its threads, and its number stays what it is
std::atomic<bool> looks{false};
std::atomic<bool> has_threads{false}, has_openmp{false};   // the program has started some

bool word_is_follow() {
    using weft_bridge::blas_threads;
    const char* const value = std::getenv(blas_threads.name);
    const int word = weft_bridge::word_of(blas_threads, value);
    char legal[64];
    if (word == weft_bridge::illegal)
        std::fprintf(stderr, "weft: %s is '%s', which is ignored; legal are: %s\n", blas_threads.name, value,
                     weft_bridge::legal_words(blas_threads, legal, sizeof legal));
    return word == 1;
}

int share() { return std::max(harts() / sharers, 1); }

// Sets what each copy's number is to be now.
void set_numbers() {
    bool lowers = false;
    each_copy([&](Copy& copy) {
        const int now = copy.number();
        if (now <= 0) return;   // it is not initialized
        if (now != copy.given) copy.most = now;
        const int fit = std::min(copy.most, share());
        if (fit != now) copy.set_number(fit);
        copy.given = fit;
        lowers |= fit < now && sharers > 1;
    });
    if (lowers) count_lowered();
}

bool all_use_one() {
    bool all = true;
    each_copy([&](const Copy& copy) { all &= copy.number() <= 1; });
    return all;
}

void share_among(int threads) {
    calm = 0;
    sharers = threads;
}

std::int64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// Whether the program has begun a region of our OpenMP of late.
class OpenMpRegions {
public:
    bool are_recent() {
        std::uint64_t all = 0;
        if (weft_counter_read("/openmp/count/regions", &all) != WEFT_OK) return false;
        const std::uint64_t seen = all - calls_on_weft();   // those are regions, too
        if (seen != seen_) last_ns_ = now_ns();
        seen_ = seen;
        return seen_ != 0 && now_ns() - last_ns_ < rest_ns;
    }

private:
    std::uint64_t seen_ = 0;
    std::int64_t last_ns_ = 0;
};

// Threads that ask our OpenMP for their number of threads compute, also where they are not found
// to: Python's threads run one after the other in between.
int threads_in_openmp() {
    std::uint64_t asking = 0;
    return weft_counter_read("/openmp/threads/asking", &asking) == WEFT_OK ? static_cast<int>(asking) : 0;
}

// What the looking thread knows of the last look.
struct Memory {
    Computing computing;
    OpenMpRegions regions;
};

// Returns whether the next look is to follow soon: several threads run, and may have begun to
// compute.
bool look(Memory& memory) {
    const Held lock(following);
    if (ended || forks > 0) return false;
    bool hurried = false;
    // relaxed: a look too late
    if (follows() && (sharers > 1 || (has_threads.load(std::memory_order_relaxed) && !all_use_one()))) {
        const Computing::Counts threads = memory.computing.look();
        const int compute = std::max(threads.still, threads_in_openmp());
        if (compute >= 2) share_among(compute);
        else if (sharers > 1 && ++calm == calm_looks) sharers = 1;
        hurried = sharers == 1 && threads.now >= 2;
    }
    if (follows()) set_numbers();
    // A copy's own threads do as well where nothing else uses the harts.
    take_jobs(memory.regions.are_recent() || (follows() && sharers > 1 && share() > 1));
    return hurried;
}

bool are_lowered() {
    const Held lock(following);
    return sharers > 1;
}

void* keep_looking(void*) {
    pthread_setname_np(pthread_self(), "weft/blas");
    Memory memory;
    bool hurried = false;
    for (std::int64_t last_ns = 0, took_ns = 0;;) {
        constexpr timespec pace{0, pace_ns};
        if (!hurried && !are_lowered()) clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &pace, nullptr);
        // many threads use much CPU time
        const std::int64_t least_ns = std::max(hurried ? hurried_ns : pace_ns, took_ns * most_of_time);
        const std::int64_t left_ns = std::min(last_ns + least_ns - now_ns(), std::int64_t{999'999'999});
        const timespec rest{0, left_ns};
        if (left_ns > 0) clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, nullptr);
        last_ns = now_ns();
        hurried = look(memory);
        took_ns = now_ns() - last_ns;
    }
    return nullptr;
}

// Before the destructors of libraries: the thread looks until the process is no more.
void end() {
    const Held lock(following);
    ended = true;
}

// Not by libweft_pthread, which would announce the thread, and might admit it as a guest. Without
// it numbers stay what they are.
void start_thread() {
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const Create create = __interceptor_pthread_create != nullptr
                                     ? __interceptor_pthread_create
                                     : reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    if (create == nullptr) return;
    [[maybe_unused]] static const int at_exit = std::atexit(end);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_t thread;
    if (create(&thread, &attributes, keep_looking, nullptr) != 0) looks.store(false, std::memory_order_relaxed);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void begin_to_look() {
    // relaxed: one thread starts it, and what it reads is under a lock
    if (looks.load(std::memory_order_relaxed) || looks.exchange(true, std::memory_order_relaxed)) return;
    start_thread();
}

// In the child of a fork one thread computes, and none looks. No copy is called here: another
// thread may have held its locks, and it would start threads. Numbers that are lowered after all,
// since the fork has not passed through libweft_pthread, wait for the first new thread.
void begin_anew() {
    following = PTHREAD_MUTEX_INITIALIZER;
    forks = calm = 0;
    forget_counts();
    looks.store(false, std::memory_order_relaxed);   // relaxed, as the next: there is one thread
    has_threads.store(false, std::memory_order_relaxed);
    has_openmp.store(false, std::memory_order_relaxed);
}
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, begin_anew);

// Something has begun that concerns copies, if there are any.
void begins(std::atomic<bool>& known) {
    known.store(true);   // seq_cst, with each_copy: copy_starts_thread sees this, or the copy is seen here
    if (copy_count.load() != 0) begin_to_look();
}

}   // namespace

int harts() {
    static const long limit = [] {
        const char* const value = std::getenv("WEFT_HARTS");
        return value == nullptr ? 0 : std::strtol(value, nullptr, 10);   // "all" is 0, too
    }();
    const auto allowed = static_cast<long>(weft_hart_limit());
    return static_cast<int>(limit > 0 ? std::min(limit, allowed) : allowed);
}

bool follows() {
    static const bool wanted = word_is_follow();
    return wanted;
}

void program_starts_thread() {
    if (follows()) begins(has_threads);
}

void openmp_begins() { begins(has_openmp); }

void copy_starts_thread(int threads) {
    if (has_threads.load() || has_openmp.load() || (follows() && threads >= harts())) begin_to_look();
}

void several_call(int calls) {
    if (!follows()) return;
    begin_to_look();   // it raises the numbers
    const Held lock(following);
    if (calls <= sharers || ended || forks > 0) return;
    share_among(calls);
    set_numbers();
}

}   // namespace weft_openblas

extern "C" {

// Our OpenMP makes a team, or a larger one.
[[gnu::visibility("default")]] void weft_openblas_openmp_begins() { weft_openblas::openmp_begins(); }

// libweft_pthread is about to fork, from any thread. The child is to have the numbers that the
// program wants, and they can be set here only, while the copies still have their threads.
[[gnu::visibility("default")]] void weft_openblas_before_fork() {
    using namespace weft_openblas;   // NOLINT: an entry point
    const Held lock(following);
    ++forks;
    if (sharers == 1) return;
    sharers = 1;
    set_numbers();
}

// In the parent. The next look lowers the numbers again.
[[gnu::visibility("default")]] void weft_openblas_after_fork() {
    using namespace weft_openblas;   // NOLINT: an entry point
    const Held lock(following);
    --forks;
}

}   // extern "C"
