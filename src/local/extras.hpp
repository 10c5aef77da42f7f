// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extras come and go: their memory belongs to the calling stream, or is shared by all OS threads
// that are no streams. See unit/extras.hpp.
#pragma once

#include "process/stream.hpp"
#include "unit/extras.hpp"

namespace weft {

struct Key;

// For an OS thread that is no stream.
void* take_extras_outside();
void give_extras_outside(Extras* extras);

// Memory for extras that no thread knows yet, begun; null: there is none. `stream`: the calling
// one, or null.
[[gnu::always_inline]] inline Extras* take_extras(Stream* stream) {
    auto* const made = static_cast<Extras*>(stream != nullptr ? stream->heap->extras->take() : take_extras_outside());
    if (made != nullptr) made->begin();
    return made;
}

[[gnu::always_inline]] inline void give_extras(Stream* stream, Extras* extras) {
    if (stream == nullptr) [[unlikely]]
        return give_extras_outside(extras);
    stream->heap->extras->give(extras);
}

// The extras that another thread is making; it is about to write the word.
Extras* others_extras(const Unit& unit);

// The extras that were made become the unit's, or those that it has by now are returned.
// The thread that sets the mark writes the word, by which all others find them.
inline Extras* publish_extras(Unit& unit, Extras* made) {
    // relaxed: it only decides which thread is the first.
    const Unit::Marks before{unit.marks.fetch_or(Unit::extras.word, std::memory_order_relaxed)};
    if (before.has(Unit::extras)) [[unlikely]]
        return others_extras(unit);
    extras_word(unit).store(made, std::memory_order_release);   // release: pairs with extras_of()
    return made;
}

// Makes them if there are none. From any thread, while the unit is not freed; null: no memory.
Extras* obtain_extras(Unit& unit, Stream* stream);

// Gives the program's data, once. False: no memory, or the unit has some.
bool give_data(Unit& unit, void* data, void (*release)(void* data), Stream* stream);

// Gives the data to a unit that no thread knows yet, or, with a lasting key, the value under that
// key. False: no memory.
bool give_at_spawn(Unit& unit, const Key* key, void* data, void (*release)(void* data), Stream* stream);

// With the descriptor: no other thread knows the unit. Releases what the unit has, and gives the
// memory back.
void drop_extras(Unit& unit, Stream* stream);
// Releases what the unit has, where the memory goes with the runtime.
void release_extras(Unit& unit);

}   // namespace weft
