// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "local/locals.hpp"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "local/extras.hpp"
#include "local/lasting.hpp"
#include "local/own_float.hpp"
#include "os/lock.hpp"
#include "os/memory.hpp"
#include "process/guest_state.hpp"
#include "process/hooks.hpp"
#include "process/process.hpp"
#include "process/stream.hpp"

namespace weft {
namespace {

// Keys by their place. Chunks come and never go, so a reader needs no lock.
constexpr std::uint32_t chunk_keys = 64;
struct Chunk {
    Key keys[chunk_keys];
};

os::Lock lock;   // guards the fields of the tables that are not atomic, and the free keys

// The keys that follow units. Written under the lock.
atomic<const Key*> followers[most_following] = {};

class Table {
public:
    static constexpr std::uint32_t most_chunks = 1024;

    constexpr explicit Table(std::uint32_t most_keys) : most_(most_keys) {}

    Key* at(std::uint32_t place) const {
        // acquire: pairs with the release in take().
        Chunk* chunk = chunks_[place / chunk_keys].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : &chunk->keys[place % chunk_keys];
    }

    // Under the lock, like give().
    Key* take() {
        check();
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
        check_free(key);
        key.next_free = free_;
        free_ = &key;
    }
    // Gives the key back so that the first places are taken first.
    void give_in_order(Key& key) {
        check_free(key);
        Key** at = &free_;
        while (*at != nullptr && (*at)->place < key.place) at = &(*at)->next_free;
        key.next_free = std::exchange(*at, &key);
    }

    // While no thread runs: each place is that of one key, and keys that do not live are free.
    void check_whole() const {
        check();
        std::uint32_t dead = 0, free = 0;
        for (std::uint32_t place = 0; place < used_; ++place) {
            WEFT_ASSERT(at(place)->place == place);
            dead += at(place)->lives() ? 0 : 1;
        }
        for (const Key* key = free_; key != nullptr && free <= used_; key = key->next_free, ++free) check_free(*key);
        WEFT_ASSERT(free == dead);
    }

private:
    // On entry, under the lock.
    void check() const {
        WEFT_ASSERT(used_ <= most_);
        if (free_ != nullptr) check_free(*free_);
    }
    void check_free(const Key& key) const { WEFT_ASSERT(!key.lives() && key.place < used_); }

