// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/local.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "abi/convert.hpp"
#include "local/key_handle.hpp"
#include "local/lasting.hpp"
#include "weft/embed/here.h"

using namespace weft;

namespace {

// The words of keys and values that programs read without a call (weft/embed/here.h).
static_assert(offsetof(Key, mark) == offsetof(weft_key_here, mark) &&
              offsetof(Key, offset) == offsetof(weft_key_here, offset) &&
              offsetof(Key, near) == offsetof(weft_key_here, near));
static_assert(sizeof(Slot) == sizeof(weft_hung) && offsetof(weft_hung, value) == 0 &&
              offsetof(weft_hung, mark) == sizeof(void*));

[[gnu::cold, gnu::noinline]] weft_status no_memory() { return fail(WEFT_NO_MEMORY, "no memory for a unit's values"); }

weft_status set_of_handle(Unit& unit, const Key& key, void* value) {
    if (value == nullptr) return is_null("value");
    switch (set_lasting(unit, key, value, current_or_null())) {
    case Lasting::set: return WEFT_OK;
    case Lasting::no_memory: return no_memory();
    case Lasting::has_one: break;
    }
    return fail(WEFT_WRONG_STATE, "unit %llu has a value under this lasting key, which is set once",
                static_cast<unsigned long long>(unit.id));
}

weft_status no_key() { return fail(WEFT_NO_MEMORY, "no memory for a key, or there are 65536 already"); }

weft_status create_following(const weft_key_options& given, weft_key** key) {
    if (given.leaves == nullptr || given.returns == nullptr)
        return fail(WEFT_INVALID, "a key that follows units has both, leaves and returns");
    Key* const made = make_key(given.destructor);
    if (made == nullptr) return no_key();
    if (!follow(*made, given.leaves, given.returns)) {
        free_key(*made);
        return fail(WEFT_NO_MEMORY, "there are %zu keys already that follow units", most_following);
    }
    *key = new_handle(*made);
    return WEFT_OK;
}

weft_status set_of_life(Unit& unit, const Key& key, void* value) {
    return set_local(unit, key, value, current_or_null()) ? WEFT_OK : no_memory();
}

void* value_of(const Unit& unit, const Key& key) { return key.lasting ? lasting_of(unit, key) : local_of(unit, key); }

}   // namespace

extern "C" {

weft_status weft_key_create(void (*destructor)(void*), weft_key** key) noexcept {
    if (key == nullptr) return is_null("key");
    Key* made = make_key(destructor);
    if (made == nullptr) return no_key();
    *key = new_handle(*made);
    return WEFT_OK;
}

static weft_status create_lasting(const weft_key_options& given, weft_key** key) {
    if (given.destructor != nullptr)
        return fail(WEFT_INVALID,
                    "values under a lasting key are released, not destroyed: give `release` instead of `destructor`");
    Key* made = make_lasting_key(given.release);
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a lasting key, or there are 1024 already");
    *key = new_handle(*made);
    return WEFT_OK;
}

weft_status weft_key_create_with(const weft_key_options* options, weft_key** key) noexcept {
    if (options == nullptr || key == nullptr) return is_null(options == nullptr ? "options" : "key");
    if (options->size < sizeof(std::size_t) || options->size > 4096) {
        return fail(WEFT_INVALID, "weft_key_options.size is %zu; set it to sizeof(weft_key_options)", options->size);
    }
    weft_key_options given{};   // members that an older header lacks are zero
    std::memcpy(&given, options, std::min(options->size, sizeof given));
    const bool follows = given.leaves != nullptr || given.returns != nullptr;
    if (given.lasting && follows)
        return fail(WEFT_INVALID, "a lasting key follows no units: its values are set from anywhere");
    if (given.lasting) return create_lasting(given, key);
    if (given.release != nullptr)
        return fail(WEFT_INVALID, "only values under a lasting key are released: set `lasting`, or give a destructor");
    if (follows) return create_following(given, key);
    return weft_key_create(given.destructor, key);
}

weft_status weft_key_free(weft_key* key) noexcept {
    if (key == nullptr) return is_null("key");
    const Key* const of = to_key(key);
    handles::freed(key);
    free_key(const_cast<Key&>(*of));
    return WEFT_OK;
}

weft_status weft_local_set(const weft_key* key, void* value) noexcept {
    if (key == nullptr) return is_null("key");
    Unit* self = running_or_null();
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only units have local values; there is none here");
    return to_key(key)->lasting ? set_of_handle(*self, *to_key(key), value) : set_of_life(*self, *to_key(key), value);
}

void* weft_local_get(const weft_key* key) noexcept {
    const Unit* self = running_or_null();
    return self == nullptr || key == nullptr ? nullptr : value_of(*self, *to_key(key));
}

weft_status weft_unit_local_set(weft_unit* unit, const weft_key* key, void* value) noexcept {
    if (unit == nullptr || key == nullptr) return is_null(unit == nullptr ? "unit" : "key");
    Unit* of = to_unit(unit);
    if (to_key(key)->lasting) return set_of_handle(*of, *to_key(key), value);
    if (of->join_state.done())
        return fail(WEFT_WRONG_STATE, "unit %llu has ended, and its values with it",
                    static_cast<unsigned long long>(of->id));
    if (to_key(key)->follows() && of != running_or_null())
        return fail(WEFT_WRONG_CONTEXT, "the key follows units; its values are set by the units themselves");
    return set_of_life(*of, *to_key(key), value);
}

weft_status weft_unit_local_get(const weft_unit* unit, const weft_key* key, void** value) noexcept {
    if (unit == nullptr || key == nullptr || value == nullptr) {
        return is_null(unit == nullptr ? "unit" : key == nullptr ? "key" : "value");
    }
    *value = value_of(*to_unit(unit), *to_key(key));
    return WEFT_OK;
}

bool weft_thread_local_own() noexcept {
    const Stream* const stream = current_or_null();
    if (stream == nullptr) return true;
    return stream->running != nullptr && (stream->running->kind == Kind::hosted || is_own_code(*stream->running));
}

}   // extern "C"
