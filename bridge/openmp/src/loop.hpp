// Loops whose iterations a team shares out at run time.
#pragma once

#include <cstdint>

#include "share.hpp"

namespace weft_openmp {

// Fills a share in: a loop over [start, end) by step. chunk 0: none was said.
void make_loop(Thread& me, Share& share, Schedule schedule, long start, long end, long step, long chunk, bool ordered);
void make_loop(Thread& me, Share& share, Schedule schedule, bool up, unsigned long long start, unsigned long long end,
               unsigned long long step, unsigned long long chunk, bool ordered);
// The thread's next chunk, as values of the loop's variable: from *first to before *last. False:
// there is none.
template <class Value>
bool next_chunk(Thread& me, Value* first, Value* last);

// A team that begins with a loop, made before its threads are.
void begin_with_loop(Team& team, Schedule schedule, long start, long end, long step, long chunk);

// What comes with a construct beside its iterations: reductions of its tasks, and zeroed memory
// that its threads share (*memory: its size at first). Null: none.
void make_extras(Thread& me, std::uintptr_t* reductions, void** memory);
void take_extras(Thread& me, std::uintptr_t* reductions, void** memory);

// Reductions of tasks (reduction.cpp), as the compiler describes them in words, to which this adds
// where the copies lie. Makes copies for `threads` threads, in memory that it returns.
void* make_reductions(std::uintptr_t* words, unsigned threads);
// The task begins a group with them.
void enter_reductions(struct Task& task, std::uintptr_t* words);
// The thread begins a group with those of the construct that it is in, and makes the copies for the
// others; or takes what another one has made.
void enter_made_reductions(Thread& me, std::uintptr_t* words);
void enter_shared_reductions(Thread& me, std::uintptr_t* words);

}   // namespace weft_openmp
