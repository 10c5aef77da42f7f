// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/spawn.hpp"

#include <cstddef>
#include <cstring>

#include "core/call.hpp"
#include "core/plan.hpp"
#include "core/suspend.hpp"
#include "observe/observe.hpp"
#include "process/error.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

// The descriptor enters its pool; its handle goes to the caller, or the unit is detached.
void launch(Stream* stream, Unit& unit, bool child_first, weft_unit** handle) {
    if (handle != nullptr) {
        *handle = to_handle(&unit);
    } else {
        unit.join_state.detach_local();   // no other thread knows the unit yet
    }
    if (child_first) return launch_child_first<pool::From::parent>(unit);
    make_ready(stream, unit, pool::From::spawned);
}

// Every case but the plain one, without releasing the options' data where no unit results to have
// them.
template <bool tasklet>
weft_status spawn_as_planned(Pool* pool, void (*body)(void*), void* argument, const weft_unit_options* options,
                             Plan& chosen, weft_unit** handle, const void* site) noexcept {
    if (weft_status status = plan(options, tasklet, chosen); status != WEFT_OK) return status;
    if (body == nullptr) return is_null("body");
    Stream* stream = current_or_null();
    if (chosen.placed) {
        if (weft_status status = place(chosen, stream, &pool); status != WEFT_OK) return status;
    }
    if (pool == nullptr) pool = &standard_pool(stream);
    if (weft_status status = fits(chosen, *pool); status != WEFT_OK) return status;
    decide(chosen, *pool, site, body);
    Unit* unit = make_unit(stream, *pool, body, argument, initial_header_in(*pool, chosen.kind), site);
    if (unit == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a unit");
    if (weft_status status = furnish(stream, *unit, chosen); status != WEFT_OK) return status;
    chosen.data = nullptr;   // the unit's from here on
    if (!pool::enters(*unit)) return turn_away(stream, *unit);
    if (chosen.learner != nullptr && stream != nullptr && stream->spawning.sampling.takes_next(*chosen.learner))
        make_sample(*unit, *chosen.learner);
    if (unit->marked(Unit::observed)) [[unlikely]]
        observe(trace::Event::create, *unit);
    launch(stream, *unit, chosen.child_first, handle);
    return WEFT_OK;
}

// For kind auto, on a stream, without options, into a pool that other streams draw from.
[[gnu::noinline]] weft_status spawn_by_site(Pool& pool, void (*body)(void*), void* argument, weft_unit** handle,
                                            const void* address) noexcept {
    Stream* const caller = current_or_null();
    if (caller == nullptr) __builtin_unreachable();   // make_unit() need not check
    Stream& stream = *caller;
    LatestSites::Entry& latest = stream.spawning.latest_sites.at(address);
    if (latest.address != address || latest.body != body) [[unlikely]]
        look_up_site(latest, address, body);
    const Site& site = *latest.site;
    latest.initial_header = Unit::initial_header(site.kind(), false);
    Unit* const unit = make_unit(&stream, pool, body, argument, initial_headers.of(site.kind(), false), address);
    if (unit == nullptr) [[unlikely]]
        return fail(WEFT_NO_MEMORY, "no memory for a unit");
    if (!pool::enters(*unit)) [[unlikely]]
        return turn_away(&stream, *unit);
    if (stream.spawning.sampling.takes_next(site)) [[unlikely]]
        make_sample(*unit, site);
    if (unit->marked(Unit::observed)) [[unlikely]]
        observe(trace::Event::create, *unit);
    *handle = to_handle(unit);
    pool::push(pool, unit, pool::From::spawned);
    return WEFT_OK;
}

// A ULT of the default kind, into the stream's common pool; the stream is not observed. A ULT of
// kind auto goes this way if it comes from one of the latest places and is no sample: what was
// found out for the previous one holds for it. Calls a function only as its last step, so that no
// register is saved.
[[gnu::always_inline]] inline weft_status spawn_into_common(Stream& stream, Pool& pool, void (*body)(void*),
                                                            void* argument, weft_unit** handle, const void* site) {
    const Unit::InitialHeader* initial_header = &stream.spawning.common_header;
    if (stream.spawning.default_kind == Kind::automatic) {
        const LatestSites::Entry& latest = stream.spawning.latest_sites.at(site);
        if (latest.address != site || latest.body != body || !stream.spawning.sampling.passes_over_next())
            return spawn_by_site(pool, body, argument, handle, site);
        initial_header = &latest.initial_header;
    }
    auto* const unit = static_cast<Unit*>(stream.units->try_take());
    if (unit == nullptr) [[unlikely]]
        return spawn_slow<false>(&pool, body, argument, nullptr, handle, site);
    unit->id = stream.take_id();
    describe(*unit, body, argument, site);
    unit->pool = &pool;
    unit->begin_life(*initial_header);
    *handle = to_handle(unit);
    if (pool.kind == WEFT_POOL_SHARED) {
        pool::push_shared(static_cast<SharedPool&>(pool), unit);
    } else {
        pool::push_own(static_cast<DequePool&>(pool), unit);
    }
    return WEFT_OK;
}

// On a stream, without options, into any pool; no caller gets its handle. Unnamed units have
// functions of their own, so that the ones above need not check for them.
template <bool tasklet>
[[gnu::noinline]] weft_status spawn_unnamed(Stream& stream, Pool* pool, void (*body)(void*), void* argument,
                                            const void* site) noexcept {
    if (pool == nullptr) pool = stream.standard;
    const weft_pool_kind where = pool->kind;   // read once, since stores to the unit might change it
    const bool own = where == WEFT_POOL_PRIVATE;
    Kind kind = tasklet ? Kind::tasklet : stream.spawning.default_kind;
    const Site* learner = nullptr;
    if (kind == Kind::automatic && own) kind = Kind::lsa;
    if (kind == Kind::automatic) {
        LatestSites::Entry& latest = stream.spawning.latest_sites.at(site);
        if (latest.address != site || latest.body != body) [[unlikely]]
            look_up_site(latest, site, body);
        learner = latest.site;
        kind = learner->kind();
        latest.initial_header = Unit::initial_header(kind, false);
    }
    Unit* const unit = make_unit(&stream, *pool, body, argument, initial_headers.of(kind, own), site);
    if (unit == nullptr) [[unlikely]]
        return fail(WEFT_NO_MEMORY, "no memory for a unit");
    if (kind == Kind::full && !give_default_stack(&stream, *unit)) [[unlikely]] {
        give_back(&stream, *unit);
        return fail(WEFT_NO_MEMORY, "no memory for a stack");
    }
    if (where == WEFT_POOL_USER && !pool::enters(*unit)) [[unlikely]]
        return turn_away(&stream, *unit);
    if (learner != nullptr && stream.spawning.sampling.takes_next(*learner)) [[unlikely]]
        make_sample(*unit, *learner);
    if (unit->marked(Unit::observed)) [[unlikely]]
        observe(trace::Event::create, *unit);
    unit->join_state.announce_first(JoinState::detacher());   // no other thread knows the unit yet
    if (where == WEFT_POOL_SHARED) {
        pool::push_shared(static_cast<SharedPool&>(*pool), unit);
    } else {
        pool::push(*pool, unit, pool::From::spawned);
    }
    return WEFT_OK;
}

// Most tasklets without a handle, into a shared pool. False: nothing has happened, and the caller
// takes the general way. Calls a function only to wake a stream, so that no register is saved.
[[gnu::always_inline]] inline bool spawn_unnamed_at_once(Stream& stream, Pool* pool, void (*body)(void*),
                                                         void* argument, const void* site) {
    const Unit::InitialHeader initial_header = initial_headers.of(Kind::tasklet, false);
    if (pool == nullptr || pool->kind != WEFT_POOL_SHARED || initial_header.marks.has(Unit::observed)) return false;
    auto* const unit = static_cast<Unit*>(stream.units->try_take());
    if (unit == nullptr) return false;
    unit->id = stream.take_id();
    describe(*unit, body, argument, site);
    unit->pool = pool;
    unit->begin_life(initial_header);
    unit->join_state.announce_first(JoinState::detacher());   // no other thread knows the unit yet
    pool::push_shared(static_cast<SharedPool&>(*pool), unit);
    return true;
}

template <bool tasklet>
[[gnu::noinline]] weft_status spawn_with_options(Pool* pool, void (*body)(void*), void* argument,
                                                 const weft_unit_options* options, weft_unit** handle,
                                                 const void* site) noexcept {
    if (process_or_null() == nullptr) return not_initialized();
    Plan chosen;
    const weft_status status = spawn_as_planned<tasklet>(pool, body, argument, options, chosen, handle, site);
    if (status != WEFT_OK && chosen.data != nullptr && chosen.release != nullptr) chosen.release(chosen.data);
    return status;
}

// spawn_elsewhere(), but for what spawn_into_common() does.
template <bool tasklet>
[[gnu::noinline]] weft_status spawn_into(Pool* pool, void (*body)(void*), void* argument, Stream* caller,
                                         weft_unit** handle, const void* site) noexcept {
    if (caller == nullptr) __builtin_unreachable();   // make_unit() need not check
    Stream& stream = *caller;
    Kind kind = tasklet ? Kind::tasklet : stream.spawning.default_kind;
    if (kind == Kind::automatic) {
        if (pool->kind != WEFT_POOL_PRIVATE) return spawn_by_site(*pool, body, argument, handle, site);
        kind = Kind::lsa;
    }
    Unit* unit = make_unit(&stream, *pool, body, argument, initial_header_in(*pool, kind), site);
    if (unit == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a unit");
    if (kind == Kind::full && !give_default_stack(&stream, *unit)) [[unlikely]] {
        give_back(&stream, *unit);
        return fail(WEFT_NO_MEMORY, "no memory for a stack");
    }
    if (!pool::enters(*unit)) [[unlikely]]
        return turn_away(&stream, *unit);
    if (unit->marked(Unit::observed)) [[unlikely]]
        observe(trace::Event::create, *unit);
    *handle = to_handle(unit);
    pool::push(*pool, unit, pool::From::spawned);
    return WEFT_OK;
}

}   // namespace

template <bool tasklet>
weft_status spawn_elsewhere(Pool* pool, void (*body)(void*), void* argument, Stream* stream, weft_unit** handle,
                            const void* site) noexcept {
    if (pool == nullptr) pool = stream->standard;
    if (!tasklet && pool == stream->spawning.common_home) [[likely]]
        return spawn_into_common(*stream, *pool, body, argument, handle, site);
    return spawn_into<tasklet>(pool, body, argument, stream, handle, site);
}
template weft_status spawn_elsewhere<false>(Pool*, void (*)(void*), void*, Stream*, weft_unit**, const void*) noexcept;
template weft_status spawn_elsewhere<true>(Pool*, void (*)(void*), void*, Stream*, weft_unit**, const void*) noexcept;

// Options that ask for nothing but to begin child-first, of a kind that is LSA then. False also
// where a byte between two members is not zero.
[[gnu::always_inline]] inline bool asks_only_for_child_first(const weft_unit_options& given, const Stream& stream) {
    static_assert(offsetof(weft_unit_options, kind) == sizeof given.size && sizeof given % sizeof(std::uint64_t) == 0 &&
                  offsetof(weft_unit_options, child_first) % sizeof(std::uint64_t) == 0);
    if (given.size != sizeof given || !given.child_first) return false;   // the rest need not be there
    if (given.kind != WEFT_KIND_AUTO && given.kind != WEFT_KIND_LSA &&
        !(given.kind == WEFT_KIND_DEFAULT && stream.spawning.default_kind == Kind::automatic))
        return false;
    const auto word_at = [&given](std::size_t offset) {
        std::uint64_t word;
        std::memcpy(&word, reinterpret_cast<const char*>(&given) + offset, sizeof word);
        return word;
    };
    constexpr std::size_t flags = offsetof(weft_unit_options, child_first), step = sizeof(std::uint64_t);
    std::uint64_t others = word_at(flags) ^ 1;   // child_first, and nothing after it
    for (std::size_t at = offsetof(weft_unit_options, stack_bytes); at < flags; at += step) others |= word_at(at);
    for (std::size_t at = flags + step; at < sizeof given; at += step) others |= word_at(at);
    return others == 0;
}

// On a stream that runs a ULT, into a pool of the library's.
[[gnu::noinline]] weft_status spawn_child_first(Stream& stream, Pool& pool, void (*body)(void*), void* argument,
                                                weft_unit** handle, const void* site) noexcept {
    Unit* const unit = make_unit(&stream, pool, body, argument, initial_header_in(pool, Kind::lsa), site);
    if (unit == nullptr) [[unlikely]]
        return fail(WEFT_NO_MEMORY, "no memory for a unit");
    if (unit->marked(Unit::observed)) [[unlikely]]
        observe(trace::Event::create, *unit);
    launch(&stream, *unit, true, handle);
    return WEFT_OK;
}

template <bool tasklet>
[[gnu::noinline]] weft_status spawn_slow(Pool* pool, void (*body)(void*), void* argument,
                                         const weft_unit_options* options, weft_unit** handle,
                                         const void* site) noexcept {
    if (handle == nullptr && options == nullptr && body != nullptr) {
        if (Stream* const stream = current_or_null()) {
            if (tasklet && spawn_unnamed_at_once(*stream, pool, body, argument, site)) return WEFT_OK;
            return spawn_unnamed<tasklet>(*stream, pool, body, argument, site);
        }
    }
    if (!tasklet && options != nullptr && body != nullptr) {
        Stream* const stream = current_or_null();
        if (stream != nullptr && asks_only_for_child_first(*options, *stream)) {
            Pool& home = pool != nullptr ? *pool : *stream->standard;
            const Unit* const self = stream->running;
            if (self != nullptr && self->kind != Kind::tasklet && home.kind != WEFT_POOL_USER)
                return spawn_child_first(*stream, home, body, argument, handle, site);
        }
    }
    return spawn_with_options<tasklet>(pool, body, argument, options, handle, site);
}
template weft_status spawn_slow<false>(Pool*, void (*)(void*), void*, const weft_unit_options*, weft_unit**,
                                       const void*) noexcept;
template weft_status spawn_slow<true>(Pool*, void (*)(void*), void*, const weft_unit_options*, weft_unit**,
                                      const void*) noexcept;

template <pool::From from>
void launch_child_first(Unit& unit) {
    Stream& stream = current();
    const bool called = !is_out_of_place(stream, unit) &&
                        (stream.direct != nullptr ? call_child(stream, unit) : call_child_in_deque(stream, unit));
    if (!called) spawn_away<from>(stream, unit);
}
template void launch_child_first<pool::From::parent>(Unit&);
template void launch_child_first<pool::From::reviving_parent>(Unit&);

void begin_as_unit(Process& of, Stream& stream, Unit& unit, Pool& pool, Unit::Flags flags) {
    unit.id = stream.take_id();
    // It was not spawned, so it does not count as created. relaxed, both: a number.
    stream.spawning.first_id.store(stream.spawning.first_id.load(std::memory_order_relaxed) + 1,
                                   std::memory_order_relaxed);
    describe(unit, nullptr, nullptr, nullptr);
    unit.pool = &pool;
    Unit::InitialHeader initial_header;
    initial_header.kind = Kind::full;
    initial_header.flags = flags;
    unit.begin_life(initial_header);
    unit.stack = &stream.carrier.stack;
    unit.life.move(State::ready, State::running);
    if (of.observing) {
        unit.mark(Unit::observed);
        observe(trace::Event::resume, unit);   // it is in the middle of its life
    }
    stream.running = &unit;
    if (stream.direct != nullptr) stream.inline_pool = stream.direct;
}

}   // namespace weft
