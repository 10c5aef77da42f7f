// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/jobs.hpp"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "core/make_unit.hpp"
#include "local/own_float.hpp"
#include "process/domain_state.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "process/stream.hpp"

namespace weft {

// ---- publishing ---------------------------------------------------------------------------------

namespace {

// The stack size that the owner asked for, as a class of Unit; 0: the default.
std::uint8_t stack_wanted_by(const Unit& owner) {
    if (owner.has(Unit::user_stack)) return Unit::class_of(owner.stack->bytes).word;
    return static_cast<std::uint8_t>(owner.stack_class());
}

static_assert(alignof(Unit) > PublishedJob::class_bits && Unit::class_bits.word == PublishedJob::class_bits);

// The list where other streams see what the running unit forks. A job that a context of a domain
// forks is its domain's, and shared with no stream if that domain has no list. Any other unit that
// runs on a domain's hart is the application's. Null: nowhere.
Jobs* list_of(const Stream& stream, const Unit& unit) {
    const Domain* const domain = stream.serving.domain;
    return domain != nullptr && unit.pool == domain->pool ? domain->jobs : &stream.of->jobs;
}

// Publishes jobs that have left the stream's list, and are the running unit's.
void publish(const Stream& stream, Unit& owner, OwnJobs::Part part) {
    if (Jobs* const jobs = list_of(stream, owner)) {
        owner.jobs_out += static_cast<std::uint32_t>(part.count);
        if (owner.marked(Unit::careful)) [[unlikely]]
            note_own_float(owner);
        return jobs->publish<OwnJobs>(stream.rank, part, owner, stack_wanted_by(owner));
    }
    for (weft_job* job = part.newest; job != nullptr;) {
        weft_job* const older = OwnJobs::older(*job);
        new (job->kept) PublishedJob(PublishedJob::unstealable);
        job = older;
    }
}

// The unit's first fork since it got the stream.
void begin_jobs(Stream& stream, Unit& unit) {
    WEFT_ASSERT(stream.jobs.empty());
    unit.shape |= Unit::jobs;
    // A joiner that would call the unit it waits for leaves without the check that a switching unit
    // makes: it is to switch instead.
    stream.inline_pool_without_jobs = std::exchange(stream.inline_pool, &Stream::no_pool);
}

// Whether other streams may run what the unit forks.
bool may_publish(const Unit& unit) {
    return !unit.has(Unit::scheduler) && !unit.pool->one_pushes();   // a thief wakes the job's owner, and so pushes
}

// Streams sleep, none is on the way to find something, and there is nothing to be found.
bool somebody_starves(const Jobs& jobs) {
    return jobs.idle_list.anybody() && jobs.searching.load() == 0 && !jobs.any();
}

}   // namespace

void offer(weft_job& job) {
    Stream* const here = current_or_null();
    Unit* const unit = here == nullptr ? nullptr : here->running;
    if (unit == nullptr) {
        new (job.kept) PublishedJob(PublishedJob::unstealable);
        return;
    }
    Stream& stream = *here;
    if (!may_publish(*unit)) {
        new (job.kept) PublishedJob(PublishedJob::unstealable);
        return;
    }
    const bool first = !unit->has_jobs();
    if (first) begin_jobs(stream, *unit);
    const bool steal_requested = stream.jobs.push_and_open(job);
    // The first job is published without a request, where there is a stream to see it: f may be
    // long and fork no more, and the stream that will be idle then has requested nothing yet.
    const Jobs* const jobs = list_of(stream, *unit);
    if (jobs == nullptr) return;
    const bool seen = first && jobs->streams.load(std::memory_order_relaxed) > 1;   // relaxed: a wish
    const bool wanted = steal_requested || seen || somebody_starves(*jobs);
    // Half of them, so that there is something to take for each thief that comes, and the owner
    // keeps something.
    if (wanted) publish(stream, *unit, stream.jobs.take_older_half());
}

void leave_jobs(Stream& stream, Unit& unit) {
    if (!stream.jobs.empty()) publish(stream, unit, stream.jobs.take_all());
    stream.jobs.close();
    unit.shape = unit.shape.without(Unit::jobs);
    stream.inline_pool = stream.inline_pool_without_jobs;
}

// ---- taking -------------------------------------------------------------------------------------

namespace {

// The body of a unit that a job has become.
void run_job(void* raw) {
    auto& job = *static_cast<weft_job*>(raw);
    job.run(&job);
    Unit& self = *current().running;
    --self.jobs_out;
    if (!has_forked(self)) finish_job(job);   // in the child of a fork the owner is the parent process's
}

// Where the unit that the job of `owner` becomes goes if it suspends: where its owner would go,
// unless that pool asks for admission, which might have to wait here. A thief with a deque keeps
// what it has taken from another deque of the family, as it does with units (sched.cpp). Where the
// owner is only lent to its pool for now (a domain's), or bound to a stream, the job may have been
// forked before that, and may wait for longer than the loan lasts: it goes to stream 0, which ends
// last. Under the lock of a list, with which a domain lets its pool go.
Pool& home_of(const Unit& owner, const Stream& thief) {
    if (thief.serving.domain != nullptr) return *thief.serving.domain->pool;   // the owner is a context of it
    Pool& last = *thief.of->streams[0]->levels.main_pool.load();
    Pool& home = owner.has_now(Unit::primary | Unit::bound) ? last : *owner.pool_now();
    const bool deques = home.kind == WEFT_POOL_DEQUE && thief.standard->kind == WEFT_POOL_DEQUE;
    if ((deques && home.owned && thief.standard->owned) || pool::asks(home)) return *thief.standard;
    return home.confined ? last : home;
}

// The cheapest kind that can do what the owner could, with memory for its beginning; null: there is
// none. Under the lock of the job's list.
Unit* unit_for(Stream& stream, weft_job& job) {
    const PublishedJob& published = PublishedJob::of(job);
    const Unit& owner = published.owner();
    const weft_settings& values = stream.of->settings.values;
    Pool& home = home_of(owner, stream);
    if (pool::asks(home)) return nullptr;
    const bool private_home = home.kind == WEFT_POOL_PRIVATE;
    const std::uint8_t wanted = published.stack_class();
    Kind kind = Kind::lsa;
    mem::Stack* stack = nullptr;
    if (owner.kind == Kind::tasklet) {
        kind = Kind::tasklet;
    } else if (wanted == 0 && stream.restartable && values.scheduler_stack_bytes >= values.stack_bytes &&
               (stream.reserve != nullptr ||
                (stream.reserve = stream.heap->stacks.take(values.scheduler_stack_bytes)) != nullptr)) {
        kind = Kind::sc;
    } else if (wanted == 0 && !private_home && stream.spare != nullptr) {
        kind = Kind::roc;
    } else {
        stack = stream.heap->stacks.take(wanted == 0 ? 0 : Unit::least_wanted_bytes << (wanted - 1));
        if (stack == nullptr) return nullptr;
    }
    Unit::InitialHeader initial_header = initial_header_in(home, kind);
    // It begins here, perhaps far from that pool's stream: so it is never local to it, like a unit
    // that has changed its pool.
    initial_header.flags = initial_header.flags.without(Unit::local);
    if (private_home || stack != nullptr) initial_header.flags = initial_header.flags.without(Unit::plain);
    if (stack != nullptr) initial_header.shape |= Unit::Shape{wanted};
    Unit* const unit = make_unit(&stream, home, run_job, &job, initial_header, reinterpret_cast<void*>(job.run));
    if (unit == nullptr) {
        if (stack != nullptr) stream.heap->stacks.give(stack);
        return nullptr;
    }
    unit->stack = stack;
    unit->jobs_out = 1;   // itself
    std::memcpy(unit->name, "job", sizeof "job");
    arch::FloatingPoint owners;
    if (noted_own_float(owner, owners)) [[unlikely]]
        give_own_float(*unit, owners);
    return unit;
}

}   // namespace

Unit* take_job(Stream& stream, bool insists) {
    Jobs* const jobs = stream.job_place.takes_from.load(std::memory_order_relaxed);   // relaxed: its own
    if (jobs == nullptr || !jobs->any()) [[likely]]
        return nullptr;
    if (has_pending_attention(stream)) return nullptr;
    const unsigned from = stream.job_place.random.below(jobs->last_filled());
    Unit* const unit = jobs->look_at_lists(from, insists, [&](JobList& list) -> Unit* {
        weft_job* const job = list.oldest;
        Unit* const made = job == nullptr ? nullptr : unit_for(stream, *job);
        if (made != nullptr) list.unlink(*job);
        return made;
    });
    if (unit == nullptr) return nullptr;
    stream.counters.add(trace::Count::stolen);
    unit->join_state.detach_local();   // no other thread knows it
    if (unit->marked(Unit::observed)) [[unlikely]]
        observe(trace::Event::create, *unit);
    pool::belongs(*unit);
    return unit;
}

weft_job* take_tasklets_job(Jobs& jobs) {
    if (!jobs.any()) return nullptr;
    return jobs.look_at_lists(0, true, [](JobList& list) -> weft_job* {
        weft_job* job = list.oldest;
        while (job != nullptr && PublishedJob::of(*job).owner().kind != Kind::tasklet)
            job = PublishedJob::of(*job).next;
        if (job != nullptr) list.unlink(*job);
        return job;
    });
}

void finish_job(weft_job& job) {
    probe(Probe::job_before_done);
    // acq_rel: pairs with the owner, which reads the state or is woken, and sees what the job has
    // done; and the waiter is seen here.
    PublishedJob::of(job).finish();
}

// ---- steal requests -----------------------------------------------------------------------------

void request_steals(const Stream& thief, bool at_once) {
    Jobs* const jobs = thief.job_place.takes_from.load(std::memory_order_relaxed);   // relaxed: its own
    if (jobs == nullptr) return;
    // relaxed: hints, for the next round of a search. Of many streams that search, one requests.
    if (!at_once && (jobs->all_requested.load(std::memory_order_relaxed) || jobs->any())) return;
    Process& of = *thief.of;
    std::unique_lock guard(of.lock, std::defer_lock);
    if (at_once) guard.lock();
    else if (!guard.try_lock()) return;
    // Before the requests: a stream that answers one later takes it back.
    jobs->all_requested.store(true, std::memory_order_relaxed);
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        Stream* const stream = of.streams[rank];
        // relaxed: a stream that comes there after the check begins a unit, whose first fork is
        // published without a request.
        if (stream != nullptr && stream != &thief &&
            stream->job_place.publishes_to.load(std::memory_order_relaxed) == jobs)
            stream->jobs.request_steal();
    }
}

}   // namespace weft
