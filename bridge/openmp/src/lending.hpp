// The OS thread of a guest, which carries members while the guest waits.
//
// Nobody else goes on with a guest, so a member that blocks in the kernel there, or spins, until that guest does something would do so for ever. It carries members, therefore, only while the
// guest waits until all of its team have come, at the root of the only tree of teams: until then it does nothing that they could wait for. Elsewhere, and from then on,
// the hart goes on with another OS thread (doc/decisions/0033-lent-threads.md).
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/unit.h>

namespace weft_openmp {

struct Thread;

// A tree of teams begins, at a thread that is in none; it has ended.
void begin_tree(const Thread& root);
void end_tree(const Thread& root);
void forget_root(const Thread& root);   // the thread ends

// The calling unit is about to wait so. True, if it is such a guest: its OS thread carries members from now on.
bool lend_thread();
// It is about to be resumed: its OS thread takes no member any more. It has gone on.
void keep_thread();
void has_thread();
// The number (Team::generation) of the barrier where it waits so. A member that goes on behind that one goes elsewhere: leave_lent_thread.
constexpr std::uint64_t nowhere = ~std::uint64_t{0};
extern std::atomic<std::uint64_t> thread_lent_at;
void leave_lent_thread(std::uint64_t barrier);

// For `enter`, on that guest's OS thread: whether it may carry a member, and whether it does.
bool lends_thread(weft_unit* guest);
void carries_member(bool does);
// Whether the guest can go on but for its OS thread, which carries a member. That thread's hart is to be the guest's then: another one would lie idle until that has switched.
bool thread_is_awaited();

}  // namespace weft_openmp
