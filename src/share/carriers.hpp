// Carriers: OS threads that take harts to domains, or stand in for streams. A carrier is a stream
// that waits for remote calls: each takes one after the other out of a pool, and runs it.
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
    // for the counters, which are read under the runtime's lock: that is taken under this one
    atomic<std::size_t> started{0};
    atomic<std::size_t> refused{0};   // by the kernel
    os::Lock lock{};                  // guards what follows
    std::size_t count = 0;            // streams
    // of them, those that have a remote call, and those of guests that need them themselves; remote
    // calls on their way are counted, too
    std::size_t busy = 0;
    Pool* remote_calls = nullptr;         // on their way
    std::uint64_t patient_until_ns = 0;   // none is asked for before
    bool closed = false;                  // none is taken any more

    // On entry, under the lock: more are busy than there are only where remote calls can wait for
    // them.
    void check() const { WEFT_ASSERT(remote_calls != nullptr || (count == 0 && busy == 0) || what == What::guests); }
    // While nobody runs: `staying` streams draw from the pool of remote calls, and `leaving` others
    // that have been told to end; those count until they have found no remote call.
    void check_whole(std::size_t staying, std::size_t leaving) const {
        check();
        WEFT_ASSERT(staying <= count && count <= staying + leaving);
        if (remote_calls != nullptr) WEFT_ASSERT(busy <= count + pool::length(*remote_calls));
    }

    ~Carriers();
};

// What the base asks of this layer: an OS thread takes a hart to a domain, or a stream that has
// lent its own goes on.
hart::Base::Hooks base_hooks(Process& of);

// Some carrier will call body(argument), which ends with carrier_is_free(): an idle one, or a new
// one. False: none can be had. The remote call is the caller's until then.
bool send_remote_call(Carriers& by, Unit& remote_call, void (*body)(void*), void* argument);
void carrier_is_free(Carriers& by);

// A carrier that is to end, and has found no remote call, is none any more. False: one is on its
// way that it is counted on for.
bool leave_carriers(const Stream& carrier);

// Where those of harts on their way to guests' OS threads wait; null: no memory.
Pool* guest_threads_pool(Process& of);

// A guest's OS thread is there for harts on their way, or no longer; one more, or one less, may be.
void lend_thread(Guest& guest);
void keep_thread(Stream& stream);
// The calling guest has taken a remote call out of the pool of those, and cannot carry its hart,
// for it goes on itself.
void leave_remote_call(Stream& stream, Unit& remote_call);
void count_guest(Process& of, int more);

// The domain that a hart goes to with the caller, as the base says; null: none, and a guest who is
// to have it goes on.
Domain* onwards(Process& of, hart::Root* root);

// A carrier, an idle one or a new one, goes on with the hart, which does next what was decided.
// False: none can be had.
bool pass_on(Domain& domain, const Transition& transition);
// An OS thread that is no guest's, for a hart that is about to be passed on; null: none can be had.
// Then it goes with the hart, or is not needed.
HartCall* reserve_carrier(Process& of);
void pass_on_to(HartCall& reserved, Domain& domain);
void forgo_carrier(Process& of, HartCall& reserved);

// A stream's hart becomes the domain's.
void hart_to_domain(Stream& stream, Domain& domain);
// A hart of the domain's goes back, and perhaps on to another domain at once, if the caller can
// take it there. True: the domain has been closed, and that was the last.
bool hart_to_base(Stream& stream, Domain& domain, bool takes_next = true);

// The hart of another domain that the stream has goes on with a carrier, or, where none can be had,
// up to the base.
void send_away(Stream& stream);
// It becomes that of the guest whose OS thread the stream has.
void hand_over_hart(Stream& stream);

// An OS thread that Weft can do without ends, for whoever needs the room more: the sentry, an idle
// carrier, or the reactor. False: there is none. From a unit; may switch.
bool give_up_thread(Process& of, bool& reactor_stood_down);
std::size_t busy_carriers(Process& of);
// The reactor has stood down: it, or the stream that waits to be told, looks at what it was to
// watch.
void watch_again(Process& of);

}   // namespace weft
