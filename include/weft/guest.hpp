// Guests in C++: an OS thread is inside for the time of a scope. <weft/guest.h> tells what that is.
#pragma once

#include <weft/language.hpp>

#include <weft/guest.h>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** The calling OS thread is inside as long as this lives; scopes nest. In a unit it does
 * nothing. */
class guest {
public:
    /** Enters; see weft_guest_enter. Throws an error. */
    guest() { check(weft_guest_enter()); }
    guest(const guest&) = delete;
    guest& operator=(const guest&) = delete;
    /** Leaves, on the same thread: no domain that was registered inside is left. */
    ~guest() { weft_guest_leave(); }

    /** The caller has been woken for nothing, and waits again (weft_guest_in_vain). */
    static void in_vain() noexcept { weft_guest_in_vain(); }
};

}   // namespace v0
}   // namespace weft
