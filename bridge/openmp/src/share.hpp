// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Worksharing constructs: what the threads of a team share in each construct, and where each thread
// is in it.
//
// All threads pass all constructs in the same order, each at its own pace, so the constructs form a
// list. The first thread to arrive makes the next node. A thread that needs a node and has none
// left takes back the nodes that all threads have passed, many at a time. A loop's iterations are
// counted from 0, in 64 bits, whatever its variable is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "icv.hpp"
#include "wait.hpp"

namespace weft_openmp {

struct Team;
struct Thread;
struct Doacross;

struct Share {
    enum : std::uint32_t { fresh, being_made, made };

    alignas(128) std::atomic<Share*> next{nullptr};
    std::uint64_t number = 0;                  // in the team's list
    std::atomic<std::uint32_t> state{fresh};   // for a share that is made where all can see it
    // For loops and sections, filled in by the thread that makes the share.
    alignas(64) Schedule schedule = Schedule::is_static;
    bool ordered = false;
    bool up = true;
    bool simple = false;                          // see LoopPlace
    bool extras = false;                          // one of the members that follow `turn` was used
    std::uint64_t iterations = 0, chunk = 1;      // chunk 0: static, one part for each thread
    std::uint64_t start = 0, end = 0, step = 0;   // of the loop's variable
    // the first iteration that no thread has taken; alone in two lines, which are fetched together
    alignas(128) std::atomic<std::uint64_t> cursor{0};
    std::byte apart[128 - sizeof(std::atomic<std::uint64_t>)] = {};
    std::atomic<std::uint64_t> turn{0};   // of an ordered loop: the iteration whose chunk may enter
    std::atomic<void*> copied{nullptr};   // copyprivate
    void* reductions = nullptr;           // memory for the copies of its task reductions
    Doacross* doacross = nullptr;
    void* memory = nullptr;   // zeroed, for the compiler's use
    std::size_t memory_bytes = 0;
    Sleepers sleepers;   // wait until it is made, or for their turn
};

// Where a thread is in a loop.
struct LoopPlace {
    std::uint64_t first = 0, last = 0;   // its chunk's iterations; last is excluded
    std::uint64_t trips = 0;             // chunks that it has taken of a static schedule
    bool taken = false;                  // there is a chunk
    bool over = false;                   // there are no more chunks
    // dynamic, and its chunks are taken by an addition alone: then the share is also in
    // simple_loop, while its thread runs in it
    bool simple = false;
};

// The thread goes on to the next construct. Whether it is the first there: then it is to fill in
// the share, and to call share_made.
bool enter_share(Thread& me);
void share_made(Share& share);
// As enter_share(), where fill(share) does all that is to be done, and may be called for nothing:
// the first thread to arrive has filled in the share before others see it. Whether this thread was
// the first.
template <class Fill>
bool enter_filled_share(Thread& me, Fill fill);
// Whether this thread is the first at a construct that has nothing to share: single. These
// constructs are counted, apart from the list.
bool first_at_single(Thread& me);
// Zeroed memory of that size, which lives as long as the share.
void* memory_of(Team& team, Share& share, std::size_t bytes);
// For a region that begins with a construct: all its threads are in that construct at once.
Share& begin_with_share(Team& team);
// Called at a region's begin and end.
void start_shares(Team& team);
void end_shares(Team& team);
// Called at the team's end.
void free_all_shares(Team& team);

// Frees the doacross of a share (loop.cpp).
void free_doacross(Doacross* doacross);

}   // namespace weft_openmp
