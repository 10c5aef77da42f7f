// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream's own jobs: a ring that only its owner reads and writes, except for the limit, through
// which other streams request what lies in it. core/README.md, "Jobs", has the rules. The model
// (test/model/jobs_model.cpp) has a Face of its own, whose words the search sees.
#pragma once

#include <cstddef>
#include <utility>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft {

// The orders of JobRing; a model test passes weaker ones, which must fail.
struct JobRingOrders {
    // seq_cst: a thief is on the idle list before it checks whether others have requested. If it
    // reads that they have, the owner's next exchange of `steal_requested` comes after that check,
    // and so does the owner's look at the idle list; an older `true` would leave the thief asleep
    // with no request made.
    static constexpr std::memory_order look = std::memory_order_seq_cst;
};

// `face` is what programs see: where the next job goes, and the limit at or beyond which a fork
// calls offer().
template <class Job, class Face, class Orders = JobRingOrders>
struct BasicJobRing {
    static constexpr std::size_t capacity = 512;

    Face face{nothing + 1, nullptr};
    // null until the first fork. slots[0] is always null: at the join, no job is there
    Job** slots = nullptr;
    Job** first = nothing + 1;             // the oldest that no other stream sees; face.bottom: there is none
    atomic<bool> steal_requested{false};   // another stream wants what lies here

    BasicJobRing() = default;
    BasicJobRing(const BasicJobRing&) = delete;
    BasicJobRing& operator=(const BasicJobRing&) = delete;
    bool empty() const { return first == face.bottom; }
    Job** begin() const { return slots + 1; }
    Job** end() const { return slots + 1 + capacity; }
    std::size_t length() const { return static_cast<std::size_t>(face.bottom - first); }

    // A fork, as include/weft/parallel.hpp has it. False: there is no room below the limit.
    bool push(Job& job) {
        Job** const bottom = face.bottom;
        // relaxed: the room may be taken away at any time
        if (bottom >= atomic_ref(face.limit).load(std::memory_order_relaxed)) return false;
        put(bottom, job);
        return true;
    }
    // A join. False: the job is not the newest here.
    bool pop(Job& job) {
        Job** const newest = face.bottom - 1;
        if (*newest != &job) return false;
        face.bottom = newest;
        return true;
    }

    // The fork of a job where the limit says that there is no room, and there is room. Returns
    // whether a steal is requested.
    bool push_and_open(Job& job) {
        check();
        put(face.bottom, job);
        open();
        return take_steal_request();
    }
    // seq_cst, like the limit's stores: open() comes before it, and request_steal() stores in the
    // other order, so they cannot both miss each other (core/README.md).
    bool take_steal_request() { return steal_requested.exchange(false, std::memory_order_seq_cst); }

    // The oldest `count` jobs become visible to others: they leave the ring.
    void give_up(std::size_t count) {
        check();
        WEFT_ASSERT(count <= length());
        first += count;
        first[-1] = nullptr;   // its join must not find it there
    }

    // The limit races with request_steal(): seq_cst here and there, against `steal_requested`
    // (core/README.md).
    void open() { atomic_ref(face.limit).store(end(), std::memory_order_seq_cst); }
    void close() { atomic_ref(face.limit).store(nullptr, std::memory_order_seq_cst); }
    // Makes the next fork publish something. From any thread, while the stream is in the runtime's
    // table.
    void request_steal() {
        if (steal_requested.load(Orders::look)) return;
        steal_requested.store(true, std::memory_order_seq_cst);
        close();
    }

    // In the child of a fork: takes over what lies in the ring of a stream that no longer exists.
    void take_over(BasicJobRing& from) {
        std::swap(face, from.face);
        std::swap(slots, from.slots);
        std::swap(first, from.first);
    }

    // On the owner's slow paths, and while no thread runs: the jobs lie in the ring, and before the
    // oldest lies none that a join could mistake for its own.
    void check() const {
        WEFT_ASSERT(first <= face.bottom);
        WEFT_ASSERT(slots != nullptr ? begin() <= first && face.bottom <= end() && slots[0] == nullptr
                                     : empty() && first == nothing + 1);
        WEFT_ASSERT(first[-1] == nullptr);
        WEFT_ASSERT(is_open_or_closed());
    }

    // Where the ring begins before it is allocated: shared by all, and never written.
    static constinit inline Job* nothing[1] = {nullptr};

private:
    // With a single load, since others close it at any time. relaxed: a momentary value will do.
    bool is_open_or_closed() const {
        Job** const limit = atomic_ref(const_cast<Face&>(face).limit).load(std::memory_order_relaxed);
        return limit == nullptr || (slots != nullptr && limit == end());
    }
    void put(Job** bottom, Job& job) {
        *bottom = &job;
        face.bottom = bottom + 1;
    }
};

}   // namespace weft
