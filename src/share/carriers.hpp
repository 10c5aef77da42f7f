// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Carriers: OS threads that take harts to domains, or stand in for streams. A carrier is a stream
// that waits for remote calls: each carrier takes them out of a pool one after the other, and runs
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hart/base.hpp"
#include "os/lock.hpp"
#include "process/stream.hpp"

namespace weft {

struct Process;

struct Carriers {
    Process& of;
    const char* const name;   // of their OS threads
    // guests' OS threads take harts as well, and none is started
    enum class What : unsigned char { harts, guests, rescue } const what;
    atomic<HartCall*> spare{nullptr};   // of `harts`
    // for the counters, which are read under the runtime's lock: the runtime's lock is taken under
    // this one
    atomic<std::size_t> started{0};
    atomic<std::size_t> refused{0};   // starts that the kernel refused
    os::Lock lock{};                  // guards what follows
    std::size_t count = 0;            // streams
    // of the streams, those that have a remote call, and those of guests that need them themselves;
    // remote calls on their way are counted, too
    std::size_t busy = 0;
    Pool* remote_calls = nullptr;         // on their way
    std::uint64_t patient_until_ns = 0;   // no start is attempted before
    bool closed = false;                  // no carrier is engaged any more

    // On entry, under the lock: more carriers are busy than exist only where remote calls can wait
    // for them.
    void check() const { WEFT_ASSERT(remote_calls != nullptr || (count == 0 && busy == 0) || what == What::guests); }
    // While no thread runs: `staying` streams draw from the pool of remote calls, and `leaving`
    // others, which have been asked to end, count until they have found no remote call.
    void check_whole(std::size_t staying, std::size_t leaving) const {
        check();
        WEFT_ASSERT(staying <= count && count <= staying + leaving);
        if (remote_calls != nullptr) WEFT_ASSERT(busy <= count + pool::length(*remote_calls));
    }

    ~Carriers();
};

// What the base asks of this layer: an OS thread takes a hart to a domain, or a stream that has
// lent its own hart runs on.
hart::Base::Hooks base_hooks(Process& of);

// Some carrier, an idle or a new one, will call body(argument), which ends with carrier_is_free().
// False: no carrier can be had. The remote call is the caller's until then.
bool send_remote_call(Carriers& by, Unit& remote_call, void (*body)(void*), void* argument);
void carrier_is_free(Carriers& by);

// A carrier that is to end, and has found no remote call, leaves the carriers. False: a remote call
// is on its way for which this carrier is counted on.
bool leave_carriers(const Stream& carrier);

// The pool where remote calls of harts on their way to guests' OS threads wait; null: no memory.
Pool* guest_threads_pool(Process& of);

// A guest's OS thread is available for harts on their way, or no longer; and `count_guest` adds a
// guest's thread to the count, or takes one off.
void lend_thread(Guest& guest);
void keep_thread(Stream& stream);
// The calling guest has taken a remote call out of that pool, and cannot carry its hart, since the
// guest itself runs on.
void leave_remote_call(Stream& stream, Unit& remote_call);
void count_guest(Process& of, int more);

// The domain that a hart goes to with the caller, as the base says; null: none, and a guest that is
// to have the hart is notified.
Domain* onwards(Process& of, hart::Root* root);

// A carrier, an idle or a new one, goes on with the hart, which does next what was decided. False:
// no carrier can be had.
bool pass_on(Domain& domain, const Transition& transition);
// An OS thread that is not a guest's, for a hart that is about to be passed on; null: none can be
// had. Afterwards the caller passes the hart to it, or gives it up.
HartCall* reserve_carrier(Process& of);
void pass_on_to(HartCall& reserved, Domain& domain);
void forgo_carrier(Process& of, HartCall& reserved);

// A stream's hart becomes the domain's.
void hart_to_domain(Stream& stream, Domain& domain);
// A hart of the domain goes back, and perhaps on to another domain at once, if the caller can take
// it there. True: the domain has been closed, and that was its last hart.
bool hart_to_base(Stream& stream, Domain& domain, bool takes_next = true);

// The hart of another domain that the stream has goes on with a carrier, or, where no carrier can
// be had, up to the base.
void send_away(Stream& stream);
// The hart becomes that of the guest whose OS thread the stream has.
void hand_over_hart(Stream& stream);

// Ends an OS thread that Weft can do without, for a caller that needs the room more: the sentry, an
// idle carrier, or the reactor. False: there is none. From a unit; may switch.
bool give_up_thread(Process& of, bool& reactor_stood_down);
std::size_t busy_carriers(Process& of);
// The reactor has stood down: it resumes, or the streams that wait for its notifications check what
// it was to watch.
void watch_again(Process& of);

}   // namespace weft
