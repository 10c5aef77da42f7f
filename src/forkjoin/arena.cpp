// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "forkjoin/arena.hpp"

#include <algorithm>
#include <mutex>

#include "arch/arch.hpp"
#include "base/fifo.hpp"
#include "core/jobs.hpp"
#include "hart/quota.hpp"
#include "os/clock.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "share/domain.hpp"

namespace weft {
namespace {

// One call of run_in_arena(), on its caller's stack: the jobs that its forks have published, and
// the contexts that can run.
struct Execution : ArenasJobs {
    Arena& arena;
    Unit& caller;
    const std::size_t most;   // harts that it may have, the caller's included
    Domain* domain = nullptr;
    atomic<bool> asked{false};          // harts for the other contexts
    atomic<bool> over{false};           // fn has returned
    atomic<std::size_t> can_go_on{0};   // contexts, for a check without the lock

    os::Lock ready_lock;   // guards what follows
    Fifo<Unit, &Unit::link> ready;
    bool caller_ready = false;
    bool registrant_looks = false;   // the only stream that may run the caller is looking for work
    unsigned turns = 0;

    Execution(Arena& in, Unit& by) : arena(in), caller(by), most(harts_of(in)) {
        work_came = [](Jobs& here) { static_cast<Execution&>(here).want_harts(); };
        streams.store(most, std::memory_order_relaxed);   // relaxed: no other thread knows it
    }

    // There is something to do, and no hart is looking for it.
    void want_harts() {
        if (most == 1) return;
        // relaxed: it does not become false again
        if (asked.load(std::memory_order_relaxed) || asked.exchange(true)) return kick(*domain);
        request_harts(*domain, static_cast<std::ptrdiff_t>(most - 1));
    }

    // One load, at each switch point. relaxed: a hint.
    bool has_to_go() const {
        return domain->to_reclaim_word().load(std::memory_order_relaxed) != 0 || over.load(std::memory_order_relaxed);
    }

    void go_on_later(Unit& unit) {
        std::lock_guard guard(ready_lock);
        if (&unit == &caller) caller_ready = true;
        else ready.push_back(&unit);
        can_go_on.fetch_add(1);
    }

    // A context that can run, or null. Contexts that have begun come before jobs; but now and then
    // the oldest job has the turn, since a context may yield until that job has been run.
    enum class Turn : bool { may_be_a_jobs, contexts };
    Unit* take_ready(const Stream& stream, Turn whose) {
        constexpr unsigned turn = 16;
        if (can_go_on.load() == 0) return nullptr;
        std::lock_guard guard(ready_lock);
        if (whose == Turn::may_be_a_jobs && ++turns % turn == 0 && any()) return nullptr;
        // Where only one stream may run the caller and is looking, no hart need be sent there.
        const bool may_take_caller =
            domain->registrant_stream == nullptr || domain->registrant_stream == &stream || !registrant_looks;
        Unit* unit;
        if (caller_ready && may_take_caller) {
            caller_ready = false;
            unit = &caller;
        } else {
            unit = ready.pop_front();
            if (unit == nullptr) return nullptr;
        }
        can_go_on.fetch_sub(1);
        return unit;
    }

    Unit* next(Stream& stream) {
        if (Unit* const unit = take_ready(stream, Turn::may_be_a_jobs)) return unit;
        if (Unit* const unit = take_job(stream)) {
            if (any()) tell();   // one hart was woken, and there is something for another
            return unit;
        }
        return take_ready(stream, Turn::contexts);
    }

    // Looks for work for a while, as long as the hart is not wanted elsewhere. Null also where a
    // request to the stream is pending.
    Unit* look_around(Stream& stream) {
        const std::uint64_t spin_ns = stream.of->settings.values.spin_ns;
        if (spin_ns <= 1) return nullptr;
        const BasicSearch<Jobs> search(*this);
        const std::uint64_t begin_ns = os::now_ns();
        do {
            request_steals(stream, false);
            for (int i = 0; i < 32; ++i) arch::pause();
            if (has_to_go() || has_pending_attention(stream) || children_want(*domain)) return nullptr;
            if (Unit* const unit = next(stream)) return unit;
        } while (os::now_ns() - begin_ns < spin_ns);
        return nullptr;
    }

