// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jobs that other streams see: a list of them (the runtime's, or an arena's), and what becomes of a
// job that is taken. core/README.md, "Jobs", has the rules; the model (test/model/jobs_model.cpp)
// has jobs of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/probe.hpp"
#include "hart/idle_list.hpp"
#include "os/lock.hpp"

namespace weft {

struct Unit;

// The orders of PublishedJob and Jobs; a model test passes weaker ones, which must fail.
struct PublishedJobOrders {
    // acq_rel, pairs with `enroll` and `done`: the owner, which reads the state or is woken, sees
    // what the job has done; and the waker sees the waiter.
    static constexpr std::memory_order finish = std::memory_order_acq_rel;
    static constexpr std::memory_order enroll = std::memory_order_acq_rel;
    static constexpr std::memory_order enroll_failed = std::memory_order_acquire;
    static constexpr std::memory_order done = std::memory_order_acquire;
    // seq_cst: "publish, then check for searchers and the idle list" against "be on the idle list,
    // or stop searching, then read the length": one of the two sees the other.
    static constexpr std::memory_order length = std::memory_order_seq_cst;
    static constexpr std::memory_order searching = std::memory_order_seq_cst;
};

// The waiter for a job that was taken. `wake` is called once, as the last act of the thief that has
// run it.
struct JobWaiter {
    void (*wake)(JobWaiter* self);
};

template <class Job, class Orders>
struct BasicJobs;

// The state of a job outside its owner's list: in Job::kept, from when it is published, or made
// unstealable, to its join.
template <class Job, class Orders = PublishedJobOrders>
struct BasicPublishedJob {
    using List = BasicJobs<Job, Orders>;

    // Values of `state`; any other value is a JobWaiter's address. None is zero: zero is memory
    // that has not been written.
    static constexpr std::uintptr_t unstealable = 4;   // in no list: only its owner runs it
    static constexpr std::uintptr_t available = 1;     // in the list
    static constexpr std::uintptr_t taken = 2;
    static constexpr std::uintptr_t finished = 3;

    atomic<std::uintptr_t> state;
    plain<Job*> next{nullptr};   // of the list; under its lock
    plain<Job*> prev{nullptr};
    List* const list = nullptr;    // where it was published: its owner may belong elsewhere when it joins
    const std::uintptr_t by = 0;   // owner() and stack_class(): there is no room for two words

    explicit BasicPublishedJob(std::uintptr_t begins) : state(begins) {}
    BasicPublishedJob(List& in, Unit& owner, std::uint8_t wanted)
        : state(available), list(&in), by(reinterpret_cast<std::uintptr_t>(&owner) | wanted) {}
    static BasicPublishedJob& of(Job& job) { return *reinterpret_cast<BasicPublishedJob*>(job.kept); }

    // A unit lies at a multiple of 64.
    static constexpr std::uintptr_t class_bits = 31;
    // the unit that joins it
    Unit& owner() const { return *reinterpret_cast<Unit*>(by & ~class_bits); }
    // of Unit: the stack that the owner has asked for
    std::uint8_t stack_class() const { return static_cast<std::uint8_t>(by & class_bits); }

    // Called by the thief that has run the job.
    void finish() {
        const std::uintptr_t was = state.exchange(finished, Orders::finish);
        if (was == taken) return;   // the owner may have continued, and the job may be gone
        auto* waiter = reinterpret_cast<JobWaiter*>(was);
        waiter->wake(waiter);
    }
    // Called by its owner when the job was taken. True: the waiter will be woken. False: the job
    // has been run.
    bool enroll(JobWaiter& waiter) {
        std::uintptr_t seen = taken;
        return state.compare_exchange_strong(seen, reinterpret_cast<std::uintptr_t>(&waiter), Orders::enroll,
                                             Orders::enroll_failed);
    }
    bool done() const { return state.load(Orders::done) == finished; }
};

// The published jobs, and the streams that search for them.
template <class Job, class Orders = PublishedJobOrders>
struct BasicJobs {
    using PublishedJob = BasicPublishedJob<Job, Orders>;

    atomic<std::size_t> published{0};     // length of the list, for a check without the lock
    atomic<std::uint32_t> searching{0};   // streams that are awake and search for something to run
    // streams that may take what is published: those in the runtime's table, or as many as the
    // arena may have harts
    atomic<std::size_t> streams{0};
    IdleList idle_list;                             // of the streams that sleep
    void (*work_came)(BasicJobs& here) = nullptr;   // an arena's: instead of the idle list
    os::Lock lock;                                  // guards the list
    plain<Job*> oldest{nullptr};
    plain<Job*> newest{nullptr};

