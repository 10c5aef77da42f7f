// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The members of all teams: hosted units, contexts of a domain below the base. Threads that are
// contexts of a domain that lasts (weft_domain_lasting_set), such as TBB's workers, have theirs in
// a domain below that one: a hart that one of them leaves while it waits for its team gets to the
// team directly. ready.hpp says which hart of a domain runs which member.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/pool.h>

namespace weft_openmp {

struct Members;   // of one domain
struct TeamPool;
struct Thread;
struct WaitingRow;

// The members that the calling thread's teams are to have, created if there are none. For a thread
// that is no member itself.
Members& members_of_caller(const Thread& me);

// New members of the team pool, one for each argument, which run body(argument) at once or soon,
// until the team pool is dismissed. stack_bytes: what a stack holds at least (0: what the C library
// gives threads). Ends the process with libgomp's message where the system gives no thread. The
// caller is a unit.
void add_members(void (*body)(void* argument), const std::vector<void*>& arguments, TeamPool& team_pool,
                 std::size_t stack_bytes);
// `count` members of a team pool have nothing left to do but to leave it and end. Where OS threads
// are limited, other teams get theirs then.
void dismiss_members(unsigned count);
// Called by a member, which ends: its team pool may be gone before the member is.
void leave_team_pool();

// Where tasks that are units are spawned.
weft_pool* pool_for_tasks(Members& members);

// A small number for the stream that carries the calling hart; several streams may share it. For
// whatever runs there: callbacks from Weft, members.
unsigned this_hart();

// The members of the row, which wait, can go on: the hart of that number checks for them first.
// They stay suspended until a hart goes on with them. A call of ask_for_harts() is to follow.
void make_ready(const TeamPool& team_pool, unsigned hart, const WaitingRow& row);
void ask_for_harts(const TeamPool& team_pool);

// Whether the calling member is on a hart of the members' domain, and not on a hart of a domain
// that it has entered.
bool among(const Members& members);

// Whether members are ready to which no hart has come yet.
bool members_are_behind();

// Lets other members run, where any is ready; else other threads of the kernel.
void give_way();

}   // namespace weft_openmp
