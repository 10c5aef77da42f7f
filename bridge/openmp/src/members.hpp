// The members of all teams: hosted units, contexts of one domain of the process. Its harts run
// whichever has been ready longest.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/pool.h>

namespace weft_openmp {

struct TeamPool;
struct WaitingRow;

// New members of the team pool, one for each argument, which run body(argument) at once or soon,
// and never end. What a stack holds at least: stack_bytes (0: what the C library gives threads).
// Ends the process with libgomp's message where the system gives no thread. The caller is a unit.
void add_members(void (*body)(void* argument), const std::vector<void*>& arguments, TeamPool& team_pool,
                 std::size_t stack_bytes);
// So many of a team pool have nothing to do any more but to leave it, and end: where OS threads are
// limited, others have theirs then.
void dismiss_members(unsigned count);
// By a member, which ends: its team pool may be gone before it is.
void leave_team_pool();

// Where those of the domain lie that are to be spawned: members, and tasks that are units. Begins
// the members, if there are none.
weft_pool* pool_of_members();

// Whoever carries the calling hart, by a small number that several may have. By whatever runs
// there: callbacks of Weft's, members.
unsigned this_hart();

// Members that wait, linked to each other, can go on: the hart of that number is the first to look
// for them. They are suspended until a hart goes on with them. ask_for_harts() is to follow.
void make_ready(unsigned hart, const WaitingRow& row);
void ask_for_harts();

// Whether the calling member is on a hart of theirs, and not on one of a domain that it has gone
// into.
bool among_members();

// Some are ready, and no hart has come to them yet.
bool members_are_behind();

// Lets other members run, where any is ready; else the kernel's threads.
void give_way();

}   // namespace weft_openmp
