// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/fork.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/handles.hpp"
#include "carrier/streams.hpp"
#include "core/migrate.hpp"
#include "hart/quota.hpp"
#include "hart/topology.hpp"
#include "inspect/dump.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "os/fork.hpp"
#include "process/domain_state.hpp"
#include "process/outside_wait.hpp"
#include "process/process.hpp"
#include "runtime/runtime.hpp"
#include "share/guest.hpp"
#include "share/hosted.hpp"
#include "unit/crowd.hpp"
#include "unit/extras.hpp"

namespace weft {
namespace {

// The parents' runtimes, which are never freed: leak checkers find them here.
Process* left_behind = nullptr;

// Mends the library's state outside the runtime. An OS thread that no longer exists may hold these
// locks.
void mend_statics(const Process* old) {
    if (old != nullptr && old->bound_once) os::affinity_set(0, old->cpus);   // the child is no bound stream
    if (old != nullptr && old->observing) initial_headers.set(false);
    hart::quota_forked();
    hart::topology_forked();
    keys_forked();
    if constexpr (config::checked) handles::book_forked();
    guests_forked();
    moves_forked();
    crowds_forked();
    os::threads_forked();
    if (OutsideWait::count.load() != 0) OutsideWait::count.store(0);
}

Settings settings_of_child(const Process& old) {
    Settings chosen = old.settings;
    chosen.values.streams = 1;
    chosen.values.trace = nullptr;   // the parent's files
    chosen.counters = nullptr;
    return chosen;
}

// Not WEFT_OK: no memory, and everything stays as it is.
weft_status begin_child(const Process& old, Process& made, Stream** zero) {
    made.cpus = old.cpus;
    // a runtime that has started by itself may have none, and the child's has a primary unit
    made.nesting = std::max(1u, old.nesting);
    made.heaps_made = old.heaps_made;   // so that no new unit gets the id of one that continues, or of the parent's
    made.outside = make_heap(made);
    begin_rescue(made);
    if (made.outside == nullptr) return WEFT_NO_MEMORY;
    const weft_status status = start_stream_zero(made, zero);
    if (status == WEFT_OK) begin_sentry(made);
    return status;
}

// The unit's published jobs that no stream has taken become its own again. A list may be in the
// middle of a change, but each step of a change leaves the path from the oldest to the newest
// intact.
void take_jobs_back(const Jobs& jobs, Unit& unit) {
    for (unsigned i = 0; i < jobs.list_count; ++i) {
        for (weft_job* job = jobs.lists[i].oldest; job != nullptr;) {
            PublishedJob& published = PublishedJob::of(*job);
            job = published.next;
            if (&published.owner() != &unit || published.state.load() != PublishedJob::available) continue;
            published.state.store(PublishedJob::unstealable);
            --unit.jobs_out;
        }
    }
}

// The unit may have published some before it entered an arena.
void take_jobs_back(const Process& old, const Stream& from, Unit& unit) {
    if (unit.jobs_out == 0) return;
    take_jobs_back(old.jobs, unit);
    for (const Domain* domain = from.serving.domain; domain != nullptr; domain = domain->parent) {
        if (domain->jobs != nullptr) take_jobs_back(*domain->jobs, unit);
    }
}

// The domains that the hart was in no longer exist: no registrant waits for their harts.
void leave_domains(Stream& from) {
    for (Domain* domain = from.serving.domain; domain != nullptr; domain = domain->parent) domain->registrant = nullptr;
}

// The unit's caller does not continue, so the unit becomes a ULT on its current stack, and its end
// is the child's.
void cut_loose(const Stream& from, Unit& unit) {
    if (unit.kind == Kind::hosted) become_thread(unit);
    if (unit.kind == Kind::tasklet) unit.kind = Kind::full;
    if (unit.stack == nullptr) unit.stack = from.sched_context.stack;   // on which the scheduler has called the unit
    unit.shape = unit.shape.without(Unit::light | Unit::called);
    unit.mark(Unit::untidy);   // a tasklet that its joiner has called checks this before it returns there
}

// Nothing in the parent process requests anything of this unit any more, or waits for it.
void forget_others(Unit& unit) {
    unit.join_state.reset();
    unit.unmark(Unit::requests | Unit::observed);
    Extras* const extras = extras_of(unit);
    if (extras == nullptr) return unit.unmark(Unit::extras);   // a thread that was about to add some is gone
    extras->lock.break_open();
    extras->target = nullptr;
}

// The unit that forked continues as the primary one of a new runtime. False: there is no memory for
// that.
bool go_on(Process& old, Stream& from, Unit& unit, bool on_thread) {
    auto* const made = os::make<Runtime>(settings_of_child(old), false);
    if (made == nullptr) return false;
    set_process(made);
    Stream* zero = nullptr;
    const bool roams = on_thread && made->settings.values.roaming_primary;
    Pool* pool = nullptr;
    if (begin_child(old, *made, &zero) != WEFT_OK || begin_own_float(*made) != WEFT_OK ||
        (pool = primary_pool(*zero, roams)) == nullptr) {
        set_process(nullptr);
        os::set_local(&from);
        return false;
    }
    if (on_thread) unit.stack = &zero->carrier.stack;
    zero->jobs.take_over(from.jobs);
    begin_primary(*made, *zero, unit, *pool, roams);
    made->inherited = &unit;
    zero->carrier.own.floating_point = from.carrier.own.floating_point;
    const bool followed = is_followed(unit);
    if (followed) unit.mark(Unit::careful);   // a tasklet had no need of the mark
    if (is_in_own_float(unit) || followed) zero->inline_pool = &Stream::no_pool;
    if (unit.has_jobs()) zero->inline_pool_without_jobs = std::exchange(zero->inline_pool, &Stream::no_pool);
    dumps_forked(made);
    return true;
}

void unit_forked(Process& old, Stream& from, Unit& unit) {
    // A thread's own stack outlives the runtime, and the child may also outlive the runtime. A
    // primary unit that roams may have left its thread, not its stack.
    const bool on_thread = unit.stack == &from.carrier.stack || (unit.has(Unit::primary) && !has_forked(unit));
    cut_loose(from, unit);
    forget_others(unit);
    take_jobs_back(old, from, unit);
    leave_domains(from);
    unit.flags = (unit.flags & Unit::user_stack) | Unit::primary;
    forked_unit = on_thread ? nullptr : &unit;
    if (go_on(old, from, unit, on_thread)) return;
    dumps_forked(nullptr);   // without memory the child may replace its program, or end: that works without a runtime
}

// In the child, before fork() returns there.
void forked() {
    os::prepare_process_barrier_again();
    Process* const old = process_or_null();
    mend_statics(old);
    if (old == nullptr) return;
    old->left_behind = std::exchange(left_behind, old);
    set_process(nullptr);
    Stream* const stream = current_or_null();
    Unit* const unit = stream == nullptr ? nullptr : stream->running;
    if (unit != nullptr && !unit->has(Unit::scheduler)) return unit_forked(*old, *stream, *unit);
    os::set_local(nullptr);
    dumps_forked(nullptr);
}

}   // namespace

bool prepare_forks() {
    static const bool prepared = os::at_fork(forked);
    return prepared;
}

void end_child() {
    if (Process* const of = process_or_null()) run_out(*of);
    std::exit(0);
}

}   // namespace weft
