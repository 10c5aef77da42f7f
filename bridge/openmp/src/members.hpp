// The members of all teams: hosted units, contexts of one domain of the process. Its harts run whichever has been ready longest.
#pragma once

#include <cstddef>

#include <weft/pool.h>

namespace weft_openmp {

// A new member, which runs body(argument) at once or soon, and never ends. What its stack holds at least: stack_bytes (0: what the C library gives
// threads). Ends the process with libgomp's message where the system gives no thread. The caller is a unit; may switch.
void add_member(void (*body)(void* argument), void* argument, std::size_t stack_bytes);

// Where those of the domain lie that are to be spawned: members, and tasks that are units. Begins the members, if there are none. May switch.
weft_pool* pool_of_members();

// Lets other members run, where any is ready; else the kernel's threads.
void give_way();

// Where the calling unit lives: one that is not a member goes on only on an OS thread of its own (a guest), which may carry a hart of the members while it waits. No number: it is a member.
constexpr unsigned no_home = ~0U;
unsigned home_of_this_unit();
// Such a one is about to be resumed; it has gone on.
void goes_home(unsigned home);
void is_home(unsigned home);

}  // namespace weft_openmp
