// The members of all teams: hosted units, contexts of one domain of the process. Its harts run whichever has been ready longest.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/pool.h>

namespace weft_openmp {

struct Crew;

// New members of the crew, one for each argument, which run body(argument) at once or soon, and never end. What a stack
// holds at least: stack_bytes (0: what the C library gives threads). Ends the process with libgomp's message where the
// system gives no thread. The caller is a unit; may switch.
void add_members(void (*body)(void* argument), const std::vector<void*>& arguments, const Crew& crew,
                 std::size_t stack_bytes);
// By a member, which ends: its crew may be gone before it is.
void leave_crew();

// Where those of the domain lie that are to be spawned: members, and tasks that are units. Begins the members, if there are none. May switch.
weft_pool* pool_of_members();

// Lets other members run, where any is ready; else the kernel's threads.
void give_way();

}  // namespace weft_openmp
