// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "share/carriers.hpp"

#include <algorithm>
#include <mutex>

#include "base/probe.hpp"
#include "carrier/sentry.hpp"
#include "carrier/streams.hpp"
#include "hart/quota.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "process/registry.hpp"
#include "share/domain.hpp"
#include "share/guest.hpp"
#include "share/lending.hpp"
#include "share/rescue.hpp"

namespace weft {

// A hart on its way to a root: a remote call in the carriers' pool.
struct HartCall {
    Unit remote_call;
    Carriers* by;
    Domain* to;
    Transition transition;   // what the hart does there first
};

namespace {

// One object is kept for the next call: most of the time one hart is on its way at once, and an
// allocation takes a good part of that time.
HartCall* make_hart_call(Process& of) {
    HartCall* const kept = of.carriers.spare.exchange(nullptr);
    if (kept == nullptr) return os::make<HartCall>();
    return new (kept) HartCall();
}

void give_hart_call(Process& of, HartCall& sent) {
    HartCall* none = nullptr;
    if (!of.carriers.spare.compare_exchange_strong(none, &sent)) os::destroy(&sent);
}

HartCall& hart_call_of(Unit& remote_call) { return *static_cast<HartCall*>(remote_call.argument); }

// The hart is in its domain, with the calling stream.
void bring(Stream& stream, HartCall& sent) {
    set_domain(stream, sent.to);
    stream.serving.transition = sent.transition;
    give_hart_call(*stream.of, sent);
}

// A hart has come with the OS thread of a guest that is to run itself. The hart goes on with
// another thread, or back.
void send_on(Stream& stream, HartCall& sent) {
    bring(stream, sent);
    send_away(stream);
    carrier_is_free(stream.of->guest_threads);
}

// Serves with the hart that the calling carrier has brought, until the hart goes back to the base.
void arrive(void* raw) {
    auto& sent = *static_cast<HartCall*>(raw);
    Stream& stream = current();
    if (stream.role.guest != nullptr && !lends_itself(stream)) return leave_remote_call(stream, sent.remote_call);
    Carriers& by = *sent.by;
    bring(stream, sent);
    serve(stream);
    carrier_is_free(by);
    probe(Probe::carrier_free);
}

// Under the lock, as are the functions that follow.
Pool* obtain_pool(Carriers& by) {
    if (by.remote_calls == nullptr) {
        Pool* const made = make_pool(by.of, WEFT_POOL_SHARED);
        if (made == nullptr) return nullptr;
        made->remote_calls = true;
        enlist(by.of, *made);
        by.remote_calls = made;
    }
    return by.remote_calls;
}

// Between two attempts to start a carrier, after the kernel has refused.
constexpr std::uint64_t patience_ns = 1'000'000;

// Starts one more carrier, which is not busy yet.
bool start_carrier(Carriers& by) {
    Process& of = by.of;
    if (by.patient_until_ns != 0 && os::now_ns() < by.patient_until_ns) return false;
    Pool* const sent = obtain_pool(by);
    Sched* const sched =
        sent == nullptr ? nullptr : sched::create(WEFT_SCHED_BASIC, nullptr, nullptr, const_cast<Pool**>(&sent), 1);
    if (sched == nullptr) return false;
    enlist(of, *sched);
    Stream* stream;
    if (start_stream(of, *sched, nullptr, by.name, &stream, of.default_kind, nullptr, true) == WEFT_OK) {
        by.patient_until_ns = 0;
        ++by.count;
        ++by.started;
        return true;
    }
    dismiss(of, *sched);
    by.refused.fetch_add(1);
    by.patient_until_ns = os::now_ns() + patience_ns;
    return false;
}

// For carriers that take harts: whether a carrier that is counted as busy has given its hart back,
// and looks for remote calls next. A remote call holds one of the harts that are granted, and each
// of the harts that the other carriers have is a different one.
bool one_comes_soon(const Carriers& by) {
    return by.what == Carriers::What::harts && by.count != 0 && by.count >= by.of.base.granted();
}

// One more carrier is busy: an idle or a new one. False: there is none, and none can be started.
bool engage_carrier(Carriers& by, bool starts) {
    by.check();
    if (by.closed) return false;
    if (by.busy >= by.count && (!starts || (!one_comes_soon(by) && !start_carrier(by)))) return false;
    ++by.busy;
    return true;
}

// With the lock of `by` held, or where a carrier has been engaged.
void send_to(Carriers& by, Unit& remote_call, void (*body)(void*), void* argument) {
    remote_call.body = body;
    remote_call.argument = argument;
    remote_call.kind = Kind::tasklet;
    remote_call.flags = Unit::internal;
    remote_call.pool = by.remote_calls;
    pool::push(*by.remote_calls, &remote_call);
}

void send_hart_to(Carriers& by, HartCall& sent, Domain& domain, const Transition& transition) {
    sent.by = &by;
    sent.to = &domain;
    sent.transition = transition;
    send_to(by, sent.remote_call, arrive, &sent);
}

// False: no OS thread of `by` is idle, and none is started. Sent under the lock: a guest that runs
// on finds that its thread is counted on, and finds the remote call with it (keep_thread).
bool send_hart_by(Carriers& by, bool starts, HartCall& sent, Domain& domain, const Transition& transition) {
    std::lock_guard guard(by.lock);
    if (!engage_carrier(by, starts)) return false;
    send_hart_to(by, sent, domain, transition);
    return true;
}

// Brings the hart to its root: a stream, a carrier or a guest comes for it. False: none can be had.
bool send_hart(hart::Root& root, void* raw) {
    auto& of = *static_cast<Process*>(raw);
    if (&root == &of.streams_root) return end_waiting(of);
    if (!root.guest) return pass_on(hart::RootOf<Domain>::of(root), {});
    admitted(hart::RootOf<Guest>::of(root));
    return true;
}

}   // namespace

Carriers::~Carriers() {
    if (spare.load() != nullptr) os::destroy(spare.load());
}

Pool* guest_threads_pool(Process& of) {
    std::lock_guard guard(of.guest_threads.lock);
    return obtain_pool(of.guest_threads);
}

void count_guest(Process& of, int more) {
    std::lock_guard guard(of.guest_threads.lock);
    of.guests.fetch_add(static_cast<std::size_t>(more));
    of.guest_threads.count += static_cast<std::size_t>(more);
    of.guest_threads.busy += static_cast<std::size_t>(more);
}

void lend_thread(Guest& guest) {
    guest.lends = true;
    carrier_is_free(guest.stream->of->guest_threads);
}

// The remote call may be for another guest, whose thread is counted on. If there is no such guest
// any more, no thread would find the call: the guest has looked for it while the caller had it.
void leave_remote_call(Stream& stream, Unit& remote_call) {
    Carriers& threads = stream.of->guest_threads;
    {
        std::lock_guard guard(threads.lock);
        if (threads.busy <= threads.count) return pool::push(*threads.remote_calls, &remote_call);
    }
    send_on(stream, hart_call_of(remote_call));
}

void keep_thread(Stream& stream) {
    Carriers& threads = stream.of->guest_threads;
    stream.role.guest->lends = false;
    {
        std::lock_guard guard(threads.lock);
        if (++threads.busy <= threads.count) return;
    }
    // A hart is on its way for which this thread was counted on.
    Unit* const remote_call = pool::pop(*threads.remote_calls);
    if (remote_call == nullptr) return;   // another thread has come for it
    send_on(stream, hart_call_of(*remote_call));
}

Domain* onwards(Process& of, hart::Root* root) {
    if (root == nullptr) return nullptr;
    if (!root->guest && root != &of.streams_root) return &hart::RootOf<Domain>::of(*root);
    if (!send_hart(*root, &of)) of.base.put(*root, 0);
    return nullptr;
}

hart::Base::Hooks base_hooks(Process& of) {
    return {
        .limit = hart::limit,
        .now_ns = os::now_ns,
        .send = send_hart,
        .closed = [](hart::Root& root, void*) { complete(hart::RootOf<Domain>::of(root)); },
        .notify = [](hart::Root& root,
                     void* raw) { ask_to_step_aside(*static_cast<Process*>(raw), root.to_reclaim.load()); },
        .watch = [](std::uint64_t deadline_ns, void* raw) { static_cast<Process*>(raw)->reactor.watch(deadline_ns); },
        .lacking = [](void* raw) { wake_watchdog(*static_cast<Process*>(raw)); },
        .argument = &of};
}

bool send_remote_call(Carriers& by, Unit& remote_call, void (*body)(void*), void* argument) {
    std::lock_guard guard(by.lock);
    if (!engage_carrier(by, true)) return false;
    send_to(by, remote_call, body, argument);
    return true;
}

void carrier_is_free(Carriers& by) {
    {
        std::lock_guard guard(by.lock);
        by.check();
        WEFT_ASSERT(by.busy != 0);
        --by.busy;
    }
    if (by.what != Carriers::What::rescue) by.of.base.thread_is_free();
}

bool leave_carriers(const Stream& carrier) {
    Process& of = *carrier.of;
    Pool* const remote_calls = carrier.levels.main->pools[0];
    for (Carriers* by : {&of.carriers, &of.rescue.carriers}) {
        std::lock_guard guard(by->lock);
        if (by->remote_calls != remote_calls) continue;
        if (by->busy >= by->count) return false;
        --by->count;
    }
    return true;
}

// An OS thread that Weft has started runs any code, and comes before the thread of a guest, which
// may not; and that comes before a new thread is started.
bool pass_on(Domain& domain, const Transition& transition) {
    Process& of = domain.of;
    HartCall* const sent = make_hart_call(of);
    if (sent == nullptr) return false;
    if (send_hart_by(of.carriers, false, *sent, domain, transition) ||
        send_hart_by(of.guest_threads, false, *sent, domain, transition) ||
        send_hart_by(of.carriers, true, *sent, domain, transition)) {
        return true;
    }
    give_hart_call(of, *sent);
    return false;
}

namespace {

struct Retiring {
    Unit remote_call;
    Carriers* by;
    Stream* carrier = nullptr;
    atomic<std::uint32_t> told{0};
};

// An idle carrier's last remote call.
void retire(void* raw) {
    auto& one = *static_cast<Retiring*>(raw);
    Stream& stream = current();
    // Units that this carrier has carried sleep on its timers. Stream 0 would otherwise see to
    // them, but may have no OS thread and get none.
    const bool stays = stream.heap->timers.earliest() != Timers::never;
    {
        std::lock_guard guard(one.by->lock);
        --one.by->busy;
        if (!stays) {
            --one.by->count;
            one.by->patient_until_ns = os::now_ns() + Reactor::room_ns;
        }
    }
    if (!stays) {
        // remote calls that come now are for the other carriers, and one of them may be the last of
        // another
        ask(stream, attention::abandon);
        stream.ending.freeing.store(true);
        one.carrier = &stream;
    }
    atomic<std::uint32_t>& told = one.told;
    told.store(1);
    os::futex_wake(told, 1);   // needs the address only: the waiter may be gone
    probe(Probe::carrier_told);
}

bool send_last_remote_call(Carriers& by, Retiring& one) {
    std::lock_guard guard(by.lock);
    if (!engage_carrier(by, false)) return false;
    send_to(by, one.remote_call, retire, &one);
    return true;
}

bool retire_carrier(Carriers& by) {
    Retiring one;
    one.by = &by;
    if (send_last_remote_call(by, one)) {
        while (one.told.load() == 0) os::futex_wait(one.told, 0);
        if (one.carrier != nullptr) end_stream(*one.carrier);
    }
    return one.carrier != nullptr;
}

}   // namespace

bool give_up_thread(Process& of, bool& reactor_stood_down) {
    if (end_sentry(of) || retire_carrier(of.carriers) || retire_carrier(of.rescue.carriers)) return true;
    // With descriptors, waiters depend on events that the reactor alone receives.
    if (of.pollers.live() != 0 || !of.reactor.stand_down()) return false;
    reactor_stood_down = true;
    return true;
}

std::size_t busy_carriers(Process& of) {
    std::lock_guard guard(of.carriers.lock);
    return std::min(of.carriers.busy, of.carriers.count);
}

void watch_again(Process& of) {
    if (of.reactor.stand_up()) return;
    std::lock_guard guard(of.lock);
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        Stream* const stream = of.streams[rank];
        if (stream != nullptr && stream->carrier.thread_id.load() != 0) ask(*stream, attention::alarm);
    }
}

