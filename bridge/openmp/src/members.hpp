// The members of all teams: hosted units, contexts of one domain of the process. Its harts run whichever has been ready longest.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weft/pool.h>

namespace weft_openmp {

struct Thread;

// A new member, which runs body(argument) at once or soon, and never ends. What its stack holds at least: stack_bytes (0: what the C library gives
// threads). Ends the process with libgomp's message where the system gives no thread. The caller is a unit; may switch.
void add_member(void (*body)(void* argument), void* argument, std::size_t stack_bytes);

// Where those of the domain lie that are to be spawned: members, and tasks that are units. Begins the members, if there are none. May switch.
weft_pool* pool_of_members();

// A tree of teams begins, at a thread that is in none; it has ended.
void begin_tree(const Thread& root);
void end_tree(const Thread& root);
void forget_root(const Thread& root);   // the thread ends

// A guest at the root of a tree of teams whose OS thread carries members while it waits until all of its team have come. As nobody else goes on with a guest, no other
// member is to be found there once it need not wait any more: one that blocks in the kernel, or spins, until that guest does something would do so for ever.
//
// The calling unit is about to wait so. True, if it is such a guest, and there is no other tree: its OS thread carries members from now on.
bool lend_thread();
// It is about to be resumed: its OS thread takes no member any more. It has gone on.
void keep_thread();
void has_thread();
// The number (Team::generation) of the barrier where it waits so. A member that goes on behind that one goes elsewhere: leave_lent_thread.
constexpr std::uint64_t nowhere = ~std::uint64_t{0};
extern std::atomic<std::uint64_t> thread_lent_at;
void leave_lent_thread(std::uint64_t barrier);

// Lets other members run, where any is ready; else the kernel's threads.
void give_way();

}  // namespace weft_openmp
