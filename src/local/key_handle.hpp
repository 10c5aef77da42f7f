// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The object that the C interface calls a weft_key. Programs read its first words without a call
// (weft/embed/here.h). A release build hands out the key itself. A build that checks gives each
// life of a key a place of its own, which says that the call must be made, and stays: so a read of
// a key that has been freed makes a call as well, which reports it.
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

// The handle of a key that has just been made.
inline weft_key* new_handle(Key& key) {
    if constexpr (config::checked) {
        auto* const face = new (handles::room_for_good(sizeof(KeyFace))) KeyFace(key);
        handles::enter_for_good(handles::Thing::key, face);
        return reinterpret_cast<weft_key*>(face);
    }
    return reinterpret_cast<weft_key*>(&key);
}

// `call`: the function of the C interface that was given the handle; by default, the calling one.
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
