// A value that each unit has for itself, as a thread_local variable is a thread's: see local.h.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <weft/local.h>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** One object for each unit that asks for it, made when it is first asked for and destroyed when the unit ends, in that unit. May be a
 * static variable.
 *
 *     static weft::unit_local<std::vector<int>> scratch;
 *     scratch->push_back(1);                    in any unit
 */
template <class T>
class unit_local {
public:
    /** No unit has an object yet. Throws weft::error with WEFT_NO_MEMORY. */
    unit_local() { check(weft_key_create(destroy, &key_)); }
    /** Nobody may use it any more. The objects of units that have not ended are not destroyed. */
    ~unit_local() { weft_key_free(key_); }
    unit_local(const unit_local&) = delete;
    unit_local& operator=(const unit_local&) = delete;

    /** The calling unit's object, or null when it has none. */
    T* get() const noexcept { return static_cast<T*>(weft_local_get(key_)); }

    /** The calling unit's object, made if there is none. Throws weft::error outside of units. */
    T& operator*() const
        requires std::default_initializable<T>
    {
        T* const had = get();
        return had != nullptr ? *had : emplace();
    }
    /** The same. */
    T* operator->() const
        requires std::default_initializable<T>
    {
        return &**this;
    }

    /** Makes the calling unit's object anew; the one that it had is destroyed. Throws weft::error outside of units. */
    template <class... Arguments>
        requires std::constructible_from<T, Arguments...>
    T& emplace(Arguments&&... arguments) const {
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

}  // namespace v0
}  // namespace weft
