// What few units have: a migration that was asked for, values of their own (stream/locals.hpp), a pointer of the program's. Made when first needed, by
// whoever needs them, and freed with the descriptor; found by a word beside it, in its slab.
#pragma once

#include <cstdint>
#include <mutex>
#include <new>

#include "mem/slab.hpp"
#include "os/lock.hpp"
#include "os/memory.hpp"
#include "unit/unit.hpp"
#include "weft/pool.h"

namespace weft {

// The value of a key; of an older use of its place when the generation is another.
struct Local {
    void* value = nullptr;
    std::uint32_t generation = 0;
};

struct Extras {
    static constexpr std::uint32_t few = 4;

    // The program's; given once, and published by `data`, which comes first: units read their own (include/weft/here.h).
    atomic<void*> data{nullptr};
    void (*release)(void* data) = nullptr;

    os::Lock lock;                             // guards what follows
    Pool* target = nullptr;                    // where it was asked to go; with Unit::migrate
    void (*on_migration)(weft_unit* unit, void* argument) = nullptr;
    void* on_migration_argument = nullptr;

    // The unit's own: no lock.
    Local first_locals[few] = {};
    Local* locals = first_locals;              // by the key's place
    std::uint32_t locals_room = 0;             // until the first is set

    Extras() = default;
    Extras(const Extras&) = delete;
    ~Extras() {
        // relaxed: whoever frees the unit knows what was given to it.
        void* const given = data.load(std::memory_order_relaxed);
        if (given != nullptr && release != nullptr) release(given);
        if (locals != first_locals) os::release(locals);
    }
};

inline atomic<void*>& extras_word(const Unit& unit) {
    return mem::annex_of(const_cast<Unit*>(&unit), sizeof(Unit));
}

// Null: it has none.
inline Extras* extras_of(const Unit& unit) {
    // acquire: pairs with the release of Unit::mark() below, after which the word and what it points to are there.
    if ((unit.marks.load(std::memory_order_acquire) & Unit::extras) == 0) return nullptr;
    return static_cast<Extras*>(extras_word(unit).load(std::memory_order_relaxed));   // relaxed: ordered by the mark
}

// Memory of extras that have gone, for others: a stream's. The C library takes ten times as long.
class SpareExtras {
public:
    // Null: none is left.
    void* take() {
        Spare* const spare = first_;
        if (spare == nullptr) return nullptr;
        first_ = spare->next;
        --count_;
        return spare;
    }

    void give(void* memory) {
        if (count_ == most) return os::release(memory);
        first_ = new (memory) Spare{first_};
        ++count_;
    }

    void release_all() {
        while (void* memory = take()) os::release(memory);
    }

private:
    struct Spare {
        Spare* next;
    };
    static constexpr unsigned most = 256;   // as many as may come and go at once: of 32 KiB

    Spare* first_ = nullptr;
    unsigned count_ = 0;
};

// Those that were made become the unit's, or those that it has by now are returned. From anybody, while the unit is not freed.
inline Extras* publish_extras(Unit& unit, Extras* made) {
    void* none = nullptr;
    // acq_rel: the release publishes what was made; acquire: what another has made is there.
    const bool first = extras_word(unit).compare_exchange_strong(none, made, std::memory_order_acq_rel, std::memory_order_acquire);
    unit.mark(Unit::extras);
    return first ? made : static_cast<Extras*>(none);
}

// Makes them if there are none. From anybody, while the unit is not freed; null: no memory.
inline Extras* obtain_extras(Unit& unit) {
    if (Extras* had = extras_of(unit)) return had;
    auto* made = os::make_plain<Extras>();
    if (made == nullptr) return nullptr;
    Extras* const published = publish_extras(unit, made);
    if (published != made) os::destroy(made);
    return published;
}

// The program's data, given once. False: no memory, or it has some. `spare`: of the calling stream, or null.
inline bool give_data(Unit& unit, void* data, void (*release)(void*), SpareExtras* spare) {
    Extras* extras = extras_of(unit);
    if (extras == nullptr) {
        // Nearly always: the unit's first extras, with the data in them from the beginning.
        void* const memory = spare == nullptr ? nullptr : spare->take();
        auto* const made = memory != nullptr ? new (memory) Extras : os::make_plain<Extras>();
        if (made == nullptr) return false;
        made->release = release;
        made->data.store(data, std::memory_order_relaxed);   // relaxed: published with all the rest
        extras = publish_extras(unit, made);
        if (extras == made) return true;
        made->data.store(nullptr, std::memory_order_relaxed);   // relaxed: never published
        os::destroy(made);
    }
    std::lock_guard guard(extras->lock);
    if (extras->data.load() != nullptr) return false;
    extras->release = release;
    extras->data.store(data, std::memory_order_release);   // release: pairs with whoever asks for them
    return true;
}

// With the descriptor: nobody else knows the unit. `spare`: as above.
inline void drop_extras(Unit& unit, SpareExtras* spare) {
    // relaxed, and by plain stores: as above, nobody else.
    auto* const had = static_cast<Extras*>(extras_word(unit).load(std::memory_order_relaxed));
    extras_word(unit).store(nullptr, std::memory_order_relaxed);
    unit.marks.store(static_cast<std::uint8_t>(unit.marks.load(std::memory_order_relaxed) & ~Unit::extras), std::memory_order_relaxed);
    if (had == nullptr) return;
    if (spare == nullptr) return os::destroy(had);
    had->~Extras();
    spare->give(had);
}

}  // namespace weft
