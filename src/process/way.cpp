// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/way.hpp"

#include <mutex>

#include "process/check.hpp"
#include "process/process.hpp"
#include "process/registry.hpp"

namespace weft {
void take_way(Stream& stream, const Way& way) {
    stream.sched = way.sched;
    stream.direct = way.direct;
    stream.common = way.common;
    stream.standard = way.standard;
    settle_homes(stream);
    settle_way(stream);
}

bool has_pool(const Sched& sched, const Pool& pool) {
    for (std::size_t i = 0; i < sched.count; ++i) {
        if (sched.pools[i] == &pool) return true;
    }
    return false;
}

void settle_way(Stream& stream) {
    stream.through_scheduler = stream.levels.depth != 0 || !stream.sched->stateless();
    stream.restartable = stream.levels.depth == 0 && stream.sched->stateless();
    check(stream);
}

bool draws_from(const Stream& stream, const Pool& pool) { return has_pool(*stream.sched, pool) || &pool == stream.own; }

Unit* pick(Stream& stream) {
    if (stream.own == nullptr) [[likely]]
        return sched::pick(*stream.sched);
    // The primary unit waits in a pool of its own; it and the others take turns.
    stream.loop.own_had_a_turn = !stream.loop.own_had_a_turn;
    if (stream.loop.own_had_a_turn) {
        if (Unit* unit = stream.own->pop()) return unit;
    }
    if (Unit* unit = sched::pick(*stream.sched)) return unit;
    return stream.own->pop();
}

PrivatePool* bound_pool(Stream& stream) {
    if (PrivatePool* pool = stream.bound.load()) return pool;
    Process& of = *stream.of;
    {
        std::lock_guard guard(of.replacing);
        if (PrivatePool* pool = stream.bound.load()) return pool;
        Pool* main = stream.levels.main->pools[0];
        Pool* pool = main->kind == WEFT_POOL_PRIVATE ? main : make_owned_pool(of, WEFT_POOL_PRIVATE);
        if (pool == nullptr) return nullptr;
        stream.bound.store(static_cast<PrivatePool*>(pool));
        if (pool == main) return static_cast<PrivatePool*>(pool);
    }
    ask(stream, attention::adopt);
    return stream.bound.load();
}

void adopt_bound_pool(Stream& stream) {
    unask(stream, attention::adopt);
    PrivatePool* pool = stream.bound.load();
    if (stream.own == pool || has_pool(*stream.levels.main, *pool)) return;
    pool::attach(*pool, &stream, true);
    stream.own = pool;
    stream.sleep.own_place.belong_to(stream.sleep.sleeper);
    settle_way(stream);
}

}   // namespace weft
