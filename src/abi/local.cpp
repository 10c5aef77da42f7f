#include "weft/local.h"

#include "abi/convert.hpp"
#include "stream/locals.hpp"

using namespace weft;

namespace {

const Key* to_key(const weft_key* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<const Key>(handles::Thing::key, handle, call);
}

weft_status set(Unit& unit, const Key& key, void* value) {
    if (set_local(unit, key, value)) return WEFT_OK;
    return fail(WEFT_NO_MEMORY, "no memory for a unit's values");
}

}  // namespace

extern "C" {

weft_status weft_key_create(void (*destructor)(void*), weft_key** key) noexcept {
    if (key == nullptr) return is_null("key");
    Key* made = make_key(destructor);
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a key, or there are 65536 already");
    *key = handles::to_handle<weft_key>(handles::Thing::key, made);
    return WEFT_OK;
}

weft_status weft_key_free(weft_key* key) noexcept {
    if (key == nullptr) return is_null("key");
    const Key* const of = to_key(key);
    handles::freed(of);
    free_key(const_cast<Key&>(*of));
    return WEFT_OK;
}

weft_status weft_local_set(const weft_key* key, void* value) noexcept {
    if (key == nullptr) return is_null("key");
    Unit* self = running_or_null();
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only units have local values; there is none here");
    return set(*self, *to_key(key), value);
}

void* weft_local_get(const weft_key* key) noexcept {
    const Unit* self = running_or_null();
    return self == nullptr || key == nullptr ? nullptr : local_of(*self, *to_key(key));
}

weft_status weft_unit_local_set(weft_unit* unit, const weft_key* key, void* value) noexcept {
    if (unit == nullptr || key == nullptr) return is_null(unit == nullptr ? "unit" : "key");
    Unit* of = to_unit(unit);
    if (of->joint.done()) return fail(WEFT_WRONG_STATE, "unit %llu has ended, and its values with it", static_cast<unsigned long long>(of->id));
    return set(*of, *to_key(key), value);
}

weft_status weft_unit_local_get(const weft_unit* unit, const weft_key* key, void** value) noexcept {
    if (unit == nullptr || key == nullptr || value == nullptr) {
        return is_null(unit == nullptr ? "unit" : key == nullptr ? "key" : "value");
    }
    *value = local_of(*to_unit(unit), *to_key(key));
    return WEFT_OK;
}

}  // extern "C"
