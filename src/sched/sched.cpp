#include "sched/sched.hpp"

#include <algorithm>
#include <cstdint>

namespace weft::sched {
namespace {

Unit* pick_in_order(Sched& by) {
    for (std::size_t i = 0; i < by.count; ++i) {
        if (Unit* unit = pool::pop(*by.pools[i])) return unit;
    }
    return nullptr;
}

// What was stolen from a deque belongs to the thief from now on, if he has a deque himself: it becomes ready
// where it last ran, and the victim's lines are left alone.
void adopt(Sched& by, Unit* unit, Pool& from) {
    ++by.stolen;
    Pool& main = *by.pools[0];
    if (from.kind == WEFT_POOL_DEQUE && main.kind == WEFT_POOL_DEQUE && !unit->has(Unit::internal)) unit->set_pool(main);
}

Unit* pick_random_steal(Sched& by) {
    if (Unit* unit = pool::pop(*by.pools[0])) return unit;
    if (by.count == 1) return nullptr;
    const auto others = static_cast<std::uint32_t>(by.count - 1);
    const std::uint32_t first = by.random.below(others);
    for (std::uint32_t i = 0; i < others; ++i) {
        Pool& victim = *by.pools[1 + (first + i) % others];
        if (Unit* unit = pool::pop(victim)) {
            adopt(by, unit, victim);
            return unit;
        }
    }
    return nullptr;
}

}  // namespace

Unit* pick_other(Sched& by) {
    switch (by.kind) {
    case WEFT_SCHED_BASIC: return pick_in_order(by);
    case WEFT_SCHED_RANDOM_STEAL: return pick_random_steal(by);
    case WEFT_SCHED_USER:
        if (by.ops.pick == nullptr) return nullptr;   // stateful: it alone knows what is next
        return to_unit(by.ops.pick(by.self, reinterpret_cast<weft_sched*>(&by)));
    case WEFT_SCHED_DEFAULT: break;
    }
    return nullptr;
}

bool quiet(const Sched& of) {
    return std::all_of(of.pools, of.pools + of.count, [](const Pool* pool) { return pool::quiet(*pool); });
}

Sched* create(weft_sched_kind kind, const weft_sched_ops* ops, void* self, Pool* const* pools, std::size_t count) {
    auto* made = os::make<Sched>(kind);
    if (made == nullptr) return nullptr;
    made->pools = static_cast<Pool**>(os::allocate(count * sizeof(Pool*)));
    made->places = static_cast<Bell::Place*>(os::allocate(count * sizeof(Bell::Place)));
    if (made->pools == nullptr || made->places == nullptr) {
        os::release(made->pools);
        os::release(made->places);
        os::destroy(made);
        return nullptr;
    }
    std::copy_n(pools, count, made->pools);
    for (std::size_t i = 0; i < count; ++i) pools[i]->drawers.fetch_add(1);   // also while no stream runs it
    for (std::size_t i = 0; i < count; ++i) new (&made->places[i]) Bell::Place();
    made->count = count;
    made->self = self;
    if (ops != nullptr) made->ops = *ops;
    made->random = Random(reinterpret_cast<std::uintptr_t>(made));
    return made;
}

void destroy(Sched* sched) {
    if (sched->ops.destroy != nullptr) sched->ops.destroy(sched->self);
    for (std::size_t i = 0; i < sched->count; ++i) sched->pools[i]->drawers.fetch_sub(1);
    os::release(sched->pools);
    os::release(sched->places);
    os::destroy(sched);
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
    return true;
}

void detach(Sched& sched, void* stream) {
    for (std::size_t i = 0; i < sched.count; ++i) pool::detach(*sched.pools[i], stream);
    sched.stream.store(nullptr);
}

}  // namespace weft::sched
