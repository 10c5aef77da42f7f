// Seams for stacks: what a signal needs, what has been touched, what faults.
#pragma once

#include <cstddef>

namespace weft::os {

// What the kernel may need on a stack to deliver a signal.
std::size_t signal_frame_bytes();

// The lowest address in [lowest, lowest + bytes), a range of whole pages, whose page is in memory;
// its end when there is none. A page that was swapped out counts as not in memory.
char* lowest_resident(char* lowest, std::size_t bytes);

// Whether reading there (aligned to 4) faults, as the kernel sees it; without faulting.
bool unreadable(const void* address);

// The calling OS thread's alternate signal stack. set: false: it has one already, or the kernel
// refused. remove: when it is still the one at `memory`; false: it is not.
bool signal_stack_set(void* memory, std::size_t bytes);
bool signal_stack_remove(void* memory);

}   // namespace weft::os
