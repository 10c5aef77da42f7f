// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream's own jobs: a list that only its owner reads and writes, except for the word that closes
// it, through which other streams request what lies in it. core/README.md, "Jobs", has the rules.
// The model (test/model/jobs_model.cpp) has a Face of its own, whose words the search sees.
#pragma once

#include <cstddef>
#include <utility>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft {

// The orders of OwnJobs; a model test passes weaker ones, which must fail.
struct OwnJobsOrders {
    // seq_cst: a thief is on the idle list before it checks whether others have requested. If it
    // reads that they have, the owner's next exchange of `steal_requested` comes after that check,
    // and so does the owner's look at the idle list; an older `true` would leave the thief asleep
    // with no request made.
    static constexpr std::memory_order look = std::memory_order_seq_cst;
};

// `face` is what programs see: the newest job, and whether a fork calls offer(). Each job leads to
// the next older one, by a word that is the published job's once it is published. The jobs lie in
// the frames of their forks, so a fork and its join access the processor's stack and one word.
template <class Job, class Face, class Orders = OwnJobsOrders>
struct BasicOwnJobs {
    // The jobs that leave the list, by their newest.
    struct Part {
        Job* newest;
        std::size_t count;
    };

    Face face{nullptr, true};
    atomic<bool> steal_requested{false};   // another stream wants what lies here

    BasicOwnJobs() = default;
    BasicOwnJobs(const BasicOwnJobs&) = delete;
    BasicOwnJobs& operator=(const BasicOwnJobs&) = delete;
    bool empty() const { return face.newest == nullptr; }
    // The next older one; null: it is the oldest that no other stream sees.
    static Job* older(const Job& job) { return job.older; }

    // A fork, as include/weft/embed/job.h has it. False: the list is closed.
    bool push(Job& job) {
        // relaxed: others may close it at any time
        if (atomic_ref(face.closed).load(std::memory_order_relaxed)) return false;
        put(job);
        return true;
    }
    // A join. False: the job is not the newest here.
    bool pop(Job& job) {
        if (face.newest != &job) return false;
        face.newest = older(job);
        return true;
    }

    // The fork of a job where the list is closed. Returns whether a steal is requested.
    bool push_and_open(Job& job) {
        check();
        put(job);
        open();
        return take_steal_request();
    }
    // seq_cst, like the stores of `closed`: open() comes before it, and request_steal() stores in
    // the other order, so they cannot both miss each other (core/README.md).
    bool take_steal_request() { return steal_requested.exchange(false, std::memory_order_seq_cst); }

    // All jobs, or the older half, rounded up; they leave the list, and are to become visible to
    // others. There must be a job.
    Part take_all() {
        check();
        const Part all{face.newest, length()};
        face.newest = nullptr;
        return all;
    }
    Part take_older_half() {
        check();
        const std::size_t all = length(), kept = all / 2;
        if (kept == 0) return take_all();
        Job* last_kept = face.newest;
        for (std::size_t i = 1; i < kept; ++i) last_kept = older(*last_kept);
        const Part part{last_kept->older, all - kept};
        last_kept->older = nullptr;
        return part;
    }

    // `closed` races with request_steal(): seq_cst here and there, against `steal_requested`
    // (core/README.md).
    void open() { atomic_ref(face.closed).store(false, std::memory_order_seq_cst); }
    void close() { atomic_ref(face.closed).store(true, std::memory_order_seq_cst); }
    // Makes the next fork publish something. From any thread, while the stream is in the runtime's
    // table.
    void request_steal() {
        if (steal_requested.load(Orders::look)) return;
        steal_requested.store(true, std::memory_order_seq_cst);
        close();
    }

    // In the child of a fork: takes over what lies in the list of a stream that no longer exists.
    void take_over(BasicOwnJobs& from) { std::swap(face, from.face); }

    // On the owner's slow paths, and while no thread runs: no job was forked again before its join.
    void check() const { WEFT_ASSERT(empty() || older(*face.newest) != face.newest); }

private:
    std::size_t length() const {
        std::size_t count = 0;
        for (const Job* job = face.newest; job != nullptr; job = older(*job)) ++count;
        return count;
    }
    void put(Job& job) {
        job.older = face.newest;
        face.newest = &job;
    }
};

}   // namespace weft
