// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calling unit, found without a call where a unit runs. <weft/embed/here.h> documents the words
// that are read.
#pragma once

#include <weft/language.hpp>

#include <cstdint>

#include <weft/embed/here.h>
#include <weft/kind.h>
#include <weft/unit.h>

namespace weft {
inline namespace v0 {
namespace detail {

// The loader refuses a program whose inlined code has another layout than the library.
[[gnu::used]] inline const char* const embed_layout = &weft_embed_layout_1;

// Null on an OS thread that is not a stream. A weft_here begins with the jobs.
[[gnu::always_inline]] inline weft_here* here() noexcept { return reinterpret_cast<weft_here*>(weft_jobs_here()); }

}   // namespace detail

/** The results of weft_unit_self and similar calls, found with a few loads where a unit runs. For
 * runtimes on top of Weft; programs use this_thread::self and similar functions. */
namespace here {

/** The unit that runs, as <weft/embed/here.h> describes it. Null: only the calls (weft_unit_self
 * and the others) can tell, and they may still return a unit. From anywhere; never switches. Since
 * 0.5. */
[[gnu::always_inline]] inline const weft_running* running() noexcept {
    const weft_here* const place = detail::here();
    return place == nullptr ? nullptr : place->running;
}

/** The handle of the unit that running() has returned, which must not be null: the result of
 * weft_unit_self. From anywhere; never switches. Since 0.5. */
[[gnu::always_inline]] inline weft_unit* unit_of(const weft_running* running) noexcept {
    return reinterpret_cast<weft_unit*>(const_cast<weft_running*>(running));
}

/** What hangs on the unit that running() has returned, which must not be null; null: nothing. From
 * anywhere; never switches. Since 0.6. */
[[gnu::always_inline]] inline const weft_hanging* hanging_of(const weft_running* running) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(running);
    const auto block = at & ~static_cast<std::uintptr_t>(WEFT_BLOCK_BYTES - 1);
    const auto* const words = reinterpret_cast<const weft_hanging* const*>(block + WEFT_BLOCK_HEAD);
    // acquire: pairs with the release by which a thread hangs something on the unit
    return __atomic_load_n(&words[(at - block) / WEFT_BLOCK_UNIT], __ATOMIC_ACQUIRE);
}

/** The data of the unit that running() has returned, which must not be null: the result of
 * weft_unit_self_data. From anywhere; never switches. Since 0.5. */
[[gnu::always_inline]] inline void* data_of(const weft_running* running) noexcept {
    const weft_hanging* const hanging = hanging_of(running);
    // acquire: pairs with the release by which a thread gives the unit data
    return hanging == nullptr ? nullptr : __atomic_load_n(&hanging->data, __ATOMIC_ACQUIRE);
}

/** The value under a lasting key of the unit that running() has returned, which must not be null.
 * Null: the unit has no value, or only weft_local_get can tell, which costs a call where it has
 * none. From anywhere; never switches. Since 0.6. */
[[gnu::always_inline]] inline void* value_at_once(const weft_running* running, const weft_key* key) noexcept {
    const auto* const how = reinterpret_cast<const weft_key_here*>(key);
    const weft_hanging* const hanging = hanging_of(running);
    if (hanging == nullptr) return nullptr;
    const auto* const hung = reinterpret_cast<const weft_hung*>(reinterpret_cast<const char*>(hanging) + how->offset);
    // acquire: pairs with the release by which a thread sets the value.
    return __atomic_load_n(&hung->mark, __ATOMIC_ACQUIRE) == how->mark ? __atomic_load_n(&hung->value, __ATOMIC_RELAXED)
                                                                       : nullptr;
}

/** The value under a lasting key of the unit that running() has returned, which must not be null:
 * the result of weft_local_get. From anywhere; never switches. Since 0.6. */
[[gnu::always_inline]] inline void* value_of(const weft_running* running, const weft_key* key) noexcept {
    return reinterpret_cast<const weft_key_here*>(key)->near ? value_at_once(running, key) : weft_local_get(key);
}

/** The value under a lasting key of any unit that is not freed: the result of weft_unit_local_get.
 * From any thread or unit; never switches. Since 0.6. */
[[gnu::always_inline]] inline void* value_of(const weft_unit* unit, const weft_key* key) noexcept {
    const bool plain = reinterpret_cast<std::uintptr_t>(unit) >> WEFT_HANDLE_BITS == 0;
    if (plain && reinterpret_cast<const weft_key_here*>(key)->near) [[likely]] {
        return value_at_once(reinterpret_cast<const weft_running*>(unit), key);
    }
    void* value = nullptr;
    weft_unit_local_get(unit, key, &value);
    return value;
}

/** The calling unit, or null outside of units: the result of weft_unit_self. From anywhere; never
 * switches. Since 0.5. */
[[gnu::always_inline]] inline weft_unit* unit() noexcept {
    const weft_running* const self = running();
    return self == nullptr ? weft_unit_self() : unit_of(self);
}

/** The kind of the calling unit, or WEFT_KIND_DEFAULT outside of units: the result of
 * weft_unit_self_kind. From anywhere; never switches. Since 0.5. */
[[gnu::always_inline]] inline weft_kind kind() noexcept {
    const weft_running* const self = running();
    return self == nullptr ? weft_unit_self_kind() : static_cast<weft_kind>(self->kind);
}

}   // namespace here
}   // namespace v0
}   // namespace weft
