// Extras come and go: their memory is the calling stream's, or that of all OS threads that are no streams. See unit/extras.hpp.
#pragma once

#include "stream/stream.hpp"
#include "unit/extras.hpp"

namespace weft {

struct Key;

// Memory for extras that nobody knows yet, begun; null: there is none. `stream`: the calling one, or null.
Extras* take_extras(Stream* stream);
void give_extras(Stream* stream, Extras* extras);

// Those that were made become the unit's, or those that it has by now are returned.
Extras* publish_extras(Unit& unit, Extras* made);

// Makes them if there are none. From anybody, while the unit is not freed; null: no memory.
Extras* obtain_extras(Unit& unit, Stream* stream);

// The program's data, given once. False: no memory, or it has some.
bool give_data(Unit& unit, void* data, void (*release)(void* data), Stream* stream);

// The same to a unit that nobody knows yet, or, with a lasting key, the value under that. False: no memory.
bool give_at_birth(Unit& unit, const Key* key, void* data, void (*release)(void* data), Stream* stream);

// With the descriptor: nobody else knows the unit. What it has is released, and the memory goes back.
void drop_extras(Unit& unit, Stream* stream);
// The same where the memory goes with the runtime.
void release_extras(Unit& unit);

}  // namespace weft