HartCall* reserve_carrier(Process& of) {
    HartCall* const sent = make_hart_call(of);
    if (sent == nullptr) return nullptr;
    {
        std::lock_guard guard(of.carriers.lock);
        if (engage_carrier(of.carriers, true)) return sent;
    }
    give_hart_call(of, *sent);
    return nullptr;
}

void pass_on_to(HartCall& reserved, Domain& domain) { send_hart_to(domain.of.carriers, reserved, domain, {}); }

void forgo_carrier(Process& of, HartCall& reserved) {
    give_hart_call(of, reserved);
    carrier_is_free(of.carriers);
}

void hart_to_domain(Stream& stream, Domain& domain) {
    if (stream.role.guest != nullptr) return guests_hart_to_domain(*stream.role.guest, domain);
    stream.holds_hart = false;
    bool last;
    // the hart that the domain is registered with counts as requested
    domain.of.base.move(domain.of.streams_root, -1, domain.root, 1, last);
}

bool hart_to_base(Stream& stream, Domain& domain, bool takes_next) {
    Process& of = domain.of;
    bool last = false;
    if (stream.only_carries()) {
        set_domain(stream, nullptr);
        hart::Root* const next = of.base.give_back(domain.root, last, takes_next);
        if (Domain* const to = onwards(of, next)) set_domain(stream, to);
    } else {
        set_domain(stream, nullptr);
        of.base.move(domain.root, 0, of.streams_root, 1, last);
        stream.holds_hart = true;
    }
    return last;
}

}   // namespace weft