    // Whether there is something to be taken; in the order of the idle list's count.
    bool any() const { return published.load(Orders::length) != 0; }

    // Publishes jobs that have left the list `Own`, and belong to `owner`; wakes a stream that has
    // gone to sleep without them.
    template <class Own>
    void publish(typename Own::Part part, Unit& owner, std::uint8_t stack_class) {
        Job* first = part.newest;
        Job* newer = nullptr;
        while (true) {
            Job* const older = Own::older(*first);   // where the published job begins
            auto* made = new (first->kept) PublishedJob(*this, owner, stack_class);
            made->next = newer;
            made->prev = older;
            if (older == nullptr) break;
            newer = std::exchange(first, older);
        }
        append(*first, *part.newest, part.count);
        probe(Probe::job_before_wake);
        tell();
    }

    // There is something to take: wakes a stream that has gone to sleep without it, unless another
    // stream is on the way to find it.
    void tell() {
        if (searching.load(Orders::searching) != 0) return;
        if (work_came == nullptr) idle_list.wake_one();
        else work_came(*this);
    }

    // Called by its owner. False: the job has been taken.
    bool remove(Job& job) {
        const PublishedJob& at = PublishedJob::of(job);
        // relaxed: a job that was taken is not put back, and the owner sees what it has done by its
        // next check, done().
        if (at.state.load(std::memory_order_relaxed) != PublishedJob::available) return false;
        std::lock_guard guard(lock);
        check();
        // relaxed: it is changed under the lock
        if (at.state.load(std::memory_order_relaxed) != PublishedJob::available) return false;
        unlink(job);
        return true;
    }

    // While no thread runs: the jobs in the list are linked both ways, and no stream searches.
    void check_whole() const {
        check();
        std::size_t count = 0;
        Job* before = nullptr;
        for (Job* job = oldest; job != nullptr; before = job, job = PublishedJob::of(*job).next, ++count) {
            const PublishedJob& at = PublishedJob::of(*job);
            WEFT_ASSERT(at.state.load() == PublishedJob::available && at.list == this && at.prev == before);
        }
        WEFT_ASSERT(count == published.load() && before == newest);
        WEFT_ASSERT(searching.load() == 0);
        idle_list.check_whole();
    }

    // On entry, under the lock. relaxed: it is changed under the lock.
    void check() const {
        WEFT_ASSERT((oldest == nullptr) == (newest == nullptr));
        WEFT_ASSERT((oldest == nullptr) == (published.load(std::memory_order_relaxed) == 0));
    }

    // Under the lock: the job is taken.
    void unlink(Job& job) {
        check();
        PublishedJob& at = PublishedJob::of(job);
        WEFT_ASSERT(at.list == this);
        Job* const next = at.next;
        Job* const prev = at.prev;
        if (next != nullptr) PublishedJob::of(*next).prev = prev;
        else newest = prev;
        if (prev != nullptr) PublishedJob::of(*prev).next = next;
        else oldest = next;
        at.state.store(PublishedJob::taken,
                       std::memory_order_relaxed);   // relaxed: the thief informs the owner by finish()
        published.fetch_sub(1, std::memory_order_seq_cst);
    }

private:
    void append(Job& first, Job& last, std::size_t count) {
        std::lock_guard guard(lock);
        check();
        Job* const before = newest;
        PublishedJob::of(first).prev = before;
        if (before != nullptr) PublishedJob::of(*before).next = &first;
        else oldest = &first;
        newest = &last;
        published.fetch_add(count, Orders::length);
    }
};

// During its lifetime the stream searches for something to run, and a stream that publishes a job
// need not wake another.
template <class Jobs, class Orders = PublishedJobOrders>
class BasicSearch {
public:
    explicit BasicSearch(Jobs& in) : jobs_(in) { jobs_.searching.fetch_add(1, Orders::searching); }
    BasicSearch(const BasicSearch&) = delete;
    BasicSearch& operator=(const BasicSearch&) = delete;
    ~BasicSearch() {
        jobs_.searching.fetch_sub(1, Orders::searching);
        // A stream that has published something meanwhile has woken no other, and this stream may
        // have found something else.
        if (jobs_.any()) jobs_.tell();
    }

private:
    Jobs& jobs_;
};

}   // namespace weft
