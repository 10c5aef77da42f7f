// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "forkjoin/spmd.hpp"

#include <mutex>

#include "base/fifo.hpp"
#include "core/finish.hpp"
#include "core/resume.hpp"
#include "core/suspend.hpp"
#include "os/memory.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "share/domain.hpp"

namespace weft {
namespace {

struct Team;

// The place where members are spawned, as their descriptors have it: it distinguishes them from
// other units of the domain.
constinit const char members_place = 0;

struct Member {
    Team* team;
    std::size_t number;
    Unit* context;
};

struct Team {
    void (*fn)(void*);
    void* argument;
    std::size_t count;
    Member* members;
    Unit* caller;
    Domain* domain = nullptr;
    atomic<std::size_t> left;   // members that have not returned, and the caller until it waits

    os::Lock lock;                   // guards what follows
    Fifo<Unit, &Unit::link> ready;   // contexts that can run
    std::size_t begun = 0;
    unsigned turns = 0;

    Team(std::size_t of, void (*call)(void*), void* with, Unit& by)
        : fn(call), argument(with), count(of), caller(&by), left(of + 1) {}

    // The context that continues, or begins, on the hart that has come; null: none. A context that
    // can continue comes before one that begins, except now and then, so that a member that yields
    // until another has done something does not keep that other from beginning.
    Unit* next(Member** begins) {
        constexpr unsigned turn = 16;
        std::lock_guard guard(lock);
        const bool new_one = begun != count && (ready.empty() || ++turns % turn == 0);
        if (!new_one) return ready.pop_front();
        *begins = &members[begun++];
        return (*begins)->context;
    }

    // The last call of this function wakes the caller of the team.
    void done() {
        if (left.fetch_sub(1) != 1) return;
        resume_waiting(*caller);
    }
};

void member_main(void* raw) {
    const auto& self = *static_cast<const Member*>(raw);
    Team& team = *self.team;
    team.fn(team.argument);
    if (has_forked(*current().running)) return;   // the other members are the parent's
    team.done();                                  // the team stays until this hart has left it
}

void enter(void* raw) {
    auto& team = *static_cast<Team*>(raw);
    // relaxed: a hint.
    if (team.domain->to_reclaim_word().load(std::memory_order_relaxed) != 0)
        return void(decide({Transition::What::yield, nullptr, {}}));
    Member* begins = nullptr;
    Unit* const unit = team.next(&begins);
    if (begins != nullptr) {
        run_context(*unit, member_main, begins);
    } else if (unit != nullptr) {
        resume_context(*unit);
    }
}

void unblock(void* raw, weft_unit* context) {
    auto& team = *static_cast<Team*>(raw);
    std::lock_guard guard(team.lock);
    team.ready.push_back(to_unit(context));
}

struct TeamWait : Suspension {
    Team& team;

    TeamWait(Unit& unit, Team& of) : Suspension{unit}, team(of) {}
    void publish() { team.done(); }
};

[[gnu::noinline]] void wait_for_members(Team& team) {
    Stream& stream = current();
    TeamWait wait(*stream.running, team);
    suspend(stream, wait, Waits::members, team.domain);
}

// Makes all of them, or none.
weft_status make_members(Team& team) {
    for (std::size_t i = 0; i < team.count; ++i) {
        team.members[i] = {&team, i, nullptr};
        const weft_status status = make_context(nullptr, 0, &members_place, &team.members[i].context);
        if (status == WEFT_OK) {
            team.members[i].context->join_state.detach_local();   // no other thread knows it yet
            continue;
        }
        while (i-- != 0) drop_context(*team.members[i].context);
        return status;
    }
    return WEFT_OK;
}

}   // namespace

weft_status run_team(std::size_t count, void (*fn)(void*), void* argument) {
    Stream* const stream = current_or_null();
    Unit* const self = stream == nullptr ? nullptr : stream->running;
    if (self == nullptr || self->kind == Kind::tasklet)
        return fail(WEFT_WRONG_CONTEXT, "a team is called by a ULT, which waits for it; this is none");
    if (count == 0) return WEFT_OK;
    Team team(count, fn, argument, *self);
    team.members = static_cast<Member*>(os::allocate(count * sizeof(Member)));
    if (team.members == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a team of %zu", count);
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = enter;
    ops.unblock = unblock;
    weft_status status = register_domain(ops, &team, &team.domain);
    if (status == WEFT_OK) {
        status = make_members(team);
        if (status == WEFT_OK) {
            // the caller waits, and leaves its own hart
            request_harts(*team.domain, static_cast<std::ptrdiff_t>(count - 1));
            wait_for_members(team);
        } else {
            team.count = 0;   // none begins
        }
        if (unregister_domain(*team.domain) != WEFT_OK) fatal("a team's domain cannot be unregistered");
    }
    os::release(team.members);
    return status;
}

bool team_place(std::size_t& number, std::size_t& count) {
    const Unit* const self = running_or_null();
    if (self == nullptr || self->spawned_at() != &members_place) return false;
    const auto& member = *static_cast<const Member*>(self->argument);
    number = member.number;
    count = member.team->count;
    return true;
}

}   // namespace weft
