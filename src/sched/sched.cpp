// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sched/sched.hpp"

#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "base/config.hpp"
#include "base/handles.hpp"
#include "os/clock.hpp"

namespace weft::sched {
namespace {

// The pool whose turn it is: the first, or now and then each of the others.
std::size_t beginning(Sched& by, unsigned turn) {
    if (++by.picks % turn != 0) return 0;
    return by.picks / turn % by.count;
}

// The bound that sched.h promises: no pool is passed over by more picks than it takes to give each
// its turn. `first` and the pools before `end` were asked.
void check_turns([[maybe_unused]] Sched& by, [[maybe_unused]] unsigned turn, [[maybe_unused]] std::size_t first,
                 [[maybe_unused]] std::size_t end) {
    if constexpr (config::checked) {
        for (std::size_t i = 0; i < by.count; ++i) {
            by.passed_over[i] = i == first || i < end ? 0 : by.passed_over[i] + 1;
            WEFT_ASSERT(by.passed_over[i] < turn * by.count);   // a pool starves
        }
    }
}

Unit* pick_in_order(Sched& by, unsigned turn) {
    const std::size_t first = beginning(by, turn);
    Unit* unit = first != 0 ? pool::pop_with_unpublished(*by.pools[first]) : nullptr;
    std::size_t next = 0;
    while (unit == nullptr && next < by.count) unit = pool::pop(*by.pools[next++]);
    check_turns(by, turn, first, next);
    return unit;
}

// From now on a unit that was stolen from a deque belongs to the thief's deque, if `adopts` is set:
// it becomes ready where it last ran, and the victim's cache lines are left alone.
void adopt(Sched& by, Unit* unit, Pool& from) {
    ++by.stolen;
    by.stolen_from = &from;
    Pool& main = *by.pools[0];
    if (by.adopts && from.kind == WEFT_POOL_DEQUE && main.kind == WEFT_POOL_DEQUE && !unit->has(Unit::internal))
        unit->set_pool(main);
}

// `pop`: pool::pop_other, or pool::pop_with_unpublished, without which units that a stream keeps to
// itself and does not come to would wait for as long as there is other work.
[[gnu::always_inline]] inline Unit* steal(Sched& by, Unit* (*pop)(Pool&)) {
    if (by.count == 1) return nullptr;
    const auto others = static_cast<std::uint32_t>(by.count - 1);
    const std::uint32_t first = by.random.below(others);
    for (std::uint32_t i = 0; i < others; ++i) {
        Pool& victim = *by.pools[1 + (first + i) % others];
        if (Unit* unit = pop(victim)) {
            adopt(by, unit, victim);
            return unit;
        }
    }
    return nullptr;
}

Unit* pick_random_steal(Sched& by) {
    if (++by.picks % rarely == 0) [[unlikely]] {
        if (Unit* unit = steal(by, pool::pop_with_unpublished)) return unit;
    }
    if (Unit* unit = pool::pop(*by.pools[0])) return unit;
    return steal(by, pool::pop_other);
}

}   // namespace

Unit* pick_other(Sched& by) {
    switch (by.kind) {
    case WEFT_SCHED_BASIC:
    case WEFT_SCHED_BASIC_WAIT: return pick_in_order(by, often);
    case WEFT_SCHED_PRIORITY: return pick_in_order(by, rarely);
    case WEFT_SCHED_RANDOM_STEAL: return pick_random_steal(by);
    case WEFT_SCHED_USER:
        if (by.ops.pick == nullptr) return nullptr;   // stateful: only the scheduler knows what is next
        return to_unit(by.ops.pick(by.self, handles::to_handle<weft_sched>(handles::Thing::scheduler, &by)),
                       "the pick of a scheduler");
    case WEFT_SCHED_DEFAULT: break;
    }
    return nullptr;
}

bool listen(Sched& of) {
    bool barrier = false;
    for (std::size_t i = 0; i < of.count; ++i) barrier |= pool::listen(*of.pools[i], of.places[i]);
    return barrier;
}

void stop_listening(Sched& of) {
    for (std::size_t i = 0; i < of.count; ++i) pool::stop_listening(*of.pools[i], of.places[i]);
}

bool request_steals(Sched& of, void* stream, bool& watches) {
    bool barrier = false;
    for (std::size_t i = 0; i < of.count; ++i) {
        watches |= pool::watch(*of.pools[i], stream);
        barrier |= pool::request_steal(*of.pools[i], stream);
    }
    return barrier;
}

std::uint64_t keep_watching(Sched& of, void* stream, bool& watches) {
    std::uint64_t until_ns = os::forever;
    for (std::size_t i = 0; i < of.count; ++i) until_ns = std::min(until_ns, pool::keep_watching(*of.pools[i], stream));
    watches |= until_ns != os::forever;
    return until_ns;
}

void stop_watching(Sched& of, void* stream) {
    for (std::size_t i = 0; i < of.count; ++i) pool::stop_watching(*of.pools[i], stream);
}

bool quiet_after_all(Sched& of) {
    bool quiet = true;
    for (std::size_t i = 0; i < of.count; ++i) quiet &= pool::quiet_after_all(*of.pools[i]);
    return quiet;
}

bool quiet(const Sched& of) {
    return std::all_of(of.pools, of.pools + of.count, [](const Pool* pool) { return pool::quiet(*pool); });
}

Sched* create_uncounted(weft_sched_kind kind, const weft_sched_ops* ops, void* self, Pool* const* pools,
                        std::size_t count) {
    auto* made = os::make<Sched>(kind);
    if (made == nullptr) return nullptr;
    made->pools = static_cast<Pool**>(os::allocate(count * sizeof(Pool*)));
    made->places = static_cast<IdleList::Entry*>(os::allocate(count * sizeof(IdleList::Entry)));
    if constexpr (config::checked) made->passed_over = static_cast<unsigned*>(os::allocate(count * sizeof(unsigned)));
    if (made->pools == nullptr || made->places == nullptr || (config::checked && made->passed_over == nullptr)) {
        os::release(made->passed_over);
        os::release(made->pools);
        os::release(made->places);
        os::destroy(made);
        return nullptr;
    }
    std::copy_n(pools, count, made->pools);
    if constexpr (config::checked) std::fill_n(made->passed_over, count, 0u);
    for (std::size_t i = 0; i < count; ++i) new (&made->places[i]) IdleList::Entry();
    made->count = count;
    made->calls_program = kind == WEFT_SCHED_USER || std::any_of(pools, pools + count, [](const Pool* pool) {
                              return pool->kind == WEFT_POOL_USER;
                          });
    made->self = self;
    if (ops != nullptr) made->ops = *ops;
    made->random = Random(reinterpret_cast<std::uintptr_t>(made));
    return made;
}

Sched* create(weft_sched_kind kind, const weft_sched_ops* ops, void* self, Pool* const* pools, std::size_t count) {
    Sched* made = create_uncounted(kind, ops, self, pools, count);
    if (made == nullptr) return nullptr;
    for (std::size_t i = 0; i < count; ++i) pools[i]->drawers.fetch_add(1);   // also while no stream runs it
    return made;
}

void destroy(Sched* sched) {
    for (std::size_t i = 0; i < sched->count; ++i) sched->pools[i]->drawers.fetch_sub(1);
    destroy_uncounted(sched);
}

void destroy_uncounted(Sched* sched) {
    handles::freed(sched);
    if (sched->ops.destroy != nullptr) sched->ops.destroy(sched->self);
    os::release(sched->passed_over);
    os::release(sched->pools);
    os::release(sched->places);
    os::destroy(sched);
}

void count_stateful(Sched& sched, const void* owner, int change) {
    if (sched.stateless() && owner != &sched) return;
    for (std::size_t i = 0; i < sched.count; ++i) sched.pools[i]->stateful.fetch_add(static_cast<unsigned>(change));
}

bool attach(Sched& sched, void* stream) {
    void* none = nullptr;
    if (!sched.stream.compare_exchange_strong(none, stream)) return false;
    for (std::size_t i = 0; i < sched.count; ++i) {
        if (pool::attach(*sched.pools[i], stream, i == 0)) continue;
        while (i-- > 0) pool::detach(*sched.pools[i], stream);
        sched.stream.store(nullptr);
        return false;
    }
    count_stateful(sched, stream, 1);
    return true;
}

void hand_over(Sched& sched, void* to) {
    for (std::size_t i = 0; i < sched.count; ++i) pool::hand_over(*sched.pools[i], to, i == 0);
}

void detach(Sched& sched, void* stream) {
    count_stateful(sched, stream, -1);
    for (std::size_t i = 0; i < sched.count; ++i) pool::detach(*sched.pools[i], stream);
    sched.stream.store(nullptr);
}

}   // namespace weft::sched
