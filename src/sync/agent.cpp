// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/agent.hpp"

#include <optional>

#include "hart/quota.hpp"
#include "os/clock.hpp"
#include "process/housekeeping.hpp"
#include "process/outside_wait.hpp"
#include "share/guest.hpp"
#include "sync/objects.hpp"

namespace weft::sync {
namespace {

// An agent's deadline.
struct Deadline : Timer {
    Agent& agent;

    Deadline(Agent& of, std::uint64_t at_ns) : agent(of) {
        deadline_ns = at_ns;
        claim = [](Timer& timer) { return static_cast<Deadline&>(timer).agent.win(Agent::too_late); };
        fire = [](Timer& timer) { static_cast<Deadline&>(timer).agent.wake(Waker()); };
    }
};

// A unit that stood and spun goes to sleep, unless it has been woken.
struct FallAsleep : Suspension {
    Agent& agent;

    explicit FallAsleep(Agent& of) : Suspension{*of.unit}, agent(of) {}

    void publish() {
        std::uint32_t seen = Agent::standing;
        // acq_rel: the release pairs with the exchange in wake(), whose caller needs the saved
        // context; the acquire, when it fails, with the same, for what the waker wrote.
        if (agent.stance.compare_exchange_strong(seen, Agent::asleep, std::memory_order_acq_rel,
                                                 std::memory_order_acquire))
            return;
        resume_waiting(self);
    }
};

[[gnu::noinline]] void fall_asleep(Stream& stream, Agent& agent, Waits what, const void* object) {
    FallAsleep request(agent);
    suspend(stream, request, what, object);
}

}   // namespace

// "wait for a ..."
static const char* what_of(Waits waits) { return waits == Waits::time ? "time" : name_of(waits); }

weft_status may_not_wait(Caller caller, Waits what) {
    if (caller.unit != nullptr) {
        return fail(WEFT_WRONG_KIND, "a tasklet runs to completion and cannot wait for a %s; make it a ULT",
                    what_of(what));
    }
    return fail(WEFT_WRONG_CONTEXT,
                "a scheduler or a callback of the runtime cannot wait for a %s; only units and OS threads can",
                what_of(what));
}

void Agent::wake(Waker from) {
    Unit* const sleeper = unit;   // read before: the agent continues, and may be gone, once it sees that it is woken
    // acq_rel: the release pairs with the loads and the compare-and-swap of the agent, which reads
    // what the waker wrote; the acquire with the same compare-and-swap, for the saved context.
    const std::uint32_t stood = stance.exchange(woken, std::memory_order_acq_rel);
    WEFT_ASSERT(stood != woken);   // one thread has claimed it, and wakes it once
    if (stood != asleep) return;
    if (sleeper == nullptr) return os::futex_wake(stance, 1);
    sleeper->life.move(State::waiting, State::ready);
    resume_claimed(from.stream, *sleeper);
}

bool Agent::park_thread(std::uint64_t deadline_ns) {
    std::uint32_t seen = standing;
    // relaxed when it succeeds: nothing is released; acquire when it fails: pairs with wake().
    if (!stance.compare_exchange_strong(seen, asleep, std::memory_order_acquire, std::memory_order_acquire))
        return true;
    for (;;) {
        std::uint64_t left = forever;
        if (deadline_ns != forever) {
            const std::uint64_t now_ns = os::now_ns();
            left = now_ns < deadline_ns ? deadline_ns - now_ns : 0;
            // Lost: the thread that has claimed it is about to wake it.
            if (left == 0 && win(too_late)) return false;
            if (left == 0) left = forever;
        }
        std::optional<OutsideWait> outside;
        if (left == forever) outside.emplace();
        os::futex_wait(stance, asleep, left);
        if (stance.load(std::memory_order_acquire) == woken) return true;   // acquire: pairs with wake()
    }
}

bool Agent::park(std::uint64_t deadline_ns, Waits what, const void* object) {
    // acquire: pairs with wake().
    const auto come = [this] { return stance.load(std::memory_order_acquire) == woken; };
    if (unit == nullptr) return park_thread(deadline_ns);
    if (come()) return winner.load(std::memory_order_relaxed) != too_late;   // relaxed: settled before it was woken
    Deadline deadline(*this, deadline_ns);
    Stream& stream = current();
    if (deadline_ns != forever) {
        unit->waits_until_ns = deadline_ns;
        arm(stream, deadline);
    }
    if (!worth_spinning(stream) || !spin_until(come)) fall_asleep(current(), *this, what, object);
    if (deadline_ns != forever) {
        Timers::cancel(deadline);
        unit->waits_until_ns = 0;
    }
    return winner.load(std::memory_order_relaxed) != too_late;   // relaxed: settled before it was woken
}

[[gnu::noinline]] void stay(Stream& stream, Unit& self, Unit* next) {
    if (self.marked(Unit::observed)) observe(trace::Event::resume, self);   // its wait has been reported
    if (next == nullptr) return;
    stream.counters.add(trace::Count::yielded);
    detail::leave_to<Leaves::yields>(stream, self, next, {detail::requeue<pool::From::resumed>, &self},
                                     Unit::after_wait);
}

weft_status wake_elsewhere(Stream* stream, Unit& unit) noexcept {
    resume_claimed(stream, unit);
    return WEFT_OK;
}

bool still_idle(Stream& stream) {
    // relaxed: as Stream::wanted(). That the stream is observed gives it nothing to do.
    const bool wanted = stream.asked(std::memory_order_relaxed).without(attention::observing).any();
    const bool guest = stream.role.guest != nullptr && stream.running == stream.role.guest->unit;
    return !wanted && !(guest && is_wanted_elsewhere(stream)) && sched::quiet(*stream.sched) &&
           (stream.own == nullptr || pool::quiet(*stream.own));
}

bool worth_spinning(const Stream& stream) {
    const Process& of = *stream.of;
    // Alone there is nothing to wait for but OS threads and timers, which take longer.
    const std::size_t granted = of.base.granted();
    if (granted < 2 || spin_ns(stream) <= 1 || granted > hart::limit()) return false;
    return still_idle(const_cast<Stream&>(stream));
}

bool others_have_harts(const Caller& caller) {
    const Process* of = process_or_null();
    return of == nullptr || of->base.granted() > (caller.thread() ? 0u : 1u);
}

std::uint64_t spin_ns(const Stream& stream) { return stream.of->settings.values.spin_ns; }

}   // namespace weft::sync
