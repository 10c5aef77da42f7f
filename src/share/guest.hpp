// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guests: OS threads of the application that call in. From the outermost entry to the exit a
// guest's OS thread is the carrier of a stream of its own, and the code that called is a unit that
// this stream alone runs, on the thread's own stack. The unit runs only while the guest's root, a
// child of the base, has a hart: README.md, "Guests", has the rules.
//
// Where a guest stands is one word, hart::Root::guest_phase:
//
//                enter                leave
//     outside ----------> wants   .---------> reclaimable --> held  (1)
//        ^                  |     |             |
//        |                  | the base grants   '-----> outside     (2)
//        |                  v     |
//        '- (contended) -- held <-+-- ready <-- the base grants -- wants <--.
//                           |           ^                            ^      |
//                           +--- (3) ---'                            |      |
//                           '--> gives --> waits ------- (5) --------'      |
//                                  |       ^   |                            |
//                                  '-------|---|-------- (4) ---------------'
//                                          |   v
//                                         carries --> claims --> held  (6)
//
// (1) The next enter: one compare-and-swap.
// (2) The base takes the hart, for other roots.
// (3) The guest's unit becomes ready before the guest's hart is given back,
// (4) or while that is being done (gives),
// (5) or afterwards.
// (6) The guest's thread has the hart of a domain; the guest takes that hart at the next switch.
//
// Only the thread changes the phase, with these exceptions: the base takes what is reclaimable and
// makes `ready` of `wants`; the thread that makes the unit ready changes it; and so does the end of
// the runtime (`nothing`).
#pragma once

#include <cstddef>

#include "process/guest_state.hpp"
#include "process/stream.hpp"

namespace weft {

struct Process;

weft_status enter_as_guest() noexcept;
weft_status leave_as_guest() noexcept;
weft_status finalize_as_guest(Guest& guest) noexcept;   // for a guest that has entered by weft_init
void wait_in_vain() noexcept;                           // weft_guest_in_vain

// Makes a call that only a ULT may make, for any caller: an OS thread outside is a guest meanwhile.
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

// The thread of a waiting guest has got the hart of a domain; or no longer has it.
void carries_hart(Guest& guest);
void carries_none(Guest& guest);
// A unit that runs on the guest's thread with the guest's hart has registered a domain, and the
// hart is now the domain's. The guest itself may be able to run, or become so meanwhile: then
// another hart is requested for it.
void guests_hart_to_domain(Guest& guest, Domain& domain);
// The thread has the hart of a domain, and the guest can run: with that hart, before anything else
// is done with it.
inline bool claims_hart(const Stream& stream) {
    return stream.role.guest != nullptr && stream.serving.lender == nullptr &&
           stream.role.guest->root.guest_phase.load() == hart::Root::GuestPhase::claims;
}

// For a ULT that polls for the work of another thread, of which no call notifies it. It has polled
// without success, and yields, also to units and guests that have no hart. False: none could use
// its hart.
bool make_way();

// The base has granted a hart to the guest, whose unit wants one.
void admitted(Guest& guest);

// ---- for the guest's stream, from its scheduler's stack -----------------------------------------

// The stream has nothing to run: its hart is for others, and its OS thread for harts on their way.
// True: a hart has come.
bool lend_out(Stream& stream);
// lend_out(), where a hart has come already. False: the guest runs first.
bool lends_itself(Stream& stream);
// If the guest can run, puts its unit into Stream::next_unit. What the OS thread carries meanwhile
// goes on with another thread.
void go_on(Stream& stream);
// The thread is the guest's again, for its domain.
void stop_lending(Stream& stream);

// ---- the runtime's end --------------------------------------------------------------------------

// From now on an entering thread waits until the runtime has ended, and begins another. False:
// `inside` guests are inside, and nothing has happened.
bool close_to_guests(Process& of, std::size_t& inside);
void open_to_guests();

// In the child of a fork: the other threads are gone, and the one that forked is no guest of the
// parent's runtime.
void guests_forked();

// From now on each guest's unit has that mark.
void mark_guests(Unit::Marks mark);

// Held while a runtime begins: the first thread that comes starts it, and the others find it.
os::Lock& runtime_start_lock();

}   // namespace weft
