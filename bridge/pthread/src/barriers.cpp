// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers. The first to arrive decides where a round is kept. A hosted unit's round is kept here:
// it counts the arrivals, of threads too, and each waits in its own latch. Nothing is written into
// the barrier, which may be destroyed as soon as the last has arrived. A thread's round is the C
// library's, and a unit that arrives at it waits through another OS thread.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/io.h>
#include <weft/sync.h>

#include "caller.hpp"
#include "lot.hpp"
#include "real.hpp"

namespace weft_pthread {

namespace {

Real<int (*)(pthread_barrier_t*)> real_wait("pthread_barrier_wait", "GLIBC_2.34");
Real<int (*)(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned)> real_init("pthread_barrier_init",
                                                                                    "GLIBC_2.34");

// The fields of glibc's barrier: only read, and only if the layout is as expected (see is_known).
struct Inside {
    unsigned in, round, count;
    int shared;
    unsigned out;
};
static_assert(sizeof(Inside) <= sizeof(pthread_barrier_t));

const Inside& inside(const pthread_barrier_t& barrier) { return reinterpret_cast<const Inside&>(barrier); }

bool is_known() {
    static const bool known = [] {
        pthread_barrier_t own, shared;
        pthread_barrierattr_t attributes;
        pthread_barrierattr_init(&attributes);
        pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        constexpr unsigned most = 0x5a5a5a;
        if (real_init.get()(&own, nullptr, most) != 0 || real_init.get()(&shared, &attributes, most) != 0) return false;
        return inside(own).count == most && inside(shared).count == most && inside(own).shared == 0 &&
               inside(shared).shared != 0;
    }();
    return known;
}

struct Arrival {
    weft_latch latch{};
    Arrival* next = nullptr;
};

// A round in progress. There are few at a time.
struct Round {
    const pthread_barrier_t* barrier = nullptr;
    unsigned arrived = 0;
    bool ours = false;
    Arrival* waiting = nullptr;
    Round* next = nullptr;
};

class Rounds {
public:
    enum class Role { waits, last, of_the_library };

    // `begins`: if the caller arrives first, whether the round is kept here. On Role::last,
    // `others` are the waiters.
    Role arrive(pthread_barrier_t* barrier, unsigned count, bool begins, Arrival& self, Arrival*& others) {
        lock_.lock();
        Round** at;
        while (*(at = place_of(barrier)) == nullptr) {
            if (spare_ == nullptr) {   // memory is allocated without the lock
                lock_.unlock();
                auto* const made = new Round;
                lock_.lock();
                made->next = spare_;
                spare_ = made;
                continue;
            }
            *at = spare_;
            spare_ = spare_->next;
            **at = {barrier, 0, begins, nullptr, nullptr};
        }
        Round* const round = *at;
        const bool last = ++round->arrived >= count;
        const bool ours = round->ours;
        if (last) {
            others = round->waiting;
            *at = round->next;
            round->next = spare_;
            spare_ = round;
        } else if (ours) {
            weft_latch_init(&self.latch, 1);
            self.next = round->waiting;
            round->waiting = &self;
        }
        lock_.unlock();
        return !ours ? Role::of_the_library : last ? Role::last : Role::waits;
    }

    void forget() {
        first_ = nullptr;   // in the child of a fork there are no waiters
        lock_.forget();
    }

private:
    // The barrier's place in the list; if it has none, the list's end.
    Round** place_of(const pthread_barrier_t* barrier) {
        Round** at = &first_;
        while (*at != nullptr && (*at)->barrier != barrier) at = &(*at)->next;
        return at;
    }

    SpinLock lock_;
    Round* first_ = nullptr;
    Round* spare_ = nullptr;
};
constinit Rounds rounds;

int wait_elsewhere(pthread_barrier_t* barrier) {
    const auto wait = real_wait.get();
    int answer = 0;
    const NotCancelled meanwhile;
    auto made = [&] { answer = wait(barrier); };
    // Refused if the system gives no OS thread: then this thread waits.
    if (weft_blocking([](void* raw) { (*static_cast<decltype(made)*>(raw))(); }, &made) != WEFT_OK) made();
    return answer;
}

int wait(pthread_barrier_t* barrier) {
    const bool switches = may_switch();
    if (!is_known() || inside(*barrier).shared != 0)
        return switches ? wait_elsewhere(barrier) : real_wait.get()(barrier);
    const NotCancelled meanwhile;   // a barrier is no cancellation point anyway
    static const int at_fork = pthread_atfork(nullptr, nullptr, [] { rounds.forget(); });
    static_cast<void>(at_fork);
    Arrival self;
    Arrival* others = nullptr;
    switch (rounds.arrive(barrier, inside(*barrier).count, switches, self, others)) {
    case Rounds::Role::of_the_library: return switches ? wait_elsewhere(barrier) : real_wait.get()(barrier);
    case Rounds::Role::waits:
        // A tasklet may not wait, but waits here all the same, as it would in the C library.
        if (weft_latch_wait(&self.latch) != WEFT_OK) {
            while (weft_latch_test(&self.latch) != WEFT_OK) syscall(SYS_sched_yield);
        }
        return 0;
    case Rounds::Role::last:
        while (others != nullptr) {
            Arrival* const next = others->next;   // its memory ends with the waiter
            weft_latch_count_down(&others->latch, 1);
            others = next;
        }
    }
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

}   // namespace

}   // namespace weft_pthread

extern "C" {

[[gnu::visibility("default")]] int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
    return weft_pthread::wait(barrier);
}

}   // extern "C"
