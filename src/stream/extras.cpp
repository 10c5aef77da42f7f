#include "stream/extras.hpp"

#include <mutex>
#include <utility>

#include "os/memory.hpp"
#include "stream/lasting.hpp"
#include "stream/runtime.hpp"

namespace weft {
namespace {

// Nobody reads them any more.
void release_all(Extras& extras) {
    // relaxed: whoever frees the unit knows what was given to it.
    if (void* const given = extras.data.load(std::memory_order_relaxed); given != nullptr && extras.release != nullptr) extras.release(given);
    release_lasting(extras);
    if (extras.locals != extras.first_locals) os::release(extras.locals);
}

// Of a unit that has some. relaxed, and by plain stores: nobody else knows the unit.
Extras* take_from(Unit& unit) {
    auto* const had = static_cast<Extras*>(extras_word(unit).load(std::memory_order_relaxed));
    extras_word(unit).store(nullptr, std::memory_order_relaxed);
    unit.marks.store(static_cast<std::uint8_t>(unit.marks.load(std::memory_order_relaxed) & ~Unit::extras), std::memory_order_relaxed);
    return had;
}

}  // namespace

Extras* take_extras(Stream* stream) {
    void* memory = nullptr;
    if (stream != nullptr) {
        memory = stream->heap->extras->take();
    } else {
        Runtime& of = runtime();
        std::lock_guard guard(of.outside_lock);
        memory = of.outside->extras->take();
    }
    if (memory == nullptr) return nullptr;
    auto* const made = static_cast<Extras*>(memory);
    made->begin();
    return made;
}

void give_extras(Stream* stream, Extras* extras) {
    if (stream != nullptr) return stream->heap->extras->give(extras);
    Runtime& of = runtime();
    std::lock_guard guard(of.outside_lock);
    of.outside->extras->give(extras);
}

Extras* publish_extras(Unit& unit, Extras* made) {
    void* none = nullptr;
    // acq_rel: the release publishes what was made; acquire: what another has made is there.
    const bool first = extras_word(unit).compare_exchange_strong(none, made, std::memory_order_acq_rel, std::memory_order_acquire);
    unit.mark(Unit::extras);
    return first ? made : static_cast<Extras*>(none);
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
        // Nearly always: the unit's first extras, with the data in them from the beginning.
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
    extras->data.store(data, std::memory_order_release);   // release: pairs with whoever asks for them
    return true;
}

bool give_at_birth(Unit& unit, const Key* key, void* data, void (*release)(void*), Stream* stream) {
    if (extras_of(unit) != nullptr || (key != nullptr && key->place >= Extras::slots_here)) {
        return key == nullptr ? give_data(unit, data, release, stream) : set_lasting(unit, *key, data, stream) == Lasting::set;
    }
    Extras* const made = take_extras(stream);
    if (made == nullptr) return false;
    if (key == nullptr) {
        made->release = release;
        made->data.store(data, std::memory_order_relaxed);   // relaxed: nobody else knows the unit
    } else {
        made->slots[key->place].put(key->mark, data);
    }
    // release, both: pair with who looks at all units, and with extras_of(). By stores: nobody asks anything of it yet.
    extras_word(unit).store(made, std::memory_order_release);
    unit.marks.store(static_cast<std::uint8_t>(unit.marks.load(std::memory_order_relaxed) | Unit::extras), std::memory_order_release);
    return true;
}

void drop_extras(Unit& unit, Stream* stream) {
    Extras* const had = take_from(unit);
    if (had == nullptr) return;
    release_all(*had);
    while (Extras* const more = had->more.load(std::memory_order_relaxed)) {   // relaxed, both: ours alone
        had->more.store(more->more.load(std::memory_order_relaxed), std::memory_order_relaxed);
        more->more.store(nullptr, std::memory_order_relaxed);
        give_extras(stream, more);
    }
    give_extras(stream, had);
}

void release_extras(Unit& unit) {
    if (Extras* const had = take_from(unit)) release_all(*had);
}

}  // namespace weft