    // look_around(), on the caller's own stream. Meanwhile other streams leave the caller to it.
    Unit* look_around_for_registrant(Stream& stream) {
        const auto set_looking = [&](bool now) {
            std::lock_guard guard(ready_lock);
            registrant_looks = now;
        };
        set_looking(true);
        Unit* const unit = look_around(stream);
        set_looking(false);
        // the streams that have left it the caller may be gone
        return unit != nullptr ? unit : take_ready(stream, Turn::contexts);
    }

    // What the hart does next; null: it goes, or comes again at once.
    Unit* find(Stream& stream) {
        if (Unit* const unit = next(stream)) return unit;
        if (has_pending_attention(stream)) {
            if (any()) kick(*domain);   // it has not checked the jobs: they are for another hart
            return nullptr;
        }
        if (Unit* const unit =
                domain->registrant_stream == &stream ? look_around_for_registrant(stream) : look_around(stream))
            return unit;
        if (has_to_go()) return nullptr;
        request_steals(stream, true);   // from now on a stream that forks publishes the job, and wants a hart
        if (Unit* const unit = next(stream)) return unit;
        if (has_pending_attention(stream)) decide({Transition::What::reenter, nullptr, {}});
        return nullptr;
    }
};

void enter(void* raw) {
    auto& here = *static_cast<Execution*>(raw);
    if (here.has_to_go()) return void(decide({Transition::What::yield, nullptr, {}}));
    if (Unit* const unit = here.find(current())) decide({Transition::What::run, unit, {}});
}

void unblock(void* raw, weft_unit* context) {
    auto& here = *static_cast<Execution*>(raw);
    here.go_on_later(*to_unit(context));
    // A context that yields is the next of the hart that it leaves. A context that a running unit
    // spawns or wakes is for another hart.
    const Stream* const stream = current_or_null();
    if (stream == nullptr || stream->running != nullptr) here.tell();
}

Execution* execution_of(const Stream& stream) {
    const Domain* const domain = stream.serving.domain;
    const bool arena = domain != nullptr && domain->jobs != nullptr && stream.running->pool == domain->pool;
    return arena ? static_cast<Execution*>(domain->self) : nullptr;
}

weft_status execute(Arena& arena, Unit& self, void (*fn)(void*), void* argument) {
    Execution here(arena, self);
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = enter;
    ops.unblock = unblock;
    if (const weft_status status = register_domain(ops, &here, &here.domain, &here); status != WEFT_OK) return status;
    ++self.jobs_out;   // the unit must not end in the middle
    fn(argument);
    --self.jobs_out;
    here.over.store(true, std::memory_order_relaxed);         // relaxed: a hint
    if (here.domain->registrant == nullptr) return WEFT_OK;   // this is the child of a fork: the domain is the parent's
    if (unregister_domain(*here.domain) != WEFT_OK)
        fatal("an arena's domain cannot be unregistered: it has children, or another unit has come back");
    return WEFT_OK;
}

}   // namespace

std::size_t harts_of(const Arena& arena) { return arena.harts != 0 ? arena.harts : hart::limit(); }

Arena* arena_here() {
    Stream* const stream = current_or_null();
    if (stream == nullptr || stream->running == nullptr) return nullptr;
    const Execution* const here = execution_of(*stream);
    return here == nullptr ? nullptr : &here->arena;
}

weft_status run_in_arena(Arena& arena, void (*fn)(void*), void* argument) {
    Unit* const self = running_or_null();
    if (self == nullptr || self->kind == Kind::tasklet)
        return fail(WEFT_WRONG_CONTEXT, "an arena is entered by a ULT; this is none");
    if (arena_here() == &arena) {
        fn(argument);
        return WEFT_OK;
    }
    arena.callers.fetch_add(1);
    const weft_status status = execute(arena, *self, fn, argument);
    arena.callers.fetch_sub(1);
    return status;
}

}   // namespace weft
