// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose iterations a team divides at run time.
#pragma once

#include <cstdint>

#include "share.hpp"

namespace weft_openmp {

// Fills in a share: a loop over [start, end) by step. chunk 0: none was given.
void make_loop(Thread& me, Share& share, Schedule schedule, long start, long end, long step, long chunk, bool ordered);
void make_loop(Thread& me, Share& share, Schedule schedule, bool up, unsigned long long start, unsigned long long end,
               unsigned long long step, unsigned long long chunk, bool ordered);
// The thread's next chunk, as values of the loop's variable: from *first to before *last. False:
// there is none.
template <class Value>
bool next_chunk(Thread& me, Value* first, Value* last);

// A team that begins with a loop, which is made before its threads are.
void begin_with_loop(Team& team, Schedule schedule, long start, long end, long step, long chunk);

// What a construct has besides its iterations: reductions of its tasks, and zeroed memory that its
// threads share (*memory: its size at first). Null: none.
void make_extras(Thread& me, std::uintptr_t* reductions, void** memory);
void take_extras(Thread& me, std::uintptr_t* reductions, void** memory);

// Reductions of tasks (reduction.cpp), in words in which the compiler describes them. This function
// adds where the copies lie. It makes copies for `threads` threads, in memory that it returns.
void* make_reductions(std::uintptr_t* words, unsigned threads);
// The task begins a group with these reductions.
void enter_reductions(struct Task& task, std::uintptr_t* words);
// The thread begins a group with the reductions of its construct. The first function makes the
// copies, for the other threads as well; the second uses the copies that another thread has made.
void enter_made_reductions(Thread& me, std::uintptr_t* words);
void enter_shared_reductions(Thread& me, std::uintptr_t* words);

}   // namespace weft_openmp
