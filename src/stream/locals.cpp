#include "stream/locals.hpp"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "os/lock.hpp"
#include "os/memory.hpp"

namespace weft {
namespace {

// Keys by their place. Chunks come and never go, so a reader needs no lock.
constexpr std::uint32_t chunk_keys = 64, most_chunks = 1024;
struct Chunk {
    Key keys[chunk_keys];
};
atomic<Chunk*> chunks[most_chunks] = {};

os::Lock lock;            // guards what follows
std::uint32_t used = 0;   // places that were ever given out
Key* free_keys = nullptr;

Key* key_at(std::uint32_t place) {
    // acquire: pairs with the release in new_key().
    Chunk* chunk = chunks[place / chunk_keys].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &chunk->keys[place % chunk_keys];
}

// Under the lock.
Key* new_key() {
    if (Key* key = free_keys) {
        free_keys = key->next_free;
        return key;
    }
    if (used == chunk_keys * most_chunks) return nullptr;
    if (used % chunk_keys == 0) {
        auto* chunk = os::make<Chunk>();
        if (chunk == nullptr) return nullptr;
        os::keep_for_good(chunk);
        chunks[used / chunk_keys].store(chunk, std::memory_order_release);   // release: pairs with key_at()
    }
    Key* key = key_at(used);
    key->place = used++;
    return key;
}

// The unit's own. False: no memory.
bool grow(Extras& extras, std::uint32_t place) {
    if (place < Extras::few) {
        extras.locals_room = Extras::few;   // the first, in the place that is there for it
        return true;
    }
    std::uint32_t room = Extras::few;
    while (room <= place) room *= 2;
    auto* table = static_cast<Local*>(os::allocate(room * sizeof(Local)));
    if (table == nullptr) return false;
    for (std::uint32_t i = 0; i < room; ++i) new (&table[i]) Local(i < extras.locals_room ? extras.locals[i] : Local{});
    Local* const before = std::exchange(extras.locals, table);
    if (before != extras.first_locals) os::release(before);
    extras.locals_room = room;
    return true;
}

}  // namespace

Key* make_key(void (*destructor)(void*)) {
    std::lock_guard guard(lock);
    Key* key = new_key();
    if (key == nullptr) return nullptr;
    // relaxed: the generation publishes it.
    key->destructor.store(destructor, std::memory_order_relaxed);
    key->generation.fetch_add(1, std::memory_order_release);   // release: pairs with Key::lives() and end_locals()
    return key;
}

void free_key(Key& key) {
    std::lock_guard guard(lock);
    key.generation.fetch_add(1);
    key.next_free = free_keys;
    free_keys = &key;
}

void keys_forked() { lock.break_open(); }

bool set_local(Unit& unit, const Key& key, void* value) {
    Extras* extras = extras_of(unit);
    if (value == nullptr && (extras == nullptr || key.place >= extras->locals_room)) return true;
    if (extras == nullptr) extras = obtain_extras(unit);
    if (extras == nullptr || (key.place >= extras->locals_room && !grow(*extras, key.place))) return false;
    // relaxed: the key lives, so nobody changes it.
    extras->locals[key.place] = {value, key.generation.load(std::memory_order_relaxed)};
    return true;
}

void end_locals(Unit& unit) noexcept {
    // As pthread keys have it: a destructor may set values, and is called for them, too, a few times over.
    constexpr int rounds = 4;
    Extras& extras = *extras_of(unit);
    if (extras.locals_room == 0) return;   // it has some for other reasons
    unit.mark(Unit::ending);
    bool some = true;
    for (int round = 0; round < rounds && some; ++round) {
        some = false;
        for (std::uint32_t place = 0; place < extras.locals_room; ++place) {
            void* const value = std::exchange(extras.locals[place].value, nullptr);
            if (value == nullptr) continue;
            const Key& key = *key_at(place);
            // acquire: pairs with make_key(). Another generation: the key was freed, and its values are nobody's.
            if (key.generation.load(std::memory_order_acquire) != extras.locals[place].generation) continue;
            // relaxed: published with the generation.
            void (*const destroy)(void*) = key.destructor.load(std::memory_order_relaxed);
            if (destroy == nullptr) continue;
            destroy(value);
            some = true;
        }
    }
}

}  // namespace weft
