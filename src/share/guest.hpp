// Guests: OS threads of the application that call in. From the outermost entry to the exit a
// guest's OS thread is the carrier of a stream of its own, and the code that called is a unit that
// this stream alone runs, on the thread's own stack. It goes on only while its root of the base has
// a hart: README.md, "Guests", has the rules.
//
// Where a guest stands is one word, hart::Root::guest_phase:
//
//                enter                leave
//     outside ----------> wants   .---------> reclaimable --> held  (the next enter: one compare-and-swap)
//        ^                  |     |             |
//        |                  | the base grants   '-----> outside     (the base takes it, for others)
//        |                  v     |
//        '- (contended) -- held <-+-- ready <-- the base grants -- wants <--.
//                           |           ^                            ^      |
//                           |           '-- its unit becomes ready --|------| before its hart is given back, or while
//                                       that is being done (gives),
//                           '--> gives --> waits --------------------'        or afterwards
//                                          ^   |
//                                          |   v
//                              held <--   carries --> claims --> held           (its thread has the hart of a domain,
//                              which it goes on with at the next switch)
//
// The thread alone changes it, but for: the base takes what is reclaimable and makes `ready` of
// what wants; the thread that makes the unit ready; the end of the runtime (`nothing`).
#pragma once

#include <cstddef>

#include "process/guest_state.hpp"
#include "process/stream.hpp"

namespace weft {

struct Process;

weft_status enter_as_guest() noexcept;
weft_status leave_as_guest() noexcept;
weft_status finalize_as_guest(Guest& guest) noexcept;   // which has entered by weft_init
void wait_in_vain() noexcept;                           // weft_guest_in_vain

// What only a ULT may do, for whoever calls: an OS thread outside is a guest meanwhile.
template <class Call>
weft_status as_guest(Call call) {
    if (current_or_null() != nullptr) return call();
    if (const weft_status status = enter_as_guest(); status != WEFT_OK) return status;
    const weft_status status = call();
    leave_as_guest();
    return status;
}

// The guest that calls; null: a unit, a scheduler or an OS thread outside calls.
inline Guest* calling_guest() {
    Stream* const stream = current_or_null();
    Guest* const guest = stream == nullptr ? nullptr : stream->role.guest;
    return guest != nullptr && stream->running == guest->unit ? guest : nullptr;
}

// The thread of a guest, which waits, has got the hart of a domain; or has it no more.
void carries_hart(Guest& guest);
void carries_none(Guest& guest);
// A unit that runs on its thread with its own hart has registered a domain, and the hart is the
// domain's. The guest itself may be able to go on, or become so meanwhile: it is asked for another
// then.
void guests_hart_to_domain(Guest& guest, Domain& domain);
// The thread has the hart of a domain, and the guest can go on: with that hart, before anything
// else is done with it.
inline bool claims_hart(const Stream& stream) {
    return stream.role.guest != nullptr && stream.serving.lender == nullptr &&
           stream.role.guest->root.guest_phase.load() == hart::Root::GuestPhase::claims;
}

// By a ULT that looks for what somebody else is to do, and that no call tells it of: it has looked
// in vain, and yields, to those that have no hart, too. False: nobody could use its hart.
bool make_way();

// The base has granted a hart to the guest, whose unit wants one.
void admitted(Guest& guest);

// ---- for the guest's stream, from its scheduler's stack -----------------------------------------

// It has nothing to run: its hart is for others, and its OS thread for harts on their way. True:
// one has come.
bool lend_out(Stream& stream);
// As lend_out(), where a hart has come already. False: the guest goes on first.
bool lends_itself(Stream& stream);
// The guest goes on, if it can: in Stream::next_unit. What the OS thread carries meanwhile goes on
// with another.
void go_on(Stream& stream);
// It is the guest's again, for its domain.
void stop_lending(Stream& stream);

// ---- the runtime's end --------------------------------------------------------------------------

// From now on whoever enters waits until the runtime has ended, and begins another. False: so many
// guests are inside, and nothing has happened.
bool close_to_guests(Process& of, std::size_t& inside);
void open_to_guests();

// In the child of a fork: the other threads are no more, and the one that forked is no guest of the
// parent's runtime.
void guests_forked();

// Each guest's unit has that mark from now on.
void mark_guests(Unit::Marks mark);

// Held while a runtime begins: the first who comes starts it, and the others find it.
os::Lock& runtime_start_lock();

}   // namespace weft
