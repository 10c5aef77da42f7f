// Units with a floating-point environment of their own (weft_unit_options.own_float): how they
// round, which exceptions trap. Between them, and while others run, a stream has the one that all
// its other native units share. doc/decisions/0042.
//
// Such a unit has the mark `careful`, so that it leaves by a way that looks, and is not called, nor
// calls, where that saves a switch. It begins by a body of ours, which calls the program's; what
// that needs lies in the descriptor, in words that mean something only while a unit waits or has
// ended.
#pragma once

#include "process/stream.hpp"
#include "weft/embed/job.h"

namespace weft {

struct Process;

// of Unit::user_stack_bytes: it has one; below lies what it begins with
inline constexpr std::size_t own_float_bit = std::size_t{1} << 63;
// and it is in force, or the unit has left with it
inline constexpr std::size_t inside_float_bit = std::size_t{1} << 62;
static_assert(sizeof(std::size_t) == 8);

// Of a unit marked `careful`, or before it is one.
inline bool has_own_float(const Unit& unit) { return (unit.user_stack_bytes & own_float_bit) != 0; }

// Whether the unit, which has begun, is in the body that was given to it, and has one there.
inline bool is_in_own_float(const Unit& unit) {
    return unit.marked(Unit::careful) && (unit.user_stack_bytes & own_float_bit & unit.user_stack_bytes << 1) != 0;
}

// The unit, which nobody else knows, has one from its start on: what is in force here and now, or
// `begins_with`. Of hosted ones, which have their own, nothing is done; a domain's context has no
// body yet, and is given it again with that.
void give_own_float(Unit& unit);
void give_own_float(Unit& unit, const arch::FloatingPoint& begins_with);

// Nobody asks for it any more.
inline void forget_own_float(Unit& unit) {
    if (!has_own_float(unit)) return;
    unit.user_stack_bytes = 0;
    unit.waits_until_ns = 0;
}

// The running unit, which has one, is to be left: the stream's is in force again. What it had is
// returned, and given back to the unit when it goes on.
[[gnu::noinline]] arch::FloatingPoint leave_own_float(Stream& stream);
[[gnu::noinline]] void enter_own_float(Stream& stream, const arch::FloatingPoint& own);

// The running unit ends, and may have been in the middle of its body.
void end_own_float(Stream& stream, Unit& unit);

// The running unit publishes jobs: the stream that takes one finds there with what it is to be run.
void note_own_float(Unit& owner);
// Of a unit that has published a job and waits for it. False: it has none of its own.
bool noted_own_float(const Unit& owner, arch::FloatingPoint& noted);

// The running tasklet runs a job of another one's in its own place.
void run_job_of(const Unit& owner, weft_job& job);

// What the running unit has others call for it is called with its own, if it has one, and what that
// leaves there is the unit's.
class CallFor {
public:
    CallFor(Unit& unit, void (*called)(void*), void* with);
    CallFor(const CallFor&) = delete;

    // What the others are to call.
    [[nodiscard]] auto fn() const -> void (*)(void*) { return has_own_ ? called_with_own : fn_; }
    [[nodiscard]] void* argument() { return has_own_ ? this : argument_; }

    // They have, and the unit has come back.
    void come_back() const;

private:
    static void called_with_own(void* self);

    const bool has_own_;
    void (*const fn_)(void*);
    void* const argument_;
    arch::FloatingPoint own_{};
};

// All units that are spawned from now on have one (WEFT_OWN_FLOAT).
weft_status begin_own_float(Process& of);

}   // namespace weft
