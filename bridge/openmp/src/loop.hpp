// Loops whose iterations a team shares out at run time.
#pragma once

#include <cstdint>

#include "share.hpp"

namespace weft_openmp {

// Fills a share in: a loop over [start, end) by step. chunk 0: none was said.
void make_loop(Thread& me, Share& share, Schedule schedule, long start, long end, long step, long chunk, bool ordered);
void make_loop(Thread& me, Share& share, Schedule schedule, bool up, unsigned long long start, unsigned long long end, unsigned long long step,
               unsigned long long chunk, bool ordered);
// The thread's next chunk, as values of the loop's variable: from *first to before *last. False: there is none.
template <class Value>
bool next_chunk(Thread& me, Value* first, Value* last);

// A team that begins with a loop, made before its threads are.
void begin_with_loop(Team& team, Schedule schedule, long start, long end, long step, long chunk);

// What comes with a construct beside its iterations: reductions of its tasks, and zeroed memory that its threads share (*memory: its size at first). Null: none.
void make_extras(Thread& me, std::uintptr_t* reductions, void** memory);
void take_extras(Thread& me, std::uintptr_t* reductions, void** memory);

// Reductions of tasks (reduction.cpp). The description is the compiler's; what make_reductions adds is for `threads` threads.
void make_reductions(Thread& me, std::uintptr_t* reductions, unsigned threads);
void share_reductions(std::uintptr_t* mine, const std::uintptr_t* made);
// The task begins a group with them.
void enter_reductions(struct Task& task, std::uintptr_t* reductions);

}  // namespace weft_openmp
