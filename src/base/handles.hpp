// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handles of objects that programs make and free, except units (unit/handle.hpp) and, in part,
// keys (local/key_handle.hpp). In a release build a handle is the object's address. A checked build
// keeps a book of all addresses that were ever handed out, and puts a number for each life into the
// 16 bits that addresses do not use. A handle of a freed object stops the process at the call that
// receives it, with the name of the call, even if another object lies at the address by then. The
// first life has number 0: its handle is the address in checked builds, too.
//
// The book is not part of the simulated program: its atomics are the compiler's own, so that the
// simulator sees no steps in it.
#pragma once

#include <cstdint>

#include "base/config.hpp"

namespace weft::handles {

enum class Thing : std::uint8_t { none, stream, pool, scheduler, domain, key, future, channel, arena, poller };

// ---- checked builds -----------------------------------------------------------------------------

// The handle of an object that lives; enters the object into the book.
void* enter(Thing thing, const void* object);
// Enters a new object that is never freed: its handle is its address, whatever else has lived there
// before.
void enter_for_good(Thing thing, const void* object);
// The object of the handle. Ends the process, with a sentence that names the call, if the handle is
// of another kind or its object has been freed.
void* look_up(Thing thing, const void* handle, const char* call);
// The object at that address has ended.
void strike(const void* object);
// In the child of a fork.
void book_forked();
// Whether there has been a runtime, and is none now: then the memory of its units is gone.
bool units_are_gone();
void set_units_gone(bool gone);
// Like enter(), for an object that may be ending at this moment, and without allocating: for lists
// and dumps.
void* peek(const void* object);

// Prints "weft: CALL: " and the message, and aborts: the program is at fault, not Weft, so the text
// that follows messages of fatal() is left out.
[[noreturn, gnu::cold, gnu::noinline, gnu::format(printf, 2, 3)]] void wrong_call(const char* call, const char* format,
                                                                                  ...);

// ---- in every build -----------------------------------------------------------------------------

template <class Handle>
[[gnu::always_inline]] inline Handle* to_handle([[maybe_unused]] Thing thing, const void* object) {
    if constexpr (config::checked) {
        if (object != nullptr) return static_cast<Handle*>(enter(thing, object));
    }
    return static_cast<Handle*>(const_cast<void*>(object));
}

template <class Object>
[[gnu::always_inline]] inline Object* to_object([[maybe_unused]] Thing thing, const void* handle,
                                                [[maybe_unused]] const char* call) {
    if constexpr (config::checked) {
        if (handle != nullptr) return static_cast<Object*>(look_up(thing, handle, call));
    }
    return static_cast<Object*>(const_cast<void*>(handle));
}

template <class Handle>
[[gnu::always_inline]] inline Handle* shown(const void* object) {
    if constexpr (config::checked) return static_cast<Handle*>(peek(object));
    return static_cast<Handle*>(const_cast<void*>(object));
}

[[gnu::always_inline]] inline void runtime_lives([[maybe_unused]] bool lives) {
    if constexpr (config::checked) set_units_gone(!lives);
}

[[gnu::always_inline]] inline void freed([[maybe_unused]] const void* object) {
    if constexpr (config::checked) strike(object);
}

}   // namespace weft::handles