    const std::uint32_t most_;
    atomic<Chunk*> chunks_[most_chunks] = {};
    std::uint32_t used_ = 0;   // places that were ever given out
    Key* free_ = nullptr;
};
constinit Table passing(Table::most_chunks* chunk_keys);
constinit Table lasting(1024);   // finding a unit's value takes one step for each three keys

// For the simulator, which learns of it where keys are made: no other code has the tables.
void let_be_checked() {
    if constexpr (config::checked) {
        check_keys = [] {
            passing.check_whole();
            lasting.check_whole();
        };
    }
}

template <class Call>
void each_follower(Call call) {
    for (const atomic<const Key*>& place : followers) {
        const Key* const key = place.load(std::memory_order_acquire);   // acquire: pairs with follow()
        if (key != nullptr) call(*key);
    }
}

// No unit is called in the place of a unit that is followed; `inline_pool` is the unit's as long as
// it runs.
void call_nobody(Stream& stream, const Unit& unit) {
    stream.inline_pool = &Stream::no_pool;
    if (unit.has_jobs()) stream.inline_pool_without_jobs = &Stream::no_pool;
}
void call_again(Stream& stream) {
    if (stream.direct != nullptr) stream.inline_pool = stream.direct;
}

// The unit, which runs, has got a value under a key that follows units.
void begin_to_follow(Unit& unit) {
    if (unit.kind == Kind::tasklet || unit.kind == Kind::hosted) return;
    unit.mark(Unit::careful);
    call_nobody(current(), unit);
}

// The unit has no such value any more, or ends. If the scheduler has called it, the scheduler does
// the rest; if its joiner or its parent has, that continues with `inline_pool`.
void cease_to_follow(const Unit& unit) {
    if (unit.kind == Kind::tasklet || unit.kind == Kind::hosted) return;
    if (is_in_own_float(unit)) return;   // such a unit calls no other
    if (!unit.is_light() || unit.is_called()) call_again(current());
}

// For the unit itself. False: no memory.
bool grow(Extras& extras, std::uint32_t place) {
    if (place < Extras::few) {
        for (Local& local : extras.first_locals) local = {};   // another unit may have left them
        extras.locals_room = Extras::few;                      // the first, in the place that is reserved for it
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

}   // namespace

Key* make_key(void (*destructor)(void*)) {
    std::lock_guard guard(lock);
    let_be_checked();
    Key* key = passing.take();
    if (key == nullptr) return nullptr;
    // relaxed: the generation publishes it.
    key->destructor.store(destructor, std::memory_order_relaxed);
    key->generation.fetch_add(1, std::memory_order_release);   // release: pairs with Key::lives() and end_locals()
    return key;
}

Key* make_lasting_key(void (*release)(void*)) {
    std::lock_guard guard(lock);
    let_be_checked();
    Key* key = lasting.take();
    if (key == nullptr) return nullptr;
    key->lasting = true;
    key->release.store(release, std::memory_order_relaxed);   // relaxed: the generation publishes it
    key->near = key->place < Extras::slots_here;
    key->offset = static_cast<std::uint32_t>(offsetof(Extras, slots) + (key->near ? key->place * sizeof(Slot) : 0));
    // relaxed: written under the lock
    const std::uint32_t generation = key->generation.load(std::memory_order_relaxed) + 1;
    key->mark = std::uint64_t{generation} << 32 | key->place;
    key->generation.store(generation, std::memory_order_release);   // release: pairs with Key::lives()
    return key;
}

const Key& lasting_key(std::uint64_t mark) { return *lasting.at(static_cast<std::uint32_t>(mark)); }

void free_key(Key& key) {
    if (key.lasting) release_lasting(key);
    std::lock_guard guard(lock);
    if (key.follows()) {
        for (atomic<const Key*>& place : followers) {
            if (place.load() == &key) place.store(nullptr);
        }
        key.leaves.store(nullptr, std::memory_order_relaxed);   // relaxed, both: no thread uses the key any more
        key.returns.store(nullptr, std::memory_order_relaxed);
        following.fetch_sub(1);
    }
    key.generation.fetch_add(1);
    key.lasting ? lasting.give_in_order(key) : passing.give(key);
}

void keys_forked() { lock.break_open(); }

bool set_local(Unit& unit, const Key& key, void* value, Stream* stream) {
    Extras* extras = extras_of(unit);
    if (value == nullptr && (extras == nullptr || key.place >= extras->locals_room)) return true;
    if (extras == nullptr) extras = obtain_extras(unit, stream);
    if (extras == nullptr || (key.place >= extras->locals_room && !grow(*extras, key.place))) return false;
    // relaxed: the key lives, so no thread changes it.
    extras->locals[key.place] = {value, key.generation.load(std::memory_order_relaxed)};
    if (key.follows()) [[unlikely]] {
        if (value != nullptr) begin_to_follow(unit);
        else if (!is_followed(unit)) cease_to_follow(unit);
    }
    return true;
}

void end_locals(Unit& unit) noexcept {
    // Like the destructors of pthread keys: a destructor may set values, and is called for them,
    // too, up to a few times.
    constexpr int rounds = 4;
    Extras* const had = extras_of(unit);
    if (had == nullptr || had->locals_room == 0) return;   // it has extras for other reasons
    Extras& extras = *had;
    unit.mark(Unit::ending);
    // relaxed: the unit's own values
    const bool followed = following.load(std::memory_order_relaxed) != 0 && is_followed(unit);
    bool some = true;
    for (int round = 0; round < rounds && some; ++round) {
        some = false;
        for (std::uint32_t place = 0; place < extras.locals_room; ++place) {
            void* const value = std::exchange(extras.locals[place].value, nullptr);
            if (value == nullptr) continue;
            const Key& key = *passing.at(place);
            // acquire: pairs with make_key(). Another generation: the key was freed, and its values
            // belong to no key.
            if (key.generation.load(std::memory_order_acquire) != extras.locals[place].generation) continue;
            // relaxed: published with the generation.
            void (*const destroy)(void*) = key.destructor.load(std::memory_order_relaxed);
            if (destroy == nullptr) continue;
            destroy(value);
            some = true;
        }
    }
    if (followed) cease_to_follow(unit);
}

// ---- keys that follow units ---------------------------------------------------------------------

atomic<std::uint32_t> following{0};

bool is_followed(const Unit& unit) {
    bool some = false;
    each_follower([&](const Key& key) { some = some || local_of(unit, key) != nullptr; });
    return some;
}

bool follow(Key& key, void (*leaves)(void*), void (*returns)(void*)) {
    {
        std::lock_guard guard(lock);
        atomic<const Key*>* place = followers;
        while (place != followers + most_following && place->load() != nullptr) ++place;
        if (place == followers + most_following) return false;
        key.leaves.store(leaves, std::memory_order_relaxed);   // relaxed, both: the key's place publishes them
        key.returns.store(returns, std::memory_order_relaxed);
        place->store(&key, std::memory_order_release);   // release: pairs with each_follower()
        following.fetch_add(1);
    }
    unit_hooks.mark_guests(Unit::careful);
    return true;
}

namespace {

// Notifies the keys that follow the unit. Returns whether there are any.
bool tell_followers(const Stream& stream, const Unit& unit, atomic<void (*)(void*)> Key::*what) {
    const bool guest = stream.role.guest != nullptr && stream.role.guest->unit == &unit;
    bool followed = false;
    each_follower([&](const Key& key) {
        void* const value = local_of(unit, key);
        if (value == nullptr && !guest) return;
        followed = true;
        (key.*what).load(std::memory_order_relaxed)(value);   // relaxed: published with the key's place
    });
    return followed;
}

}   // namespace

void tell_followers_it_leaves(Stream& stream, const Unit& unit) {
    if (tell_followers(stream, unit, &Key::leaves)) call_again(stream);
}

void tell_followers_it_returns(Stream& stream, const Unit& unit) {
    if (tell_followers(stream, unit, &Key::returns)) call_nobody(stream, unit);
}

bool is_own_code(const Unit& unit) {
    if (!unit.flags.has_all(Unit::primary | Unit::bound)) return false;
    const Process& of = process();
    return &unit != of.primary || !of.settings.values.roaming_primary;   // a roaming one is bound now and then
}

void tell_followers_of_primary() {
    // relaxed: published with the key's place
    each_follower([](const Key& key) { key.returns.load(std::memory_order_relaxed)(nullptr); });
}

}   // namespace weft
