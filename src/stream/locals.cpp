#include "stream/locals.hpp"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "os/lock.hpp"
#include "os/memory.hpp"
#include "stream/extras.hpp"
#include "stream/lasting.hpp"

namespace weft {
namespace {

// Keys by their place. Chunks come and never go, so a reader needs no lock.
constexpr std::uint32_t chunk_keys = 64;
struct Chunk {
    Key keys[chunk_keys];
};

os::Lock lock;   // guards what is no atomic in the tables, and the keys that are free

class Table {
public:
    static constexpr std::uint32_t most_chunks = 1024;

    constexpr explicit Table(std::uint32_t most_keys) : most_(most_keys) {}

    Key* at(std::uint32_t place) const {
        // acquire: pairs with the release in take().
        Chunk* chunk = chunks_[place / chunk_keys].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : &chunk->keys[place % chunk_keys];
    }

    // Under the lock, as give().
    Key* take() {
        if (Key* key = free_) {
            free_ = key->next_free;
            return key;
        }
        if (used_ == most_) return nullptr;
        if (used_ % chunk_keys == 0) {
            auto* chunk = os::make<Chunk>();
            if (chunk == nullptr) return nullptr;
            os::keep_for_good(chunk);
            chunks_[used_ / chunk_keys].store(chunk, std::memory_order_release);   // release: pairs with at()
        }
        Key* key = at(used_);
        key->place = used_++;
        return key;
    }

    void give(Key& key) {
        key.next_free = free_;
        free_ = &key;
    }
    // So that the first places are taken first.
    void give_in_order(Key& key) {
        Key** at = &free_;
        while (*at != nullptr && (*at)->place < key.place) at = &(*at)->next_free;
        key.next_free = std::exchange(*at, &key);
    }

private:
    const std::uint32_t most_;
    atomic<Chunk*> chunks_[most_chunks] = {};
    std::uint32_t used_ = 0;   // places that were ever given out
    Key* free_ = nullptr;
};
constinit Table passing(Table::most_chunks * chunk_keys);
constinit Table lasting(1024);   // a unit's values are found by as many steps as there are threes of them

// The unit's own. False: no memory.
bool grow(Extras& extras, std::uint32_t place) {
    if (place < Extras::few) {
        for (Local& local : extras.first_locals) local = {};   // as another unit may have left them
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
    Key* key = passing.take();
    if (key == nullptr) return nullptr;
    // relaxed: the generation publishes it.
    key->destructor.store(destructor, std::memory_order_relaxed);
    key->generation.fetch_add(1, std::memory_order_release);   // release: pairs with Key::lives() and end_locals()
    return key;
}

Key* make_lasting_key(void (*release)(void*)) {
    std::lock_guard guard(lock);
    Key* key = lasting.take();
    if (key == nullptr) return nullptr;
    key->lasting = true;
    key->release.store(release, std::memory_order_relaxed);   // relaxed: as above
    key->near = key->place < Extras::slots_here;
    key->offset = static_cast<std::uint32_t>(offsetof(Extras, slots) + (key->near ? key->place * sizeof(Slot) : 0));
    const std::uint32_t generation = key->generation.load(std::memory_order_relaxed) + 1;   // relaxed: written under the lock
    key->mark = std::uint64_t{generation} << 32 | key->place;
    key->generation.store(generation, std::memory_order_release);   // release: pairs with Key::lives()
    return key;
}

const Key& lasting_key(std::uint64_t mark) { return *lasting.at(static_cast<std::uint32_t>(mark)); }

void free_key(Key& key) {
    if (key.lasting) release_lasting(key);
    std::lock_guard guard(lock);
    key.generation.fetch_add(1);
    key.lasting ? lasting.give_in_order(key) : passing.give(key);
}

void keys_forked() { lock.break_open(); }

bool set_local(Unit& unit, const Key& key, void* value, Stream* stream) {
    Extras* extras = extras_of(unit);
    if (value == nullptr && (extras == nullptr || key.place >= extras->locals_room)) return true;
    if (extras == nullptr) extras = obtain_extras(unit, stream);
    if (extras == nullptr || (key.place >= extras->locals_room && !grow(*extras, key.place))) return false;
    // relaxed: the key lives, so nobody changes it.
    extras->locals[key.place] = {value, key.generation.load(std::memory_order_relaxed)};
    return true;
}

void end_locals(Unit& unit) noexcept {
    // As pthread keys have it: a destructor may set values, and is called for them, too, a few times over.
    constexpr int rounds = 4;
    Extras* const had = extras_of(unit);
    if (had == nullptr || had->locals_room == 0) return;   // it has some for other reasons
    Extras& extras = *had;
    unit.mark(Unit::ending);
    bool some = true;
    for (int round = 0; round < rounds && some; ++round) {
        some = false;
        for (std::uint32_t place = 0; place < extras.locals_room; ++place) {
            void* const value = std::exchange(extras.locals[place].value, nullptr);
            if (value == nullptr) continue;
            const Key& key = *passing.at(place);
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
