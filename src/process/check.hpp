// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Invariants of a stream; and, while no thread runs, of the lists of the process.
#pragma once

#include "pool/check.hpp"
#include "process/process.hpp"

namespace weft {

// On entry to settle_way(), and while no thread runs: where the stream's units come from.
inline void check(const Stream& stream) {
    WEFT_ASSERT(stream.sched != nullptr);
    // relaxed: only its own carrier writes it
    WEFT_ASSERT(stream.direct == nullptr ||
                (stream.common == nullptr && stream.direct->owner.load(std::memory_order_relaxed) == &stream));
    // relaxed: the stream's own pool
    WEFT_ASSERT(stream.inline_pool == &Stream::no_pool ||
                stream.inline_pool->owner.load(std::memory_order_relaxed) == &stream);
    WEFT_ASSERT((stream.serving.domain == stream.serving.lender) || stream.levels.depth != 0);
}

// While no thread runs.
inline void check_whole(const Stream& stream) {
    check(stream);
    stream.jobs.check();
    stream.sleep.sleeper.check(false);
    stream.turn.parker.check();
    stream.posts.check_whole();
    stream.ending.join_state.check_whole(nullptr);
    stream.heap->timers.check_whole();
    if (stream.running != nullptr)
        WEFT_ASSERT(stream.running->life.is(State::running) || stream.running->kind == Kind::tasklet);
    for (const mem::Stack* stack = stream.spare; stack != nullptr; stack = stack->next)
        WEFT_ASSERT(stack->prepared && !stack->user);
    WEFT_ASSERT(stream.ending.wakers.load() == 0);
    WEFT_ASSERT(!stream.role.rescues || stream.role.hidden);
    WEFT_ASSERT(!stream.holds_hart || stream.role.guest == nullptr);   // a guest's root has the hart, not the streams'
}

inline void check_whole(Process& of) {
    std::size_t programs = 0;
    for (std::size_t rank = 0; rank < Process::most_ranks && rank < of.ranks_used + 2; ++rank) {
        const Stream* const stream = of.streams[rank];
        if (stream == nullptr) continue;
        WEFT_ASSERT(rank < of.ranks_used && stream->rank == rank);
        programs += stream->role.hidden ? 0 : 1;
        check_whole(*stream);
    }
    WEFT_ASSERT(programs == of.stream_count && programs == of.jobs.streams.load());
    for (const Pool* pool = of.pools; pool != nullptr; pool = pool->next) {
        WEFT_ASSERT(!pool->freed);
        pool::check_whole(*pool);
    }
    for (const Pool* pool = of.freed_pools; pool != nullptr; pool = pool->next) {
        WEFT_ASSERT(pool->freed && pool->kind != WEFT_POOL_USER);
        pool::check_whole(*pool);
    }
    for (const Sched* sched = of.scheds; sched != nullptr; sched = sched->next) {
        for (std::size_t i = 0; i < sched->count; ++i) WEFT_ASSERT(sched->pools[i]->drawers.load() != 0);
    }
    std::size_t idle = 0;
    for (const Heap* heap = of.idle_heaps; heap != nullptr && idle <= of.heaps_made; heap = heap->next_idle, ++idle) {
        WEFT_ASSERT(heap->timers.earliest() == Timers::never);   // they have moved to another stream
        heap->timers.check_whole();
    }
    WEFT_ASSERT(idle <= of.heaps_made);
    of.jobs.check_whole();
    of.descriptors.check_whole();
    of.extras.check_whole();
    of.stacks.check_whole();
    of.pollers.check_whole();
    of.reactor.check();
    of.base.check_whole();
}

}   // namespace weft
