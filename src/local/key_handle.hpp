// What the C interface calls a weft_key. Programs read the first words of it without a call
// (weft/embed/here.h). A release gives them the key. A build that checks gives each life of a key a
// place of its own, which says that the calls must be asked, and stays: so a read of a key that has
// been freed comes to a call as well, which tells it.
#pragma once

#include <new>

#include "base/assert.hpp"
#include "base/handles.hpp"
#include "base/room.hpp"
#include "local/locals.hpp"
#include "weft/embed/here.h"

namespace weft {

struct KeyFace {
    weft_key_here read;   // with a mark that no value has
    const Key* key;

    explicit KeyFace(const Key& of) : read{~std::uint64_t{0}, of.offset, false}, key(&of) {}
};

// Of a key that has just been made.
inline weft_key* new_handle(Key& key) {
    if constexpr (config::checked) {
        auto* const face = new (handles::room_for_good(sizeof(KeyFace))) KeyFace(key);
        handles::enter_for_good(handles::Thing::key, face);
        return reinterpret_cast<weft_key*>(face);
    }
    return reinterpret_cast<weft_key*>(&key);
}

// `call`: which function of the C interface was given the handle; by itself, the one that asks.
inline const Key* to_key(const weft_key* handle, [[maybe_unused]] const char* call = __builtin_FUNCTION()) {
    if constexpr (config::checked) {
        if (handle == nullptr) return nullptr;
        const Key* const key = handles::to_object<const KeyFace>(handles::Thing::key, handle, call)->key;
        WEFT_ASSERT(key->lives());
        return key;
    }
    return reinterpret_cast<const Key*>(handle);
}

}   // namespace weft
