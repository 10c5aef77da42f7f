// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seams for stacks: how much a signal needs, which pages have been touched, which addresses fault.
#pragma once

#include <cstddef>

namespace weft::os {

// What the kernel may need on a stack to deliver a signal.
std::size_t signal_frame_bytes();

// The lowest address in [lowest, lowest + bytes), a range of whole pages, whose page is in memory;
// the end of the range when there is none. A page that was swapped out counts as not in memory.
char* lowest_resident(char* lowest, std::size_t bytes);

// Whether a read at `address` (aligned to 4) faults, as the kernel sees it; without faulting.
bool unreadable(const void* address);

// The calling OS thread's alternate signal stack. set: false: the thread has one already, or the
// kernel refused. remove: only if it is still the one at `memory`; false: it is not.
bool signal_stack_set(void* memory, std::size_t bytes);
bool signal_stack_remove(void* memory);

}   // namespace weft::os
