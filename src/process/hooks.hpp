// What units and streams call in rooms above them, at moments to which few of them come: a hosted one begins, a stream is asked about its domain, nothing is to be run.
// The tables are filled in in one place (wiring.cpp). They are constant, so they are there before anything runs.
#pragma once

#include <cstdint>

#include "context/switch.hpp"
#include "weft/status.h"

namespace weft {

struct Process;
struct Stream;
struct Unit;

struct UnitHooks {
    // Hosted units (hosted.hpp).
    void* (*begin_hosted)(Stream& stream, Unit& unit);
    Stream& (*leave_hosted)(Stream& stream, Unit& self, Unit* next, context::Message after);
    void (*conclude_hosted)(Unit& unit, Unit* next);   // does not return
    // The unit that has forked ends in the child, which ends with it (fork.hpp). Does not return.
    void (*end_child)();
    // A detached unit for which no stack could be had (shortage.hpp).
    void (*keep_for_stack)(Stream& stream, Unit& unit);
    // Each guest's unit has that mark from now on (guest.hpp).
    void (*mark_guests)(std::uint8_t mark);
    // Where a scheduler that begins anew begins (loop.hpp).
    void (*scheduler_main)(void (*call)(void*), void* argument);
};
extern const UnitHooks unit_hooks;

// Asked of a stream, by the bits of attention; all from the scheduler's stack.
struct AttentionHooks {
    bool (*step_aside)(Stream& stream);                  // aside (lending.hpp)
    void (*attend_to_domains)(Stream& stream);           // lent (domain.hpp)
    bool (*replace_main)(Stream& stream);                // replace (level.hpp)
    // stop: what has to be done before.
    bool (*has_kept)(Stream& stream);                    // (shortage.hpp)
    bool (*leave_carriers)(const Stream& stream);        // (carriers.hpp)
};
extern const AttentionHooks attention_hooks;

// A guest comes where there is no runtime.
struct GuestHooks {
    weft_status (*start_by_itself)();                    // (runtime.hpp)
};
extern const GuestHooks guest_hooks;

// A stream that has nothing to run.
struct IdleHooks {
    bool (*start_zero_again)(Process& of);               // (streams.hpp)
    bool (*lend_out)(Stream& stream);                    // a guest's (guest.hpp)
    std::uint64_t (*begin_watch)(Stream& stream);        // while it would sleep for ever (deadlock.hpp)
    void (*end_watch)(Stream& stream, bool woken);
    void (*look_anew)(Process& of);                      // an OS thread that could have woken somebody ends
    void (*stream_wakes)(Process& of);                   // (sentry.hpp)
};
extern const IdleHooks idle_hooks;

}  // namespace weft
