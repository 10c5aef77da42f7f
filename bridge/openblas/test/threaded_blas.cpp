// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands for an OpenBLAS with threads of its own. Macros say which one: BEFORE and BEHIND are what
// it puts before and behind OpenBLAS' names, CALLBACK says whether others may run its jobs, EARLY
// whether its threads start when it is loaded, or at the first call. Its own calls pass no table of
// the loader's.
#include <pthread.h>
#include <sched.h>

#include <unistd.h>
#include <algorithm>

#include <atomic>

#include "threaded_blas.hpp"

#define JOINED(before, name, behind) before##name##behind
#define EXPANDED(before, name, behind) JOINED(before, name, behind)
#define NAME(name) EXPANDED(BEFORE, name, BEHIND)
#define EXPORTED [[gnu::visibility("default")]]

using namespace blas_for_test;   // NOLINT: the file is the library

#if CALLBACK
extern "C" {
EXPORTED Callback openblas_threads_callback_ = nullptr;
}
#endif

namespace {

constexpr int most_threads = 64;   // the caller is one of them

// ---- jobs ---------------------------------------------------------------------------------------

struct Call {
    Work& work;
    int count;
    std::atomic<int> begun{0}, done{0};
};

struct Entry {
    Call* call;
    int job;
};

void run(int worker, void* raw, int) {
    const Entry& entry = *static_cast<Entry*>(raw);
    Call& call = *entry.call;
    call.work.begins(entry.job, worker);
    ++call.begun;
    while (call.work.spins && call.begun < call.count) {
        for (int i = 0; i < 8; ++i) asm volatile("nop");
        if (!CALLBACK) sched_yield();   // as versions without callback do
    }
    call.work.runs(entry.job, worker);
    ++call.done;
}

// ---- its own threads ----------------------------------------------------------------------------

pthread_mutex_t calling = PTHREAD_MUTEX_INITIALIZER;   // what follows changes under it
int used = 4;                                          // threads, with the caller
int started = 0;
pthread_t threads[most_threads];

pthread_mutex_t giving = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t given = PTHREAD_COND_INITIALIZER;
Entry* entries[most_threads];   // what each thread is to run; under `giving`, as the next
bool end = false;

void* serve(void* raw) {
    const long self = reinterpret_cast<long>(raw);
    for (;;) {
        pthread_mutex_lock(&giving);
        while (entries[self] == nullptr && !end) pthread_cond_wait(&given, &giving);
        Entry* const entry = entries[self];
        entries[self] = nullptr;
        pthread_mutex_unlock(&giving);
        if (entry == nullptr) return nullptr;
        run(static_cast<int>(self) + 1, entry, 0);
    }
}

void start(int count) {
    for (; started + 1 < count; ++started) {
        if (pthread_create(&threads[started], nullptr, serve, reinterpret_cast<void*>(long{started})) == 0) continue;
        used = started + 1;
        return;
    }
}

void stop() {
    pthread_mutex_lock(&giving);
    end = true;
    pthread_cond_broadcast(&given);
    pthread_mutex_unlock(&giving);
    for (int i = 0; i < started; ++i) {
        if (pthread_equal(threads[i], pthread_self()) == 0) pthread_join(threads[i], nullptr);
    }
    started = 0;
    end = false;
}

// The caller runs the jobs for which there is no thread, and no other one.
void run_by_own_threads(Call& call, Entry* jobs) {
    start(std::max(used, std::min(call.count, most_threads)));
    pthread_mutex_lock(&giving);
    for (int i = 0; i < started && i + 1 < call.count; ++i) entries[i] = &jobs[i + 1];
    pthread_cond_broadcast(&given);
    pthread_mutex_unlock(&giving);
    run(0, &jobs[0], 0);
    for (int i = started + 1; i < call.count; ++i) run(0, &jobs[i], 0);
    while (call.done < call.count) sched_yield();
}

// As OpenBLAS, it ends its threads before a fork, and starts them again when they are needed. Other
// threads may be calling meanwhile.
[[maybe_unused]] const int at_fork = pthread_atfork(
    [] {
        pthread_mutex_lock(&calling);
        stop();
        pthread_mutex_unlock(&calling);
    },
    nullptr,
    [] {
        calling = giving = PTHREAD_MUTEX_INITIALIZER;
        given = PTHREAD_COND_INITIALIZER;
        for (Entry*& entry : entries) entry = nullptr;
        started = 0;
        end = false;
    });

[[gnu::constructor]] void begin() {
    if (EARLY) start(used);
}

// The caller may be a job of a call, which holds the lock.
[[gnu::destructor]] void finish() { stop(); }

// ---- what is called -----------------------------------------------------------------------------

int number() { return used; }

void set_number(int count) {
    pthread_mutex_lock(&calling);
    used = count < 1 ? 1 : count > most_threads ? most_threads : count;
    start(used);
    pthread_mutex_unlock(&calling);
}

int exec(long count, void* raw) {
    auto* const jobs = static_cast<Entry*>(raw);
    if (count == 0) return 0;
    pthread_mutex_lock(&calling);
    start(used);
#if CALLBACK
    if (const Callback callback = openblas_threads_callback_; callback != nullptr) {
        pthread_mutex_unlock(&calling);
        callback(1, run, static_cast<int>(count), sizeof(Entry), jobs, 0);
        return 0;
    }
#endif
    run_by_own_threads(*jobs[0].call, jobs);
    pthread_mutex_unlock(&calling);
    return 0;
}

void call_with(Work& work, int count) {
    Call call{work, count};
    Entry jobs[4 * most_threads];
    for (int i = 0; i < count; ++i) jobs[i] = {&call, i};
    exec(count, jobs);
}

void call_it(Work& work) { call_with(work, used); }

#if CALLBACK
void set_callback(Callback callback) { openblas_threads_callback_ = callback; }
constexpr Blas blas{number, set_number, call_it, call_with, set_callback, &openblas_threads_callback_};
#else
constexpr Blas blas{number, set_number, call_it, call_with, nullptr, nullptr};
#endif

}   // namespace

extern "C" {

EXPORTED int NAME(openblas_get_num_threads)() { return number(); }
EXPORTED void NAME(goto_set_num_threads)(int count) { set_number(count); }
EXPORTED const char* NAME(openblas_get_config)() { return "OpenBLAS for a test DYNAMIC_ARCH MAX_THREADS=64"; }
EXPORTED int exec_blas(long count, void* jobs) { return exec(count, jobs); }
#if CALLBACK
EXPORTED void NAME(openblas_set_threads_callback_function)(Callback callback) { set_callback(callback); }
#endif

EXPORTED const Blas* threaded_blas() { return &blas; }

}   // extern "C"
