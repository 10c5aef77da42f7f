// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "share/domain.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/handles.hpp"
#include "base/probe.hpp"
#include "core/attention.hpp"
#include "core/idle.hpp"
#include "core/jobs.hpp"
#include "core/join.hpp"
#include "core/migrate.hpp"
#include "core/plan.hpp"
#include "core/promote.hpp"
#include "core/resume.hpp"
#include "core/revive.hpp"
#include "core/run.hpp"
#include "core/spawn.hpp"
#include "core/suspend.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "process/error.hpp"
#include "process/housekeeping.hpp"
#include "process/process.hpp"
#include "process/way.hpp"
#include "share/carriers.hpp"
#include "share/guest.hpp"
#include "share/lending.hpp"

namespace weft {
namespace {

using What = Transition::What;

Domain& of_pool(void* self) { return *static_cast<Domain*>(self); }
weft_domain* handle_of(Domain& domain) { return handles::to_handle<weft_domain>(handles::Thing::domain, &domain); }

}   // namespace

// Counts the kick first, then checks `is_idle`: see go_idle().
void kick(Domain& domain) {
    for (Domain* of = &domain; of != nullptr; of = of->parent) {
        of->kicks.fetch_add(1);
        if (of->parent == nullptr) return domain.of.base.kick(of->root);
        of->is_idle.store(false);
    }
}

namespace {

// ---- contexts -----------------------------------------------------------------------------------

// What a domain could know when its `enter` was called.
struct Before {
    std::uint64_t kicks;
    std::uint32_t reclaim_changes;
    bool wanted;

