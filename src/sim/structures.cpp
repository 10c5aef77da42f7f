// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sim/structures.hpp"

#include "base/handles.hpp"
#include "local/locals.hpp"
#include "observe/observe.hpp"
#include "process/check.hpp"
#include "process/domain_state.hpp"
#include "process/guest_state.hpp"
#include "runtime/blocking.hpp"
#include "share/carriers.hpp"
#include "share/lending.hpp"
#include "share/rescue.hpp"
#include "share/shortage.hpp"
#include "sync/objects.hpp"

namespace weft::sim {
namespace {

// The object that a unit waits for lives as long as the wait; except a condition, from which the
// unit may have moved on to the mutex.
void check_object(const Unit& unit) {
    void* const object = const_cast<void*>(unit.waits_object);
    switch (unit.waits) {
    case Waits::mutex: {
        const auto mutex = sync::at<sync::Mutex>(object);
        mutex.check_whole();
        if (auto* const owes = mutex.body().signalled; owes != nullptr && mutex.is_held())
            sync::Condition(*owes->word, *owes).check_whole();
        return;
    }
    case Waits::event: return sync::at<sync::Event>(object).check_whole();
    case Waits::semaphore: return sync::at<sync::Semaphore>(object).check_whole();
    case Waits::latch: return sync::at<sync::Latch>(object).check_whole();
    case Waits::barrier: return sync::at<sync::Barrier>(object).check_whole();
    case Waits::rwlock: return sync::at<sync::RwLock>(object).check_whole();
    case Waits::channel:
        return handles::to_object<sync::Channel>(handles::Thing::channel, object, "a rest of the simulator")
            ->check_whole();
    default: return;
    }
}

void check_unit(void* raw, void*) {
    const auto& unit = *static_cast<const Unit*>(raw);
    if (unit.life.is(State::free)) return;
    unit.check_whole();
    if (const Extras* const extras = extras_of(unit)) extras->check_whole();
    if (unit.life.is(State::waiting)) check_object(unit);
}

// Searches from a child upwards.
bool is_below(const Domain* domain, const Domain& above) {
    while (domain != nullptr && domain != &above) domain = domain->parent;
    return domain != nullptr;
}

void check_domain(const Process& of, const Domain& domain) {
    std::size_t inside = 0;
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        if (of.streams[rank] != nullptr && is_below(of.streams[rank]->serving.domain, domain)) ++inside;
    }
    domain.check_whole(inside);
    for (const Domain* child = domain.children; child != nullptr; child = child->sibling) check_domain(of, *child);
}

void check_carriers(const Process& of, const Carriers& by) {
    std::size_t staying = 0, leaving = 0;
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        const Stream* const stream = of.streams[rank];
        if (stream == nullptr || by.remote_calls == nullptr || stream->levels.main->pools[0] != by.remote_calls ||
            stream->ending.join_state.done())
            continue;
        ++(stream->ending.freeing.load() ? leaving : staying);
    }
    by.check_whole(staying, leaving);
}

}   // namespace

void check_structures(Process& of) {
    check_whole(of);
    each_descriptor(of, check_unit, nullptr);
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        const Stream* const stream = of.streams[rank];
        if (stream == nullptr) continue;
        WEFT_ASSERT(stream->telling.ring == nullptr || of.observers.trace != nullptr);
        const ObserverList* const told = stream->telling.whom.load();
        WEFT_ASSERT(told == nullptr || told->count != 0);
        if (stream->role.guest != nullptr) {
            WEFT_ASSERT(stream->role.guest->stream == stream);
            stream->role.guest->check_whole();
        }
    }
    of.base.each([&of](const hart::Root& root) {
        if (&root != &of.streams_root && !root.guest) check_domain(of, hart::RootOf<Domain>::of(root));
    });
    of.observers.check_whole();
    of.lending.check_whole();
    of.rescue.check();
    of.shortage.check_whole();
    of.blocking_pool.check_whole();
    for (const Carriers* by : {&of.carriers, &of.guest_threads, &of.rescue.carriers}) check_carriers(of, *by);
    if (check_keys != nullptr) check_keys();
}

}   // namespace weft::sim
