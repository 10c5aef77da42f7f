// The handles of what programs make and free, but for units (unit/handle.hpp) and, in part, keys
// (local/key_handle.hpp). To a release a handle is the object's address. A build that checks keeps
// a book of the addresses that were ever handed out, and a number for each life in the 16 bits that
// addresses do not use: a handle of what has been freed stops the process at the call that it is
// given to, with the name of the call, also where another object lies at its address by then. The
// first life has number 0: its handle is the address there, too.
//
// The book is no part of what runs: its atomics are the compiler's own, so that the simulator sees
// no steps in it.
#pragma once

#include <cstdint>

#include "base/config.hpp"

namespace weft::handles {

enum class Thing : std::uint8_t { none, stream, pool, scheduler, domain, key, future, channel, arena, poller };

// ---- builds that check --------------------------------------------------------------------------

// The handle of an object that lives; it is in the book from then on.
void* enter(Thing thing, const void* object);
// Enters an object that is new and stays where it is: its handle is its address, whatever else has
// lived there before.
void enter_for_good(Thing thing, const void* object);
// What the handle stands for. Ends the process, with a sentence that names the call, where that is
// no such thing or has been freed.
void* look_up(Thing thing, const void* handle, const char* call);
// The object at that address is no more.
void strike(const void* object);
// In the child of a fork.
void book_forked();
// Whether there has been a runtime, and is none now: the memory of its units is not there then.
bool units_are_gone();
void set_units_gone(bool gone);
// As enter(), of what may have ended at this moment, and from where nothing may be allocated: for
// lists and dumps.
void* peek(const void* object);

// Prints "weft: CALL: " and the message, and aborts: the program is wrong, and not Weft, whatever a
// message of fatal() says besides.
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