    explicit Before(Domain& domain)
        : kicks(domain.kicks.load()),
          reclaim_changes(domain.reclaim_changes_word().load()),
          wanted(domain.to_reclaim_word().load() != 0) {}
};

// The domain gives a hart back. If it cannot have seen that the hart is wanted, it has found
// nothing to do, and goes idle. A claim that it may have seen was there before, is still there, or
// has been counted since: a claimant first counts the change and then publishes the claim, so this
// function reads them in the opposite order. Both this function and kick() write first and then
// check, seq_cst, so that one sees the other: either the domain is not idle, or it is kicked. If
// the domain may have seen a claim, it may not have looked for something to do. And it may have
// been idle before, when the only context that could run had this hart, or another hart in whose
// place this one has come (send_away).
void go_idle(Domain& domain, const Before& before) {
    if (before.wanted || domain.to_reclaim_word().load() != 0 ||
        domain.reclaim_changes_word().load() != before.reclaim_changes)
        return kick(domain);
    domain.idle_word().store(true);
    if (domain.kicks.load() != before.kicks) domain.idle_word().store(false);
}

// The pool of a domain's contexts: it reports each pushed context to the domain, and nothing ever
// waits here.
weft_pool_ops pool_table() {
    weft_pool_ops table{};
    table.size = sizeof table;
    table.push_with = [](void* self, weft_unit* context, std::uint64_t operation) {
        Domain& domain = of_pool(self);
        domain.ops.unblock(domain.self, context);
        // The hart that a context leaves by a yield is in `enter` next, so no other hart need come,
        // unless that hart goes.
        Stream* const stream = operation == WEFT_POOL_OP_YIELD ? current_or_null() : nullptr;
        if (stream == nullptr || stream->serving.domain != &domain || stream->serving.domain == stream->serving.lender)
            return kick(domain);
        stream->serving.owes_kick = true;
    };
    table.pop = [](void*) -> weft_unit* { return nullptr; };
    table.length = [](const void*) -> std::size_t { return 0; };
    return table;
}

// ---- making and ending --------------------------------------------------------------------------

Domain* make_domain(Process& of, Domain* parent, const weft_domain_ops& ops, void* self) {
    auto* domain = os::make<Domain>(of, parent, ops, self);
    if (domain == nullptr) return nullptr;
    domain->pool = pool::create_user(pool_table(), domain);
    if (domain->pool != nullptr) domain->pool->confined = true;
    domain->sched =
        domain->pool == nullptr ? nullptr : sched::create(WEFT_SCHED_BASIC, nullptr, nullptr, &domain->pool, 1);
    if (domain->sched != nullptr) return domain;
    if (domain->pool != nullptr) pool::destroy(domain->pool);
    os::destroy(domain);
    return nullptr;
}

void drop_domain(Domain& domain) {
    handles::freed(&domain);
    sched::destroy(domain.sched);
    pool::destroy(domain.pool);
    os::destroy(&domain);
}

void join_parent(Domain& domain) {
    if (domain.parent == nullptr) return domain.of.base.join(domain.root);
    Domain& parent = *domain.parent;
    {
        std::lock_guard guard(parent.lock);
        parent.check();
        domain.sibling = parent.children;
        parent.children = &domain;
    }
    if (parent.ops.child_registered != nullptr) parent.ops.child_registered(parent.self, handle_of(domain));
}

void leave_parent(Domain& domain) {
    if (domain.parent == nullptr) return;   // the base has let it go with its last hart
    Domain& parent = *domain.parent;
    if (parent.ops.child_unregistered != nullptr) parent.ops.child_unregistered(parent.self, handle_of(domain));
    std::lock_guard guard(parent.lock);
    parent.check();
    Domain** at = &parent.children;
    while (*at != &domain) at = &(*at)->sibling;
    *at = domain.sibling;
}

// A context that is reported to its domain has the mark `careful` for that. A context whose stack
// needs a check, or that a key may follow, has the mark anyway.
bool wants_a_look(const Unit& unit) {
    return unit.kind == Kind::hosted || has_own_float(unit) || unit.stack->guarded == mem::Guard::canary ||
           following.load() != 0;
}

}   // namespace

void complete(Domain& domain) {
    WEFT_ASSERT(domain.children == nullptr);   // relied on by kick(): a parent outlives its children
    leave_parent(domain);
    Unit& unit = *domain.registrant;
    if (domain.ops.block != nullptr && !wants_a_look(unit)) unit.unmark(Unit::careful);
    Pool& former = *domain.former;
    {
        std::unique_lock guard(domain.of.jobs, std::defer_lock);
        if (unit.jobs_out != 0) guard.lock();   // a thief of a job that it forked before looks at its pool
        take_back_lent(unit, former);
    }
    drop_domain(domain);
    resume_waiting(unit);
}

namespace {

struct Unregistering : Suspension {
    Domain& domain;

    Unregistering(Unit& unit, Domain& of) : Suspension{unit}, domain(of) {}

