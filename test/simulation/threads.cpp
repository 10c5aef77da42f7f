// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C library's threads on virtual harts, so that the behavioural tests run in simulation as they
// are written: std::thread, std::mutex, std::condition_variable, sleeping, yielding and the clock
// come here. Calls outside of a simulator run go on to the C library.
//
// The OS thread has one set of thread-locals, which all virtual harts share: tests that read
// thread-locals are marked (outside.txt).
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>

#include "os/sim/machine.hpp"
#include "weft/location.hpp"

namespace {

namespace sim = weft::sim;

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Thread {
    void* (*body)(void*);
    void* argument;
    void* result = nullptr;
    void* hart = nullptr;
};

std::uint64_t ns_of(const timespec& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

int sleep_until(std::uint64_t deadline_ns) {
    sim::system_call("sleep");
    if (deadline_ns > sim::now_ns()) sim::block(sim::Wait::time, nullptr, deadline_ns);
    return 0;
}

// A mutex is its first word: 0 free, 1 held. All clocks are the machine's.
int& word_of(pthread_mutex_t* mutex) { return *reinterpret_cast<int*>(mutex); }

int wait_for(pthread_cond_t* condition, pthread_mutex_t* mutex, std::uint64_t deadline_ns) {
    sim::system_call("condition-wait", condition);
    word_of(mutex) = 0;
    sim::wake(mutex, 1);
    const bool woken = sim::block(sim::Wait::futex, condition, deadline_ns);
    pthread_mutex_lock(mutex);
    return woken ? 0 : ETIMEDOUT;
}

}   // namespace

extern "C" {

int pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
    if (!sim::machine_runs()) return real<decltype(pthread_create)>("pthread_create")(made, attributes, body, argument);
    sim::system_call("thread-start");
    auto* thread = new Thread{body, argument};
    thread->hart = sim::hart_start(
        [](void* raw) {
            auto* self = static_cast<Thread*>(raw);
            self->result = self->body(self->argument);
        },
        thread, 0);
    if (thread->hart == nullptr) {
        delete thread;
        return EAGAIN;
    }
    *made = reinterpret_cast<pthread_t>(thread);
    return 0;
}

int pthread_join(pthread_t joined, void** result) {
    if (!sim::machine_runs()) return real<decltype(pthread_join)>("pthread_join")(joined, result);
    sim::system_call("thread-join");
    auto* thread = reinterpret_cast<Thread*>(joined);
    sim::hart_join(thread->hart);
    if (result != nullptr) *result = thread->result;
    delete thread;
    return 0;
}

pthread_t pthread_self() noexcept {
    if (sim::machine_runs()) return static_cast<pthread_t>(sim::hart_number() + 1);
    static const auto self = real<decltype(pthread_self)>("pthread_self");
    return self();
}

int sched_yield() noexcept {
    if (!sim::machine_runs()) return real<decltype(sched_yield)>("sched_yield")();
    sim::pause(weft::location());
    return 0;
}

int nanosleep(const timespec* duration, timespec* left) {
    if (!sim::machine_runs()) return real<decltype(nanosleep)>("nanosleep")(duration, left);
    return sleep_until(sim::now_ns() + ns_of(*duration));
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
    if (!sim::machine_runs()) return real<decltype(clock_nanosleep)>("clock_nanosleep")(clock, flags, time, left);
    return sleep_until((flags & TIMER_ABSTIME) != 0 ? ns_of(*time) : sim::now_ns() + ns_of(*time));
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    if (!sim::machine_runs()) {
        static const auto get = real<decltype(clock_gettime)>("clock_gettime");
        return get(clock, time);
    }
    const std::uint64_t now = sim::now_ns();
    time->tv_sec = static_cast<time_t>(now / 1'000'000'000);
    time->tv_nsec = static_cast<long>(now % 1'000'000'000);
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    if (!sim::machine_runs()) {
        static const auto lock = real<decltype(pthread_mutex_lock)>("pthread_mutex_lock");
        return lock(mutex);
    }
    sim::system_call("mutex-lock", mutex);
    while (word_of(mutex) != 0) sim::block(sim::Wait::futex, mutex, sim::forever);
    word_of(mutex) = 1;
    return 0;
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
    if (!sim::machine_runs()) return real<decltype(pthread_mutex_trylock)>("pthread_mutex_trylock")(mutex);
    sim::system_call("mutex-trylock", mutex);
    if (word_of(mutex) != 0) return EBUSY;
    word_of(mutex) = 1;
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
    if (!sim::machine_runs()) {
        static const auto unlock = real<decltype(pthread_mutex_unlock)>("pthread_mutex_unlock");
        return unlock(mutex);
    }
    sim::system_call("mutex-unlock", mutex);
    word_of(mutex) = 0;
    sim::wake(mutex, 1);
    return 0;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    if (!sim::machine_runs()) return real<decltype(pthread_cond_wait)>("pthread_cond_wait")(condition, mutex);
    return wait_for(condition, mutex, sim::forever);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
    if (!sim::machine_runs())
        return real<decltype(pthread_cond_clockwait)>("pthread_cond_clockwait")(condition, mutex, clock, until);
    return wait_for(condition, mutex, ns_of(*until));
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
    return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, until);
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
    if (!sim::machine_runs()) return real<decltype(pthread_cond_signal)>("pthread_cond_signal")(condition);
    sim::system_call("condition-notify", condition);
    sim::wake(condition, 1);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
    if (!sim::machine_runs()) return real<decltype(pthread_cond_broadcast)>("pthread_cond_broadcast")(condition);
    sim::system_call("condition-notify", condition);
    sim::wake(condition, ~std::size_t{0});
    return 0;
}

// The C++ library's semaphores and waits on atomics: futexes with an absolute deadline, if any.
long syscall(long number, ...) noexcept {
    va_list list;
    va_start(list, number);
    long words[6];
    for (long& word : words) word = va_arg(list, long);
    va_end(list);
    if (!sim::machine_runs() || number != SYS_futex) {
        static const auto call = real<long(long, ...)>("syscall");
        return call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    }
    auto* const word = reinterpret_cast<int*>(words[0]);
    const int operation = static_cast<int>(words[1]) & FUTEX_CMD_MASK;
    sim::system_call("futex", word);
    if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) {
        return static_cast<long>(sim::wake(word, static_cast<std::size_t>(words[2])));
    }
    const auto* const time = reinterpret_cast<const timespec*>(words[3]);
    if (*word != static_cast<int>(words[2])) {
        errno = EAGAIN;
        return -1;
    }
    const std::uint64_t base = operation == FUTEX_WAIT ? sim::now_ns() : 0;
    if (sim::block(sim::Wait::futex, word, time == nullptr ? sim::forever : base + ns_of(*time))) return 0;
    errno = ETIMEDOUT;
    return -1;
}

}   // extern "C"
