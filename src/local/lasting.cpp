// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "local/lasting.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "local/extras.hpp"
#include "os/memory.hpp"
#include "os/thread.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

// Under the lock of the unit's extras. Null: no memory.
Extras* next_of(Extras& extras, Stream* stream) {
    // relaxed: written under the lock
    if (Extras* const had = extras.more.load(std::memory_order_relaxed)) return had;
    Extras* const made = take_extras(stream);
    if (made != nullptr) extras.more.store(made, std::memory_order_release);   // release: pairs with lasting_of()
    return made;
}

// Values of a key that is about to be freed. They are taken out while no slab comes or goes, and
// released when that is over: the functions called then may make and free units.
struct Taking {
    static constexpr std::size_t few = 64;

    std::uint64_t mark;
    void** values;
    std::size_t room;
    std::size_t count = 0;
    bool more = false;   // there was no room for some, or they are being released with their units

    void look_at(Slot& slot) {
        if (!slot.has(mark)) return;
        void* const value = count == room ? nullptr : slot.take();
        if (value == nullptr) {
            more = true;
            return;
        }
        slot.done();
        values[count++] = value;
    }

    static void visit(void* object, void* taking) {
        for (Slot& slot : static_cast<Extras*>(object)->slots) static_cast<Taking*>(taking)->look_at(slot);
    }
};

// The extras that the process has inherited over a fork lie in slabs of its parent.
void each_extras(Process& of, void (*visit)(void* extras, void* argument), void* argument) {
    of.extras.each(visit, argument);
    if (of.inherited == nullptr) return;
    // acquire: pairs with set_lasting(), as in lasting_of().
    for (Extras* extras = extras_of(*of.inherited); extras != nullptr;
         extras = extras->more.load(std::memory_order_acquire))
        visit(extras, argument);
}

std::size_t count_values(Process& of, std::uint64_t mark) {
    struct Count {
        std::uint64_t mark;
        std::size_t found;
    } count{mark, 0};
    each_extras(
        of,
        [](void* object, void* raw) {
            auto& to = *static_cast<Count*>(raw);
            for (const Slot& slot : static_cast<Extras*>(object)->slots) to.found += slot.has(to.mark) ? 1 : 0;
        },
        &count);
    return count.found;
}

}   // namespace

Lasting set_lasting(Unit& unit, const Key& key, void* value, Stream* stream) {
    Extras* extras = extras_of(unit);
    if (extras == nullptr) {
        extras = take_extras(stream);
        if (extras == nullptr) return Lasting::no_memory;
        const bool here = key.place < Extras::slots_here;
        if (here) extras->slots[key.place].put(key.mark, value);   // in them from the beginning
        Extras* const made = std::exchange(extras, publish_extras(unit, extras));
        if (extras == made && here) return Lasting::set;
        if (extras != made) {
            if (here) made->slots[key.place].clear();
            give_extras(stream, made);
        }
    }
    std::lock_guard guard(extras->lock);
    std::uint32_t place = key.place;
    for (; place >= Extras::slots_here; place -= Extras::slots_here) {
        extras = next_of(*extras, stream);
        if (extras == nullptr) return Lasting::no_memory;
    }
    Slot& slot = extras->slots[place];
    if (slot.has(key.mark)) return Lasting::has_one;
    slot.put(key.mark, value);
    return Lasting::set;
}

void release_lasting(const Key& key) {
    Process* const of = process_or_null();
    if (of == nullptr) return;
    void* few[Taking::few];
    std::size_t room = std::max(count_values(*of, key.mark), Taking::few);
    auto* const many = room == Taking::few ? nullptr : static_cast<void**>(os::allocate(room * sizeof(void*)));
    if (many == nullptr) room = Taking::few;                                      // then it takes several rounds
    void (*const release)(void*) = key.release.load(std::memory_order_relaxed);   // relaxed: as in release_slots()
    Taking taking{key.mark, many == nullptr ? few : many, room};
    do {
        taking.count = 0;
        taking.more = false;
        each_extras(*of, Taking::visit, &taking);
        for (std::size_t i = 0; i < taking.count; ++i) {
            if (release != nullptr) release(taking.values[i]);
        }
        // until threads that free units have released the values that they have taken
        if (taking.more && taking.count == 0) os::thread_yield();
    } while (taking.more);
    os::release(many);
}

}   // namespace weft