    // This hart still belongs to the domain, and `enter` gives it back; so the domain stays until
    // then.
    void publish() {
        if (domain.parent == nullptr) return domain.of.base.close(domain.root);
        domain.harts.fetch_or(Domain::closing);
    }
};

[[gnu::noinline]] void wait_for_harts(Domain& domain) {
    Stream& stream = current();
    Unregistering wait(*stream.running, domain);
    suspend(stream, wait, Waits::domain, handle_of(domain));
}

// ---- transitions --------------------------------------------------------------------------------

// A hart comes into a domain with a parent. False: the domain is being unregistered.
bool come_in(Domain& domain) {
    std::uint32_t seen = domain.harts.load();
    while ((seen & Domain::closing) == 0) {
        if (domain.harts.compare_exchange_strong(seen, seen + 1)) return true;
    }
    return false;
}

// The hart goes to the parent. `takes_next`: as for hart_to_base.
void go_up(Stream& stream, Domain& domain, bool takes_next = true) {
    Domain* const parent = domain.parent;
    bool last;
    if (parent == nullptr) {
        last = hart_to_base(stream, domain, takes_next);
    } else {
        set_domain(stream, parent);
        if (parent->ops.child_returned != nullptr) parent->ops.child_returned(parent->self, handle_of(domain));
        last = domain.harts.fetch_sub(1) == (Domain::closing | 1);
    }
    if (last) complete(domain);
}

// A hart of the domain goes into a child. False: `wanted` is not a child, or no longer one, or is
// being unregistered.
bool go_down(Stream& stream, Domain& domain, const Domain* wanted) {
    std::lock_guard guard(domain.lock);   // a child stays as long as it is on the list
    domain.check();
    Domain* child = domain.children;
    while (child != nullptr && child != wanted) child = child->sibling;
    if (child == nullptr || !come_in(*child)) return false;
    set_domain(stream, child);
    return true;
}

// For a domain that has no callback for its children's requests: the child with the fewest harts
// among those that have fewer than they asked for. Under the lock.
Domain* neediest_child(const Domain& domain) {
    if (domain.ops.child_requested != nullptr) return nullptr;
    Domain* best = nullptr;
    for (Domain* child = domain.children; child != nullptr; child = child->sibling) {
        const auto has = static_cast<std::ptrdiff_t>(child->present());
        if (child->asked <= has || child->is_idle.load() || (best != nullptr && child->present() >= best->present()))
            continue;
        best = child;
    }
    return best;
}

// The next time the child's siblings come before it, if they have as little.
void put_last(Domain& domain, Domain& child) {
    Domain** at = &domain.children;
    while (*at != &child) at = &(*at)->sibling;
    *at = child.sibling;
    while (*at != nullptr) at = &(*at)->sibling;
    *at = &child;
    child.sibling = nullptr;
}

// Not where harts of the domain itself are to be reclaimed: it could not give any back as long as
// its children want them.
Domain* child_in_need(Domain& domain) {
    if (domain.to_reclaim_word().load() != 0) return nullptr;
    std::lock_guard guard(domain.lock);
    domain.check();
    Domain* const child = neediest_child(domain);
    if (child == nullptr || !come_in(*child)) return nullptr;
    put_last(domain, *child);
    return child;
}

// The hart that the stream has belongs to another holder from now on. The stream gets another one
// for the scheduler on whose stack this is, if that scheduler had one.
void lose_hart(Stream& stream) {
    Domain* const lender = stream.serving.lender;
    set_domain(stream, lender);
    if (lender == nullptr) return hold_hart(stream);
    for (Domain* at = lender; at != nullptr; at = at->parent) {
        if (at->parent != nullptr) {
            at->harts.fetch_add(1);
            continue;
        }
        at->of.base.take(at->root, 0);   // extra, until others have given theirs back
    }
}

}   // namespace

namespace {

// The hart goes to the parent, and the domain is not asked. A domain above may be idle because a
// child had as many harts as it wanted; it would have been lent another hart when this one had come
// up from that child. So each domain is kicked when it counts this hart itself.
void go_up_unasked(Stream& stream, bool takes_next = true) {
    stream.serving.owes_kick = false;
    kick(*stream.serving.domain);
    go_up(stream, *stream.serving.domain, takes_next);
}

// The hart leaves for the base.
void leave_unasked(Stream& stream, bool takes_next = true) {
    while (stream.serving.domain != nullptr) go_up_unasked(stream, takes_next);
}

}   // namespace

void hand_over_hart(Stream& stream) {
    const Transition made = std::exchange(stream.serving.transition, {});
    if (made.what == What::run) make_ready(&stream, *made.unit);
    stream.serving.owes_kick = false;
    while (stream.serving.domain->parent != nullptr) go_up_unasked(stream);
    Domain& domain = *stream.serving.domain;
    kick(domain);   // as where a hart leaves unasked
    set_domain(stream, nullptr);
    bool last = false;
    domain.of.base.hand_over(domain.root, stream.role.guest->root, last);
    if (last) complete(domain);
}

// The base must not give the hart back at once: that would have no end.
void send_away(Stream& stream) {
    const Transition made = std::exchange(stream.serving.transition, {});
    if (pass_on(*stream.serving.domain, made)) {
        stream.serving.owes_kick = false;   // the hart stays in the domain, which may end now
        return set_domain(stream, nullptr);
    }
    if (made.what == What::run) make_ready(&stream, *made.unit);
    leave_unasked(stream, false);
    give_hart_back(stream);
}

namespace {

// The registrant is to run, on the only stream that may run it: the hart goes there.
void send_to_registrant(Stream& stream, Domain& domain) {
    Stream& registrants = *domain.registrant_stream;
    lose_hart(stream);
    const Waking waking(registrants);
    domain.next_returned = registrants.serving.returned.load();
    while (!registrants.serving.returned.compare_exchange_strong(domain.next_returned, &domain)) {}
    ask(registrants, attention::lent);
    probe(Probe::hart_sent_to_registrant);
    end_waiting_of(registrants);
}

// A hart has come, for the registrant of the domain to run.
void take_to_registrant(Stream& stream, Domain& domain) {
    if (stream.serving.domain != nullptr) {
        send_away(stream);
    } else {
        give_hart_back(stream);
    }
    if (stream.role.guest != nullptr) stop_lending(stream);
    set_domain(stream, &domain);
    stream.serving.transition = {What::run, domain.registrant, {}};
}

// The hart goes, and leaves a context behind that has yielded on it.
void pay_kick(Stream& stream, Domain& domain) {
    if (std::exchange(stream.serving.owes_kick, false)) kick(domain);
}

// Whether units wait that only this stream may run or draw. These include units of the stream's
// main scheduler, in case another scheduler has been pushed above it and the domain's registrant
// was a unit of that other one.
bool own_units_wait(const Stream& stream) {
    if (stream.own != nullptr && !pool::quiet(*stream.own)) return true;
    const auto waits = [](const Pool* pool) {
        return pool->drawers.load() <= Pool::of_one_stream && !pool::quiet(*pool);
    };
    const auto some_wait = [&](const Sched& sched) {
        return std::any_of(sched.pools, sched.pools + sched.count, waits);
    };
    return some_wait(*stream.serving.saved_way.sched) ||
           (stream.serving.saved_way.sched != stream.levels.main && some_wait(*stream.levels.main));
}

// The hart goes as far up as parents lend by themselves, or to the scheduler that serves here, and
// none of the domains below is asked. Step by step it would come down again each time to the first
// child that wants one.
bool go_to_the_top(Stream& stream, Domain& domain) {
    const auto goes_on = [&stream] {
        const Domain* const parent = stream.serving.domain->parent;
        return stream.serving.domain != stream.serving.lender && parent != nullptr &&
               parent->ops.child_requested == nullptr;
    };
    while (goes_on()) go_up_unasked(stream);
    return stream.serving.domain != &domain;
}

// A domain that always has something to run does not deprive the others of a turn: one of its
// contexts may yield until a context of a child or a parent has done something, or a unit of the
// stream's own. The domain is also not asked for the harts that are to be reclaimed from its
// parents. True: the hart has gone to one of those, or is on its way to another OS thread.
bool others_in_turn(Stream& stream, Domain& domain) {
    constexpr std::uint32_t turn = 16;
    // counted by each stream: harts of one domain would write one line at each turn
    if (++stream.serving.turns % turn != 0) return false;
    if (Domain* const child = domain.ops.child_requested == nullptr ? child_in_need(domain) : nullptr) {
        pay_kick(stream, domain);
        set_domain(stream, child);
        return true;
    }
    if (stream.role.hidden || stream.serving.lender != nullptr || !own_units_wait(stream))
        return go_to_the_top(stream, domain);
    // The hart itself goes, which the streams' root may keep for a slice. If a carrier went on with
    // it and the stream took another hart, that hart might be reclaimed before a unit has run.
    leave_unasked(stream);
    return true;
}

// What the hart does next: a context that it runs, or null when the hart has gone elsewhere.
Unit* next_of(Stream& stream, Domain& domain) {
    const Before before(domain);
    if (stream.serving.transition.what == What::open) {
        if (others_in_turn(stream, domain)) return nullptr;
        stream.serving.deciding = true;
        domain.ops.enter(domain.self);
        stream.serving.deciding = false;
    }
    const Transition made = std::exchange(stream.serving.transition, {});
    if (claims_hart(stream)) [[unlikely]] {
        // The hart is the guest's, and goes nowhere else. The chosen context may be one that must
        // not run on the guest's thread.
        if (made.what == What::run) make_ready(&stream, *made.unit);
        if (made.what == What::pass) forgo_carrier(domain.of, *made.carrier);
        return nullptr;
    }
    switch (made.what) {
    case What::run:
        if (made.unit == domain.registrant && domain.registrant_stream != nullptr &&
            domain.registrant_stream != &stream) {
            pay_kick(stream, domain);
            return send_to_registrant(stream, domain), nullptr;
        }
        if (domain.ops.block != nullptr) made.unit->mark(Unit::careful);
        stream.serving.owes_kick = false;
        return made.unit;
    case What::reenter: break;
    case What::enter:
        pay_kick(stream, domain);
        go_down(stream, domain, made.child);
        break;
    case What::pass:
        pass_on_to(*made.carrier, domain);
        stream.serving.owes_kick = false;   // the hart stays in the domain, which may end now
        set_domain(stream, nullptr);
        break;
    case What::open:
    case What::yield:
        pay_kick(stream, domain);
        if (Domain* const child = child_in_need(domain)) {
            set_domain(stream, child);
        } else {
            go_idle(domain, before);
            go_up(stream, domain);
        }
    }
    return nullptr;
}

}   // namespace

bool children_want(Domain& domain) {
    std::lock_guard guard(domain.lock);
    return neediest_child(domain) != nullptr;
}

void set_domain(Stream& stream, Domain* domain) {
    if (stream.serving.domain == stream.serving.lender) {
        stream.serving.saved_way = {stream.sched, stream.direct, stream.common, stream.standard};
        ++stream.levels.depth;
    }
    if (stream.role.guest != nullptr && stream.serving.lender == nullptr &&
        (stream.serving.domain == nullptr) != (domain == nullptr)) {
        if (domain != nullptr) carries_hart(*stream.role.guest);
        else carries_none(*stream.role.guest);
    }
    stream.serving.domain = domain;
    Jobs* const own = stream.only_carries() ? nullptr : &stream.of->jobs;
    // relaxed, both: see request_steals()
    stream.job_place.takes_from.store(domain == nullptr ? own : domain->jobs, std::memory_order_relaxed);
    stream.job_place.publishes_to.store(domain == nullptr ? &stream.of->jobs : domain->jobs, std::memory_order_relaxed);
    Way way = stream.serving.saved_way;
    if (domain != stream.serving.lender) {
        way = {domain->sched, nullptr, nullptr, domain->pool};
    } else {
        --stream.levels.depth;
    }
    take_way(stream, way);
}

namespace {

// The unit that the last unit to run has left in `next_unit`, or null. It waits in its pool where
// it cannot run at once: the hart is another domain's by now, or its next step has already been
// decided.
Unit* take_next_unit(Stream& stream) {
    Unit* const unit = std::exchange(stream.next_unit, nullptr);
    if (unit == nullptr || (stream.serving.transition.what == What::open && !is_out_of_place(stream, *unit)))
        return unit;
    pool::push(*unit->pool, unit);
    return nullptr;
}

}   // namespace

void serve(Stream& stream) {
    if (stream.serving.domain == stream.serving.lender) return;
    stream.serving.under_way = true;
    // the stream was idle, and may be busy here for any time
    if (stream.loop.attended.has(attention::unwatched)) have_timers_watched(stream);
    if (stream.role.guest != nullptr && !std::exchange(stream.role.guest->has_signal_stack, true))
        stream.carrier.signal_stack.enter();
    while (stream.serving.domain != stream.serving.lender) {
        if (stream.wanted()) [[unlikely]]
            attend(stream);
        if (stream.serving.domain == stream.serving.lender) break;
        // `next_unit` comes first: the domain's choice may leave another unit there in its turn,
        // and there is room for one.
        Unit* unit = take_next_unit(stream);
        if (unit == nullptr) unit = next_of(stream, *stream.serving.domain);
        if (unit != nullptr) run_unit(stream, unit);
    }
    stream.serving.under_way = false;
}

void attend_to_domains(Stream& stream) {
    // A scheduler that runs as a unit may have its hart from a domain: arriving domains wait until
    // it is done.
    if (stream.serving.lender != nullptr &&
        (stream.serving.returned.load() != nullptr || stream.role.guest != nullptr)) {
        if (!stream.serving.under_way) serve(stream);
        return;
    }
    unask(stream, attention::lent);
    for (Domain* domain = stream.serving.returned.exchange(nullptr); domain != nullptr;) {
        Domain* const next = domain->next_returned;
        take_to_registrant(stream, *domain);
        domain = next;
    }
    if (stream.role.guest != nullptr) go_on(stream);
    if (!stream.serving.under_way) serve(stream);
}

namespace {

// Registers a domain for the ULT that calls.
weft_status register_inside(const weft_domain_ops& ops, void* self, Domain** made, Jobs* jobs) {
    Stream* const stream = current_or_null();
    Unit* const unit = stream == nullptr ? nullptr : stream->running;
    if (unit == nullptr || unit->kind == Kind::tasklet)
        return fail(WEFT_WRONG_CONTEXT, "a domain is registered by a ULT; this is none");
    WEFT_ASSERT(!is_out_of_place(*stream, *unit));   // so the parent stays: it waits for its contexts
    Domain* const domain = make_domain(*stream->of, stream->serving.domain, ops, self);
    if (domain == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a domain");
    if (unit->is_light()) promote(*stream, *unit);   // its caller no longer has a hart here
    if (unit->has_jobs())
        leave_jobs(*stream, *unit);   // what it has forked is published where it has belonged until now
    domain->jobs = jobs;
    domain->registrant = unit;
    domain->former = unit->pool;
    if (unit->has(Unit::bound)) domain->registrant_stream = stream;
    *made = domain;
    join_parent(*domain);
    lend_unit(*unit, *domain->pool);
    if (domain->parent == nullptr) {
        hart_to_domain(*stream, *domain);
    } else {
        domain->harts.store(1);
        std::lock_guard guard(domain->parent->lock);
        domain->asked = 1;
    }
    set_domain(*stream, domain);
    if (ops.block != nullptr) unit->mark(Unit::careful);
    ask(*stream, attention::lent);
    return WEFT_OK;
}

// A child asks for more or fewer.
void pass_request(Domain& child, std::ptrdiff_t delta) {
    Domain& parent = *child.parent;
    {
        std::lock_guard guard(parent.lock);
        child.asked += delta;
    }
    if (parent.ops.child_requested != nullptr) return parent.ops.child_requested(parent.self, handle_of(child), delta);
    request_harts(parent, delta);
}

// The number of harts that a child has asked for beyond the one that it was registered with.
std::ptrdiff_t open_requests(const Domain& child) {
    std::lock_guard guard(child.parent->lock);
    return child.asked - 1;
}

}   // namespace

weft_status register_domain(const weft_domain_ops& ops, void* self, Domain** made, Jobs* jobs) {
    if (current_or_null() != nullptr) return register_inside(ops, self, made, jobs);
    if (const weft_status status = enter_as_guest(); status != WEFT_OK) return status;
    const weft_status status = register_inside(ops, self, made, jobs);
    if (status == WEFT_OK) {
        (*made)->entered = true;
    } else {
        leave_as_guest();
    }
    return status;
}

Domain* create_domain(Process& of, Domain* parent, const weft_domain_ops& ops, void* self) {
    Domain* const domain = make_domain(of, parent, ops, self);
    if (domain == nullptr) return nullptr;
    {
        std::lock_guard guard(of.lock);
        domain->next_created = std::exchange(of.created, domain);
    }
    join_parent(*domain);
    return domain;
}

void drop_created(Process& of) {
    while (Domain* const domain = of.created) {
        of.created = domain->next_created;
        drop_domain(*domain);
    }
}

void tell_created_of_end(const Process& of) {
    for (const Domain* domain = of.created; domain != nullptr; domain = domain->next_created) {
        if (domain->ops.ended != nullptr) domain->ops.ended(domain->self);
    }
}

bool is_idle_context(Process& of, Unit& unit) {
    for (const Domain* domain = of.created; domain != nullptr; domain = domain->next_created) {
        if (domain->pool == unit.pool)
            return domain->ops.idle != nullptr && domain->ops.idle(domain->self, to_handle(&unit));
    }
    return false;
}

weft_status unregister_domain(Domain& domain) {
    const Unit* const self = running_or_null();
    if (self == nullptr || self != domain.registrant)
        return fail(WEFT_WRONG_CONTEXT, "a domain is unregistered by the ULT that has registered it");
    {
        std::lock_guard guard(domain.lock);
        if (domain.children != nullptr) return fail(WEFT_BUSY, "the domain has children; they are unregistered first");
    }
    if (domain.parent != nullptr) {   // the base forgets the requests of its own children
        if (const std::ptrdiff_t open = open_requests(domain); open != 0) pass_request(domain, -open);
    }
    const bool entered = domain.entered;
    wait_for_harts(domain);
    if (entered) leave_as_guest();
    return WEFT_OK;
}

void request_harts(Domain& domain, std::ptrdiff_t delta) {
    if (domain.parent == nullptr) {
        if (delta == 0) return kick(domain);        // without the base's lock, where the domain is not idle
        if (delta > 0) domain.kicks.fetch_add(1);   // as in kick(), which the request is, too
        return domain.of.base.request(domain.root, delta);
    }
    if (delta >= 0) kick(domain);
    pass_request(domain, delta);
}

namespace {

weft_status may_decide(const Stream* stream) {
    if (stream == nullptr || !stream->serving.deciding)
        return fail(WEFT_WRONG_CONTEXT,
                    "nothing is to be decided here: only in `enter` and in what weft_context_pause calls");
    if (stream->serving.transition.what != What::open)
        return fail(WEFT_WRONG_STATE, "what this hart does next has been decided already");
    return WEFT_OK;
}

weft_status is_context_here(const Stream* stream, const Unit& context) {
    if (stream != nullptr && stream->serving.domain != nullptr && context.pool_now() == stream->serving.domain->pool)
        return WEFT_OK;
    return fail(WEFT_WRONG_STATE, "unit %llu is no context of the domain that has this hart",
                static_cast<unsigned long long>(context.id));
}

}   // namespace

weft_status decide(const Transition& transition) {
    Stream* const stream = current_or_null();
    if (const weft_status status = may_decide(stream); status != WEFT_OK) return status;
    stream->serving.transition = transition;
    return WEFT_OK;
}

weft_status decide_to_pass() {
    Stream* const stream = current_or_null();
    if (const weft_status status = may_decide(stream); status != WEFT_OK) return status;
    if (stream->role.guest == nullptr)
        return fail(WEFT_WRONG_STATE, "an OS thread of the runtime's has this hart already; weft_guest_here tells");
    HartCall* const carrier = reserve_carrier(*stream->of);
    if (carrier == nullptr)
        return fail(WEFT_SYSTEM,
                    "there is no other OS thread for this hart, and the kernel starts none (see ulimit -u and the "
                    "cgroup's pids.max)");
    stream->serving.transition.what = What::pass;
    stream->serving.transition.carrier = carrier;
    return WEFT_OK;
}

weft_status make_context(void* stack, std::size_t stack_bytes, const void* site, Unit** made) {
    Stream* const stream = current_or_null();
    if (stream == nullptr || stream->serving.domain == nullptr)
        return fail(WEFT_WRONG_CONTEXT, "a context belongs to the domain whose hart makes it; this is none's");
    weft_unit_options options{};
    options.size = sizeof options;
    options.kind = stack == nullptr ? WEFT_KIND_LSA : WEFT_KIND_FULL;
    options.stack = stack;
    options.stack_bytes = stack_bytes;
    Plan wanted;
    if (const weft_status status = plan(&options, false, wanted); status != WEFT_OK) return status;
    Unit* const unit = make_unit(stream, *stream->serving.domain->pool, nullptr, nullptr,
                                 initial_header_in(*stream->serving.domain->pool, wanted.kind), site);
    if (unit == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a context");
    if (const weft_status status = furnish(stream, *unit, wanted); status != WEFT_OK) return status;
    if (unit->marked(Unit::observed)) observe(trace::Event::create, *unit);
    *made = unit;
    return WEFT_OK;
}

void drop_context(Unit& context) {
    context.join_state.reset();
    give_back(current_or_null(), context);
}

weft_status run_context(Unit& context, void (*body)(void*), void* argument) {
    Stream* const stream = current_or_null();
    if (const weft_status status = is_context_here(stream, context); status != WEFT_OK) return status;
    const bool again = context.join_state.done();
    if (!again && (!context.life.is(State::ready) || context.context != nullptr)) {
        return fail(WEFT_WRONG_STATE, "context %llu has started and not ended",
                    static_cast<unsigned long long>(context.id));
    }
    if (const weft_status status = may_decide(stream); status != WEFT_OK) return status;
    if (again) {
        if (const weft_status status =
                revive(context, *stream->serving.domain->pool, body, argument, nullptr, Revived::held);
            status != WEFT_OK)
            return status;
    } else {
        context.body = body;
        context.argument = argument;
        // the context had it already without a body
        if (context.marked(Unit::untidy) && has_own_float(context)) give_own_float(context);
    }
    return decide({What::run, &context, {}});
}

namespace {

weft_status claim_context(Stream& stream, Unit& context) {
    // checked first: to claim without success is a wasted atomic operation
    if (context.life.is(State::ready)) return WEFT_OK;
    if (!context.life.claim()) {
        return fail(WEFT_WRONG_STATE, "context %llu cannot go on: it waits for something else, or has ended",
                    static_cast<unsigned long long>(context.id));
    }
    stream.counters.add(trace::Count::resumed);   // it had suspended, and no thread has resumed it
    return WEFT_OK;
}

}   // namespace

weft_status resume_context(Unit& context) {
    Stream* const stream = current_or_null();
    if (const weft_status status = is_context_here(stream, context); status != WEFT_OK) return status;
    if (const weft_status status = may_decide(stream); status != WEFT_OK) return status;
    if (const weft_status status = claim_context(*stream, context); status != WEFT_OK) return status;
    return decide({What::run, &context, {}});
}

weft_status take_successor(Stream& stream, Unit& context, Unit*& next) {
    if (const weft_status status = is_context_here(&stream, context); status != WEFT_OK) return status;
    if (const weft_status status = claim_context(stream, context); status != WEFT_OK) return status;
    const Domain& domain = *stream.serving.domain;
    next = nullptr;
    // relaxed: as wanted()
    if (stream.asked(std::memory_order_relaxed).without(attention::leisurely).any() || claims_hart(stream) ||
        &context == domain.registrant) [[unlikely]] {
        // the hart may be taken away, or may not run the registrant: the domain decides
        make_ready(&stream, context);
    } else if (stream.wanted()) [[unlikely]] {
        stream.serving.transition = {What::run, &context, {}};
    } else {
        if (domain.ops.block != nullptr) context.mark(Unit::careful);
        next = &context;
    }
    return WEFT_OK;
}

}   // namespace weft
