// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jobs that other streams see: lists of them (the runtime's, or an arena's), and what becomes of a
// job that is taken. core/README.md, "Jobs", has the rules; the model (test/model/jobs_model.cpp)
// has jobs of its own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/config.hpp"
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
    // or stop searching, then read `filled`": one of the two sees the other.
    static constexpr std::memory_order filled = std::memory_order_seq_cst;
    static constexpr std::memory_order searching = std::memory_order_seq_cst;
};

// The waiter for a job that was taken. `wake` is called once, as the last act of the thief that has
// run it.
struct JobWaiter {
    void (*wake)(JobWaiter* self);
};

template <class Job, class Orders>
struct BasicJobList;

// The state of a job outside its owner's list: in Job::kept, from when it is published, or made
// unstealable, to its join.
template <class Job, class Orders = PublishedJobOrders>
struct BasicPublishedJob {
    using List = BasicJobList<Job, Orders>;

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

template <class Job, class Orders>
struct BasicJobs;

// Some of the published jobs of a place, oldest first: those of one stream, or of a few. A lock for
// all of them would be what streams wait for as soon as there are many. `at`: its bit in
// Jobs::filled.
template <class Job, class Orders = PublishedJobOrders>
struct alignas(config::cache_line) BasicJobList {
    using PublishedJob = BasicPublishedJob<Job, Orders>;
    using Jobs = BasicJobs<Job, Orders>;

    Jobs* of = nullptr;
    unsigned at = 0;
    os::Lock lock;   // guards the list
    plain<Job*> oldest{nullptr};
    plain<Job*> newest{nullptr};

    // Jobs that lead to one another.
    void append(Job& first, Job& last) {
        std::lock_guard guard(lock);
        check();
        Job* const before = newest;
        PublishedJob::of(first).prev = before;
        if (before != nullptr) PublishedJob::of(*before).next = &first;
        else oldest = &first;
        newest = &last;
        // A list that was not empty has its bit, which the stream that set it, or saw it, has
        // passed on by the lock.
        if (before == nullptr) of->filled.fetch_or(bit(), Orders::filled);
    }

    // Called by its owner. False: the job has been taken.
    bool remove(Job& job) {
        const PublishedJob& published = PublishedJob::of(job);
        // relaxed: a job that was taken is not put back, and the owner sees what it has done by its
        // next check, done().
        if (published.state.load(std::memory_order_relaxed) != PublishedJob::available) return false;
        std::lock_guard guard(lock);
        check();
        // relaxed: it is changed under the lock
        if (published.state.load(std::memory_order_relaxed) != PublishedJob::available) return false;
        unlink(job);
        return true;
    }

    // Under the lock: the job is taken.
    void unlink(Job& job) {
        check();
        PublishedJob& published = PublishedJob::of(job);
        WEFT_ASSERT(published.list == this);
        Job* const next = published.next;
        Job* const prev = published.prev;
        if (next != nullptr) PublishedJob::of(*next).prev = prev;
        else newest = prev;
        if (prev != nullptr) PublishedJob::of(*prev).next = next;
        else oldest = next;
        published.state.store(PublishedJob::taken,
                              std::memory_order_relaxed);   // relaxed: the thief informs the owner by finish()
        if (next == nullptr && prev == nullptr) of->filled.fetch_and(~bit(), std::memory_order_seq_cst);
    }

    // On entry, under the lock. relaxed: the list's bit is changed under the lock.
    void check() const {
        WEFT_ASSERT((oldest == nullptr) == (newest == nullptr));
        WEFT_ASSERT((oldest == nullptr) == ((of->filled.load(std::memory_order_relaxed) & bit()) == 0));
    }

    // While no thread runs: the jobs are linked both ways.
    void check_whole() const {
        check();
        Job* before = nullptr;
        for (Job* job = oldest; job != nullptr; before = job, job = PublishedJob::of(*job).next) {
            const PublishedJob& published = PublishedJob::of(*job);
            WEFT_ASSERT(published.state.load() == PublishedJob::available && published.list == this &&
                        published.prev == before);
        }
        WEFT_ASSERT(before == newest);
    }

private:
    std::uint64_t bit() const { return std::uint64_t{1} << at; }
};

// The published jobs of a place, the runtime or an arena, and the streams that search for them.
template <class Job, class Orders = PublishedJobOrders>
struct BasicJobs {
    using PublishedJob = BasicPublishedJob<Job, Orders>;
    using List = BasicJobList<Job, Orders>;

