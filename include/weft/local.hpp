// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that each unit has for itself, as each thread has its own copy of a thread_local variable;
// see local.h.
#pragma once

#include <weft/language.hpp>

#include <concepts>
#include <memory>
#include <utility>

#include <weft/local.h>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** The options of a key; to be written with designated initialisers. See weft_key_options. Since
 * 0.7. */
struct key_options {
    /** called with a unit's value when the unit ends; null with `lasting` */
    void (*destructor)(void* value) = nullptr;
    /** values belong to the unit's handle, and survive the unit's end and revival */
    bool lasting = false;
    /** with `lasting`: called with a unit's value when the unit is freed */
    void (*release)(void* value) = nullptr;
    /** called before a unit leaves its OS thread; requires `returns` */
    void (*leaves)(void* value) = nullptr;
    /** called when a unit continues; requires `leaves` */
    void (*returns)(void* value) = nullptr;
};

/** A key of the C interface, under which each unit has a pointer; freed with this object. Since
 * 0.7. */
class key {
public:
    /** Makes a key. Throws weft::error; see weft_key_create_with. */
    explicit key(const key_options& wanted = {}) {
        weft_key_options options{};
        options.size = sizeof options;
        options.destructor = wanted.destructor;
        options.lasting = wanted.lasting;
        options.release = wanted.release;
        options.leaves = wanted.leaves;
        options.returns = wanted.returns;
        check(weft_key_create_with(&options, &handle_));
    }
    /** Frees the key, which must not be used any more; see weft_key_free. */
    ~key() { weft_key_free(handle_); }
    key(const key&) = delete;
    key& operator=(const key&) = delete;

    /** The key, for calls of the C interface. */
    weft_key* native_handle() const noexcept { return handle_; }

    /** The calling unit's value; null when it has none. */
    void* get() const noexcept { return weft_local_get(handle_); }
    /** Sets the calling unit's value. Throws weft::error; see weft_local_set. */
    void set(void* value) const { check(weft_local_set(handle_, value)); }

private:
    weft_key* handle_ = nullptr;
};

/** One object for each unit that uses it. A unit's object is made at its first use, and destroyed
 * when the unit ends, in that unit. May be a static variable.
 *
 *     static weft::unit_local<std::vector<int>> scratch;
 *     scratch->push_back(1);                    in any unit
 */
template <class T>
class unit_local {
public:
    /** Makes the key; no unit has an object yet. Throws weft::error with WEFT_NO_MEMORY. */
    unit_local() { check(weft_key_create(destroy, &key_)); }
    /** No unit may use it any more. The objects of units that have not ended are not destroyed. */
    ~unit_local() { weft_key_free(key_); }
    unit_local(const unit_local&) = delete;
    unit_local& operator=(const unit_local&) = delete;

    /** The calling unit's object, or null when it has none. */
    T* get() const noexcept { return static_cast<T*>(weft_local_get(key_)); }

    /** The calling unit's object, made if there is none. Throws weft::error outside of units. */
    T& operator*() const requires std::default_initializable<T> {
        T* const had = get();
        return had != nullptr ? *had : emplace();
    }
    /** A pointer to the calling unit's object, made if there is none. Throws weft::error outside of
     * units. */
    T* operator->() const requires std::default_initializable<T> { return &**this; }

    /** Makes a new object for the calling unit, and destroys the one that it had. Throws
     * weft::error outside of units. */
    template <class... Arguments>
    requires std::constructible_from<T, Arguments...> T& emplace(Arguments&&... arguments) const {
        auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
        T* const had = get();
        check(weft_local_set(key_, made.get()));
        delete had;
        return *made.release();
    }

    /** Destroys the calling unit's object, if it has one. */
    void reset() const noexcept {
        T* const had = get();
        if (had == nullptr) return;
        weft_local_set(key_, nullptr);
        delete had;
    }

private:
    static void destroy(void* object) noexcept { delete static_cast<T*>(object); }

    weft_key* key_ = nullptr;
};

}   // namespace v0
}   // namespace weft
