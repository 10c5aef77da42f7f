// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "share/guest.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/probe.hpp"
#include "carrier/streams.hpp"
#include "core/finish.hpp"
#include "core/jobs.hpp"
#include "core/spawn.hpp"
#include "core/suspend.hpp"
#include "local/extras.hpp"
#include "local/locals.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"
#include "process/error.hpp"
#include "process/hooks.hpp"
#include "process/housekeeping.hpp"
#include "process/may_end.hpp"
#include "process/process.hpp"
#include "process/registry.hpp"
#include "share/carriers.hpp"
#include "share/domain.hpp"

namespace weft {
namespace {

using GuestPhase = hart::Root::GuestPhase;

// All guests, of any runtime: they belong to their threads. Trivially destructible, since threads
// also end after the destructors have run.
struct Guests {
    os::Lock lock;   // guards what follows, and the beginning of runtimes
    Guest* first = nullptr;
    atomic<std::uint32_t> closed{0};   // a runtime ends
};
constinit Guests guests;

void thread_ends(void* raw) noexcept;

const os::ThreadKey& key() {
    static const os::ThreadKey made(thread_ends);
    return made;
}

// ---- the unit's pool ----------------------------------------------------------------------------

// A unit that is not the guest's was asked to go to the guest's pool: it goes where units go that
// are spawned outside.
void push_elsewhere(Process& of, Unit& unit) {
    Pool& main = *of.streams[0]->levels.main_pool.load();
    if (!pool::try_move(unit, main)) pool::move(unit, *of.initial_pools[0]);   // a push cannot fail
    pool::push(*unit.pool, &unit);
}

// The guest's unit can run.
void push_guest(Guest& guest) {
    const Waking waking(*guest.stream);
    GuestPhase seen = guest.root.guest_phase.load();
    while (!guest.root.guest_phase.compare_exchange_strong(seen, seen == GuestPhase::held      ? GuestPhase::ready
                                                                 : seen == GuestPhase::carries ? GuestPhase::claims
                                                                                               : GuestPhase::wants)) {}
    probe(Probe::guest_wanted);
    if (seen == GuestPhase::held || seen == GuestPhase::carries) {
        ask(*guest.stream, attention::lent);
    } else if (seen == GuestPhase::waits && guest.stream->of->base.admit(guest.root)) {
        admitted(guest);
    }
}

weft_pool_ops pool_table() {
    weft_pool_ops table{};
    table.size = sizeof table;
    table.push = [](void* self, weft_unit* handle) {
        auto& guest = *static_cast<Guest*>(self);
        Unit& unit = *to_unit(handle);
        if (&unit == guest.unit) return push_guest(guest);
        push_elsewhere(*guest.stream->of, unit);
    };
    table.pop = [](void*) -> weft_unit* { return nullptr; };
    table.length = [](const void*) -> std::size_t { return 0; };
    return table;
}

// ---- the stream ---------------------------------------------------------------------------------

weft_status no_memory() { return fail(WEFT_NO_MEMORY, "no memory for a guest"); }

// The calling OS thread gets a stream, with its code as the unit that runs. Under the guests' lock.
weft_status make_stream(Process& of, Guest& guest) {
    Pool* const sent = guest_threads_pool(of);
    Sched* const sched =
        sent == nullptr ? nullptr : sched::create(WEFT_SCHED_BASIC, nullptr, nullptr, const_cast<Pool**>(&sent), 1);
    Pool* const pool = sched == nullptr ? nullptr : pool::create_user(pool_table(), &guest);
    if (sched != nullptr) enlist(of, *sched);
    Stream* stream = nullptr;
    weft_status status = pool == nullptr ? no_memory() : start_stream_here(of, *sched, "guest", &guest, &stream);
    Unit* const unit = stream == nullptr ? nullptr : static_cast<Unit*>(stream->heap->units->take());
    if (unit != nullptr) {
        guest.stream = stream;
        guest.unit = unit;
        guest.pool = pool;
        pool->confined = true;
        // What the unit spawns does not go where its harts come from.
        stream->common = nullptr;
        stream->standard = pool;
        settle_homes(*stream);
        begin_as_unit(of, *stream, *unit, *pool, Unit::primary | Unit::bound);
        std::memcpy(unit->name, "guest", sizeof "guest");
        let_follow_guest(*unit);
        count_guest(of, 1);
        return WEFT_OK;
    }
    if (stream != nullptr) {
        os::set_local(nullptr);
        end_stream_here(of, *stream);
        status = no_memory();
    }
    if (pool != nullptr) pool::destroy(pool);
    if (sched != nullptr) dismiss(of, *sched);
    return status;
}

// The guest is outside, and has no hart. From its thread, or where no thread enters. Under the
// lock.
void drop_stream(Process& of, Guest& guest) {
    wait_for_wakers(*guest.stream);
    Stream& stream = *std::exchange(guest.stream, nullptr);
    guest.root.guest_phase.store(GuestPhase::nothing);
    Unit& unit = *std::exchange(guest.unit, nullptr);
    unit.life.move(State::running, State::done);
    retire(unit);
    stream.units->give(&unit);
    Sched& sched = *stream.levels.main;
    end_stream_here(of, stream);
    dismiss(of, sched);
    pool::destroy(std::exchange(guest.pool, nullptr));
    count_guest(of, -1);
}

// The thread, which is outside, can no longer come in by itself. False: it is inside. Under the
// lock.
bool keep_out(Process& of, Guest& guest) {
    for (GuestPhase seen = guest.root.guest_phase.load();;) {
        if (seen != GuestPhase::outside && seen != GuestPhase::reclaimable) return seen == GuestPhase::nothing;
        if (!guest.root.guest_phase.compare_exchange_strong(seen, GuestPhase::nothing)) continue;
        if (seen == GuestPhase::reclaimable) {
            of.base.put(guest.root, -1);
        } else {
            of.base.forget(guest.root);
        }
        return true;
    }
}

// ---- entering -----------------------------------------------------------------------------------

Guest* make_guest() {
    auto* const guest = os::make<Guest>();
    if (guest == nullptr) return nullptr;
    if (!key().set(guest)) {
        os::destroy(guest);
        return nullptr;
    }
    std::lock_guard guard(guests.lock);
    guest->next = guests.first;
    if (guest->next != nullptr) guest->next->previous = guest;
    guests.first = guest;
    return guest;
}

// Ensures that there is a runtime, and that the guest has a stream in it.
weft_status obtain_stream(Guest& guest) {
    std::unique_lock guard(guests.lock);
    while (guests.closed.load() != 0) {
        guard.unlock();
        os::futex_wait(guests.closed, 1);
        guard.lock();
    }
    if (guest.stream != nullptr) return WEFT_OK;
    if (process_or_null() == nullptr) {
        if (const weft_status status = guest_hooks.start_by_itself(); status != WEFT_OK) return status;
    }
    const weft_status status = make_stream(*process_or_null(), guest);
    if (status == WEFT_OK) {
        os::set_local(nullptr);   // until it is inside
        guest.root.guest_phase.store(GuestPhase::outside);
    }
    return status;
}

// The unit waits for its turn.
[[gnu::noinline]] void wait_for_turn(Stream& stream, Unit& self) {
    detail::leave_to<Leaves::yields>(
        stream, self, nullptr,
        {[](void* raw) { static_cast<Unit*>(raw)->life.move(State::running, State::ready); }, &self}, Unit::at_return);
}

void go_in(Guest& guest) {
    guest.check();
    WEFT_ASSERT(guest.entries == 0 && guest.stream != nullptr);
    os::set_local(guest.stream);
    guest.entries = 1;
}

[[gnu::noinline]] weft_status enter_slow(Guest* guest) {
    if (guest == nullptr) guest = make_guest();
    if (guest == nullptr) return no_memory();
    for (;;) {
        GuestPhase seen = guest->root.guest_phase.load();
        switch (seen) {
        case GuestPhase::reclaimable:
            if (!guest->root.guest_phase.compare_exchange_strong(seen, GuestPhase::held)) continue;
            go_in(*guest);
            return WEFT_OK;
        case GuestPhase::outside:
            if (!guest->root.guest_phase.compare_exchange_strong(seen, GuestPhase::wants)) continue;
            go_in(*guest);
            if (guest->stream->of->base.admit(guest->root)) {
                guest->root.guest_phase.store(GuestPhase::held);
            } else {
                wait_for_turn(*guest->stream, *guest->unit);
            }
            return WEFT_OK;
        default:   // `nothing`: no other phase can be while the thread is outside
            if (const weft_status status = obtain_stream(*guest); status != WEFT_OK) return status;
        }
    }
}

// ---- leaving ------------------------------------------------------------------------------------

// Releases what the unit and its stream have of this stay, which does not wait for the next one.
// May switch.
[[gnu::noinline]] void tidy_up(Guest& guest) {
    Unit& unit = *guest.unit;
    if (unit.marked(Unit::extras)) {
        end_locals(unit);
        unit.unmark(Unit::ending);
        drop_extras(unit, guest.stream);
    }
    Stream& stream = *guest.stream;
    if (unit.has_jobs()) leave_jobs(stream, unit);
    if (std::exchange(guest.has_signal_stack, false)) stream.carrier.signal_stack.step_out();
    hand_over_timers(stream);   // those of units that it has carried
    stream.units->flush();
    stream.heap->extras->flush();
    stream.heap->stacks.flush();
}

bool is_tidy(const Guest& guest) {
    return !guest.has_signal_stack && !guest.unit->jobs_or_marked(Unit::extras) &&
           guest.stream->heap->timers.earliest() == Timers::never;
}

void leave(Guest& guest) {
    guest.check();
    WEFT_ASSERT(guest.entries != 0);
    if (!is_tidy(guest)) [[unlikely]]
        tidy_up(guest);
    hart::Root& root = guest.root;
    guest.entries = 0;
    os::set_local(nullptr);
    if (!root.contended.load()) {
        probe(Probe::guest_leaves);
        root.guest_phase.store(GuestPhase::reclaimable);
        probe(Probe::guest_left_reclaimable);
        if (!root.contended.load()) return;
        GuestPhase seen = GuestPhase::reclaimable;
        if (!root.guest_phase.compare_exchange_strong(seen, GuestPhase::held)) return;   // it has been taken
    }
    guest.stream->of->base.put(root, -1);
    root.guest_phase.store(GuestPhase::outside);
}

// With the guest inside, its runtime has not ended.
void thread_ends(void* raw) noexcept {
    auto& guest = *static_cast<Guest*>(raw);
    if (guest.entries != 0) {
        if (guest.stream->serving.domain != nullptr)
            fatal("an OS thread ends that has registered a domain, and not unregistered it");
        leave(guest);
    }
    {
        std::lock_guard guard(guests.lock);
        if (guest.stream != nullptr) {
            Process& of = *guest.stream->of;
            keep_out(of, guest);
            drop_stream(of, guest);
            idle_hooks.look_anew(of);
        }
        (guest.previous != nullptr ? guest.previous->next : guests.first) = guest.next;
        if (guest.next != nullptr) guest.next->previous = guest.previous;
    }
    os::destroy(&guest);
}

}   // namespace

namespace {

// A unit that is no guest's is inside already: its calls are counted, so that one call too many is
// reported. In a callback there is no unit to count for.
void enter_again() {
    if (Guest* const guest = calling_guest()) {
        ++guest->entries;
    } else if (Unit* const unit = running_or_null()) {
        if (!unit->marked(Unit::untidy)) {
            unit->entries = 0;   // perhaps of an earlier life: it was revived
            unit->mark(Unit::untidy);
        }
        ++unit->entries;
    }
}

weft_status has_not_entered() {
    return fail(
        WEFT_WRONG_STATE,
        "the caller has not entered: each weft_guest_leave belongs to a weft_guest_enter of the same thread or unit");
}

weft_status leave_again() {
    Unit* const unit = running_or_null();
    if (unit == nullptr) return WEFT_OK;
    if (!unit->marked(Unit::untidy) || unit->entries == 0) return has_not_entered();
    --unit->entries;
    return WEFT_OK;
}

// With WEFT_OK the guest has left, if that was its last entry.
weft_status leave_once(Stream& stream, Guest& guest) {
    if (guest.entries == 1) {
        if (stream.serving.domain != nullptr)
            return fail(WEFT_BUSY, "the guest has registered a domain; unregister it first");
        if (!may_end(stream, *guest.unit)) return fail(WEFT_BUSY, "a guest cannot leave between a fork and its join");
        leave(guest);
        return WEFT_OK;
    }
    --guest.entries;
    return WEFT_OK;
}

}   // namespace

weft_status enter_as_guest() noexcept {
    if (current_or_null() != nullptr) {
        enter_again();
        return WEFT_OK;
    }
    auto* const guest = static_cast<Guest*>(key().get());
    GuestPhase seen = GuestPhase::reclaimable;
    if (guest == nullptr || !guest->root.guest_phase.compare_exchange_strong(seen, GuestPhase::held)) [[unlikely]]
        return enter_slow(guest);
    go_in(*guest);
    return WEFT_OK;
}

weft_status leave_as_guest() noexcept {
    Stream* const stream = current_or_null();
    if (stream == nullptr) return has_not_entered();
    Guest* const guest = calling_guest();
    if (guest == nullptr) return leave_again();
    if (guest->entries == guest->inits)
        return fail(WEFT_WRONG_STATE, "the guest is inside by weft_init alone, which weft_finalize undoes");
    return leave_once(*stream, *guest);
}

weft_status finalize_as_guest(Guest& guest) noexcept {
    const weft_status status = leave_once(*guest.stream, guest);
    if (status == WEFT_OK) --guest.inits;
    return status;
}

void wait_in_vain() noexcept {
    if (Guest* const guest = calling_guest()) guest->root.in_vain = true;
}

void admitted(Guest& guest) {
    const Waking waking(*guest.stream);
    guest.admitted = true;
    guest.root.guest_phase.store(GuestPhase::ready);
    probe(Probe::guest_admitted);
    ask(*guest.stream, attention::lent);
}

// ---- the stream's loop --------------------------------------------------------------------------

namespace {

// The guest's hart goes where go() takes it. Its unit may become ready meanwhile, or could have run
// before: then another hart is requested for the guest, after that.
template <class Go>
void take_hart_away(Guest& guest, Go go) {
    hart::Root& root = guest.root;
    go();
    GuestPhase seen = GuestPhase::gives;
    if (!root.guest_phase.compare_exchange_strong(seen, GuestPhase::waits) && guest.stream->of->base.admit(root))
        admitted(guest);
}

// The hart that the guest's unit does not need now is for others. `next` receives the root that is
// to have it at once, or it is null: then the base sees to that. The unit may become ready
// meanwhile: then another hart is requested for it, after that. False: the unit is ready, and has
// its hart.
bool let_go(Guest& guest, hart::Root** next) {
    hart::Root& root = guest.root;
    hart::Base& base = guest.stream->of->base;
    GuestPhase seen = GuestPhase::held;
    if (!root.guest_phase.compare_exchange_strong(seen, GuestPhase::gives)) return seen != GuestPhase::ready;
    probe(Probe::guest_gives);
    take_hart_away(guest, [&] {
        if (next != nullptr) {
            *next = base.release(root);
        } else {
            base.put(root, -1);
        }
    });
    return true;
}

// While others lack a hart. The reactor sees to slices; where it could not be had the guest does.
bool slice_is_over(hart::Base& base, const hart::Root& root) {
    if (!root.contended.load()) return false;
    if (root.to_reclaim.load() == 0 && base.look_at_ns() <= os::now_ns()) base.look();
    return root.to_reclaim.load() != 0;
}

}   // namespace

void guests_hart_to_domain(Guest& guest, Domain& domain) {
    hart::Root& root = guest.root;
    GuestPhase seen = GuestPhase::held;
    // the phase is `ready`: the guest left for the unit that runs
    if (!root.guest_phase.compare_exchange_strong(seen, GuestPhase::gives)) root.guest_phase.store(GuestPhase::wants);
    take_hart_away(guest, [&] {
        bool last;
        domain.of.base.move(root, -1, domain.root, 1, last);   // what it is registered with counts as requested
    });
}

void carries_hart(Guest& guest) {
    GuestPhase seen = GuestPhase::waits;
    guest.root.guest_phase.compare_exchange_strong(
        seen, GuestPhase::carries);   // else it wants one of its own, or has got it
}

void carries_none(Guest& guest) {
    GuestPhase seen = GuestPhase::carries;
    if (guest.root.guest_phase.compare_exchange_strong(seen, GuestPhase::waits) || seen != GuestPhase::claims) return;
    guest.root.guest_phase.store(GuestPhase::wants);
    if (guest.stream->of->base.admit(guest.root)) admitted(guest);
}

bool lend_out(Stream& stream) {
    Guest& guest = *stream.role.guest;
    hart::Root* next = nullptr;
    if (!let_go(guest, &next)) return true;
    if (Domain* const domain = onwards(*stream.of, next)) {
        set_domain(stream, domain);
        ask(stream, attention::lent);
        return true;
    }
    if (!guest.lends) lend_thread(guest);
    return false;
}

bool lends_itself(Stream& stream) {
    Guest& guest = *stream.role.guest;
    if (!let_go(guest, nullptr)) return false;
    if (!guest.lends) lend_thread(guest);
    return true;
}

namespace {

// To step aside wakes two OS threads, each of which takes the kernel tens of microseconds. If the
// guest has got its hart back sooner than this, on average, it keeps the hart more often than not.
constexpr std::uint64_t worth_two_wakeups_ns = 150'000;
constexpr unsigned most_stays = 1024;

bool step_aside(Guest& guest) {
    if (!guest.stream->of->base.lacks()) return false;
    if (guest.stays != 0) {
        --guest.stays;
        return false;
    }
    const std::uint64_t since_ns = os::now_ns();
    guest.steps_aside = true;
    const weft_status status = yield_now();
    if (std::exchange(guest.steps_aside, false) || status != WEFT_OK) return false;
    guest.aside_ns = (7 * guest.aside_ns + os::now_ns() - since_ns) / 8;
    guest.stayed = guest.aside_ns < worth_two_wakeups_ns ? std::min(2 * guest.stayed + 8, most_stays) : 0;
    guest.stays = guest.stayed;
    return true;
}

}   // namespace

bool make_way() {
    Stream* const stream = current_or_null();
    if (stream == nullptr || stream->running == nullptr) return false;
    if (stream->serving.domain == nullptr) {
        Guest* const guest = calling_guest();
        return guest != nullptr && step_aside(*guest);
    }
    hart::Base& base = stream->of->base;
    const bool lacks = base.contended().load(std::memory_order_relaxed) != 0;   // relaxed: a hint
    // wanted: for one thing, the guest whose OS thread this is has a hart again
    if (!lacks && !stream->wanted()) return false;
    Domain* of = stream->serving.domain;
    while (of->parent != nullptr) of = of->parent;
    if (lacks && of->root.to_reclaim.load() == 0 && base.make_way_at_ns() <= os::now_ns()) base.make_way(of->root);
    return yield_now() == WEFT_OK;
}

void stop_lending(Stream& stream) {
    if (Unit* const unit = std::exchange(stream.next_unit, nullptr)) {
        if (unit->has(Unit::internal)) leave_remote_call(stream, *unit);
        else pool::push(*unit->pool, unit);
    }
    if (stream.role.guest->lends) keep_thread(stream);
}

void go_on(Stream& stream) {
    Guest& guest = *stream.role.guest;
    hart::Root& root = guest.root;
    hart::Base& base = stream.of->base;
    const GuestPhase seen = root.guest_phase.load();
    if (seen == GuestPhase::claims) {
        root.guest_phase.store(GuestPhase::held);
        hand_over_hart(stream);
        stop_lending(stream);
        stream.next_unit = guest.unit;
        return;
    }
    if (seen != GuestPhase::ready) return;
    if (stream.serving.domain != nullptr) send_away(stream);
    stop_lending(stream);
    const bool admitted_now = std::exchange(guest.admitted, false);
    if (std::exchange(guest.steps_aside, false)) {
        root.guest_phase.store(GuestPhase::wants);
        hart::Root* const next = base.step_aside(root);
        if (next != &root) {
            if (Domain* const domain = onwards(*stream.of, next)) set_domain(stream, domain);
            return;
        }
    } else if (!admitted_now && slice_is_over(base, root)) {
        // The guest has yielded, or need not wait any more: it goes to the end of the guests that
        // wait for a hart.
        root.guest_phase.store(GuestPhase::wants);
        hart::Root* const next = base.release(root);
        if (base.admit(root)) admitted(guest);
        if (Domain* const domain = onwards(*stream.of, next)) set_domain(stream, domain);
        return;
    }
    root.guest_phase.store(GuestPhase::held);
    stream.next_unit = guest.unit;
}

// ---- the runtime's end --------------------------------------------------------------------------

void mark_guests(Unit::Marks mark) {
    std::lock_guard guard(guests.lock);
    for (Guest* guest = guests.first; guest != nullptr; guest = guest->next) {
        if (guest->unit != nullptr) guest->unit->mark(mark);
    }
}

os::Lock& runtime_start_lock() { return guests.lock; }

bool close_to_guests(Process& of, std::size_t& inside) {
    std::lock_guard guard(guests.lock);
    inside = 0;
    for (Guest* guest = guests.first; guest != nullptr; guest = guest->next) {
        if (guest->stream != nullptr && !keep_out(of, *guest)) ++inside;
    }
    const bool empty = inside == 0;
    guests.closed.store(empty);
    for (Guest* guest = guests.first; guest != nullptr; guest = guest->next) {
        if (guest->stream == nullptr || guest->root.guest_phase.load() != GuestPhase::nothing) continue;
        if (empty) {
            drop_stream(of, *guest);
        } else {
            guest->root.guest_phase.store(GuestPhase::outside);
        }
    }
    return empty;
}

void guests_forked() {
    guests.lock.break_open();
    guests.closed.store(0);
    guests.first = static_cast<Guest*>(key().get());
    Guest* const mine = guests.first;
    if (mine == nullptr) return;
    mine->next = mine->previous = nullptr;
    mine->stream = nullptr;
    mine->unit = nullptr;
    mine->pool = nullptr;
    mine->entries = mine->inits = 0;
    mine->admitted = mine->has_signal_stack = mine->lends = false;
    mine->root.guest_phase.store(GuestPhase::nothing);
    mine->root.asked = 0;
    mine->root.held = mine->root.coming = 0;
    mine->root.in_vain = mine->root.stays = false;
}

void open_to_guests() {
    guests.closed.store(0);
    os::futex_wake(guests.closed, ~0u >> 1);
}

}   // namespace weft