    static constexpr unsigned most_lists = 64;   // the bits of `filled`

    atomic<std::uint64_t> filled{0};      // a bit for each list that is not empty; changed under the list's lock
    atomic<std::uint32_t> searching{0};   // streams that are awake and search for something to run
    // streams that may take what is published: those in the runtime's table, or as many as the
    // arena may have harts
    atomic<std::size_t> streams{0};
    // Since the last publication, a stream that searches has requested a steal of every other: the
    // other streams that search need not. A hint: one that goes to sleep requests in any case.
    atomic<bool> all_requested{false};
    List* const lists;
    const unsigned list_count;                      // a power of two
    IdleList idle_list;                             // of the streams that sleep
    void (*work_came)(BasicJobs& here) = nullptr;   // an arena's: instead of the idle list

    // `its`: lists that are made later, by a derived struct.
    BasicJobs(List* its, unsigned count) : lists(its), list_count(count) {}
    BasicJobs(const BasicJobs&) = delete;
    BasicJobs& operator=(const BasicJobs&) = delete;

    // Whether there is something to be taken; in the order of the idle list's count.
    bool any() const { return filled.load(Orders::filled) != 0; }

    // The number of the last list that is not empty, and one more; at least 1. relaxed: a hint.
    unsigned last_filled() const {
        return static_cast<unsigned>(std::bit_width(filled.load(std::memory_order_relaxed) | 1));
    }

    // Publishes jobs that have left the list `Own` of the stream with this number, and belong to
    // `owner`; wakes a stream that has gone to sleep without them.
    template <class Own>
    void publish(std::size_t stream, typename Own::Part part, Unit& owner, std::uint8_t stack_class) {
        List& list = lists[stream & (list_count - 1)];
        Job* first = part.newest;
        Job* newer = nullptr;
        while (true) {
            Job* const older = Own::older(*first);   // where the published job begins
            auto* made = new (first->kept) PublishedJob(list, owner, stack_class);
            made->next = newer;
            made->prev = older;
            if (older == nullptr) break;
            newer = std::exchange(first, older);
        }
        // relaxed: after the stream has taken the request; see the declaration
        if (all_requested.load(std::memory_order_relaxed)) all_requested.store(false, std::memory_order_relaxed);
        list.append(*first, *part.newest);
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

    // Calls look(list), under the list's lock, for lists that are not empty, in an order that
    // begins at `from`, until it returns something. `insists`: waits for the locks; otherwise a
    // list that another stream holds is left out, since that one takes something or leaves it for
    // the next look.
    template <class Look>
    auto look_at_lists(unsigned from, bool insists, Look look) -> decltype(look(*lists)) {
        const std::uint64_t seen = std::rotr(filled.load(Orders::filled), static_cast<int>(from));
        for (std::uint64_t left = seen; left != 0; left &= left - 1) {
            List& list = lists[(static_cast<unsigned>(std::countr_zero(left)) + from) % most_lists];
            std::unique_lock guard(list.lock, std::defer_lock);
            if (insists) guard.lock();
            else if (!guard.try_lock()) continue;
            if (auto found = look(list)) return found;
        }
        return nullptr;
    }

    // All lists, as of one lock: no stream takes a job meanwhile.
    void lock() {
        for (unsigned i = 0; i < list_count; ++i) lists[i].lock.lock();
    }
    void unlock() {
        for (unsigned i = list_count; i-- > 0;) lists[i].lock.unlock();
    }

    // While no thread runs: the lists are sound, and no stream searches.
    void check_whole() const {
        for (unsigned i = 0; i < list_count; ++i) lists[i].check_whole();
        WEFT_ASSERT(searching.load() == 0);
        idle_list.check_whole();
    }
};

// A place with lists of its own.
template <class Job, unsigned count, class Orders = PublishedJobOrders>
struct BasicJobsIn : BasicJobs<Job, Orders> {
    static_assert(count <= BasicJobs<Job, Orders>::most_lists && (count & (count - 1)) == 0);

    BasicJobsIn() : BasicJobs<Job, Orders>(own_, count) {
        for (unsigned i = 0; i < count; ++i) {
            own_[i].of = this;
            own_[i].at = i;
        }
    }

private:
    BasicJobList<Job, Orders> own_[count];
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
