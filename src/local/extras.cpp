// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "local/extras.hpp"

#include <mutex>
#include <utility>

#include "local/lasting.hpp"
#include "os/memory.hpp"
#include "os/spin.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

// relaxed: the thread that frees the unit knows what it has.
Extras* more_of(const Extras& extras) { return extras.more.load(std::memory_order_relaxed); }

// No thread reads them any more.
[[gnu::always_inline]] inline void release_first(Extras& extras) {
    if (void* const given = extras.data.load(std::memory_order_relaxed); given != nullptr && extras.release != nullptr)
        extras.release(given);
    release_slots(extras);
    if (extras.locals != extras.first_locals) os::release(extras.locals);
}

[[gnu::noinline]] void release_more(const Extras& extras) {
    for (Extras* at = more_of(extras); at != nullptr; at = more_of(*at)) release_slots(*at);
}

[[gnu::noinline]] void drop_more(Extras& extras, Stream* stream) {
    release_more(extras);
    while (Extras* const more = more_of(extras)) {
        extras.more.store(more_of(*more), std::memory_order_relaxed);   // relaxed, both: only this thread uses them
        more->more.store(nullptr, std::memory_order_relaxed);
        give_extras(stream, more);
    }
}

// For a unit that has some. relaxed, and by plain stores: no other thread knows the unit.
[[gnu::always_inline]] inline Extras* take_from(Unit& unit) {
    auto* const had = static_cast<Extras*>(extras_word(unit).load(std::memory_order_relaxed));
    extras_word(unit).store(nullptr, std::memory_order_relaxed);
    unit.marks.store(static_cast<std::uint8_t>(unit.marks.load(std::memory_order_relaxed) & ~Unit::extras.word),
                     std::memory_order_relaxed);
    return had;
}

}   // namespace

void* take_extras_outside() {
    Process& of = process();
    std::lock_guard guard(of.outside_lock);
    return of.outside->extras->take();
}

void give_extras_outside(Extras* extras) {
    Process& of = process();
    std::lock_guard guard(of.outside_lock);
    of.outside->extras->give(extras);
}

Extras* others_extras(const Unit& unit) {
    for (os::Backoff backoff;; backoff.wait()) {
        // acquire: as in extras_of().
        if (void* const there = extras_word(unit).load(std::memory_order_acquire)) return static_cast<Extras*>(there);
    }
}

Extras* obtain_extras(Unit& unit, Stream* stream) {
    if (Extras* had = extras_of(unit)) return had;
    Extras* const made = take_extras(stream);
    if (made == nullptr) return nullptr;
    Extras* const published = publish_extras(unit, made);
    if (published != made) give_extras(stream, made);
    return published;
}

bool give_data(Unit& unit, void* data, void (*release)(void*), Stream* stream) {
    Extras* extras = extras_of(unit);
    if (extras == nullptr) {
        // The usual case: the unit's first extras, with the data in them from the beginning.
        Extras* const made = take_extras(stream);
        if (made == nullptr) return false;
        made->release = release;
        made->data.store(data, std::memory_order_relaxed);   // relaxed: published with all the rest
        extras = publish_extras(unit, made);
        if (extras == made) return true;
        give_extras(stream, made);
    }
    std::lock_guard guard(extras->lock);
    if (extras->data.load() != nullptr) return false;
    extras->release = release;
    extras->data.store(data, std::memory_order_release);   // release: pairs with the threads that read them
    return true;
}

bool give_at_spawn(Unit& unit, const Key* key, void* data, void (*release)(void*), Stream* stream) {
    if (extras_of(unit) != nullptr || (key != nullptr && key->place >= Extras::slots_here)) {
        return key == nullptr ? give_data(unit, data, release, stream)
                              : set_lasting(unit, *key, data, stream) == Lasting::set;
    }
    Extras* const made = take_extras(stream);
    if (made == nullptr) return false;
    if (key == nullptr) {
        made->release = release;
        made->data.store(data, std::memory_order_relaxed);   // relaxed: no other thread knows the unit
    } else {
        made->slots[key->place].put(key->mark, data);
    }
    // By stores: no request to the unit is possible yet. release: pairs with extras_of(). relaxed:
    // as in publish_extras().
    extras_word(unit).store(made, std::memory_order_release);
    unit.marks.store(static_cast<std::uint8_t>(unit.marks.load(std::memory_order_relaxed) | Unit::extras.word),
                     std::memory_order_relaxed);
    return true;
}

void drop_extras(Unit& unit, Stream* stream) {
    Extras* const had = take_from(unit);
    if (had == nullptr) return;
    release_first(*had);
    if (more_of(*had) != nullptr) [[unlikely]]
        drop_more(*had, stream);
    give_extras(stream, had);
}

void release_extras(Unit& unit) {
    Extras* const had = take_from(unit);
    if (had == nullptr) return;
    release_first(*had);
    release_more(*had);
}

}   // namespace weft
