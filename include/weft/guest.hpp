// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guests in C++: an OS thread is inside for the duration of a scope. <weft/guest.h> documents what
// that means.
#pragma once

#include <weft/language.hpp>

#include <weft/guest.h>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** The calling OS thread is inside as long as this object lives. Scopes nest. In a unit this object
 * does nothing. */
class guest {
public:
    /** Enters; see weft_guest_enter. Throws an error. */
    guest() { check(weft_guest_enter()); }
    guest(const guest&) = delete;
    guest& operator=(const guest&) = delete;
    /** Leaves. Requires the thread that entered, and that no domain registered inside is left. */
    ~guest() { weft_guest_leave(); }

    /** Reports that the caller was woken for nothing and is about to wait again; see
     * weft_guest_in_vain. */
    static void in_vain() noexcept { weft_guest_in_vain(); }
};

}   // namespace v0
}   // namespace weft
