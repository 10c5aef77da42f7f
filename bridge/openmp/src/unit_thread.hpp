// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Native units as OpenMP threads. A hosted unit and an OS thread have thread-local memory of their
// own, where their records are found. Many native units run with that of one OS thread. So a native
// unit that meets OpenMP has a value under a key that follows it (weft/local.h). By that value the
// words that the routines read (this_thread_or_null and those beside it) are the running unit's at
// all times.
//
// Such a unit has a record (Thread), with team pools, only while it needs one. Between its regions,
// while others run, it keeps only its control variables. Records go from unit to unit.
#pragma once

#include <cstdint>

namespace weft_openmp {

struct Icv;
struct Thread;

// A unit's value under the key.
struct OfUnit {
    enum class What : unsigned char {
        native,     // a unit with a record of its own
        task,       // a task that is a unit (unit_task.cpp)
        os_thread   // the primary unit, whose record is its OS thread's
    };
    What what = What::native;
    Thread* thread = nullptr;       // of a native unit: null while it needs none
    const Icv* icv = nullptr;       // of a native unit, meanwhile
    std::uint32_t old_number = 0;   // in locks of OpenMP 2.5; 0: none yet
};

// The calling unit's record, made if it has none. Null: the record is to be found in thread-local
// memory, which is the unit's own.
Thread* thread_of_unit();
// The record of code that may not suspend because it is no unit's: a scheduler's, a callback's. It
// has teams of one. There is one for each OS thread that runs such code.
Thread& thread_of_scheduler();

// In the child of a fork: the record of the native unit that has forked. Null: no native unit has
// forked, or it has none.
Thread* thread_that_forked();

// From now on the calling unit has this value; null: none, as before. Ends the process if there is
// no memory for it.
void be_of_unit(OfUnit* value);
// Called when the OS thread's record has been made, or its code has become the primary unit.
void let_follow_primary(Thread& of_os_thread);

// Makes the words those of that thread, which runs here; null: of none. Not inlined, so that no
// address in thread-local memory is kept from before a switch that precedes the call.
[[gnu::noinline]] void set_words(Thread* thread);

// A native unit is about to begin its outermost region, with fewer members than the region is to
// have. It takes those of a record that no unit has now. Where there is none it waits for one while
// the members of others' regions wait for harts: of ten thousand units that begin regions, few have
// members at a time.
void come_by_members(Thread& me, unsigned size);
// The runtime ends, and these members with it, as do the units that wait for some.
void forget_members_of_units();

// The outermost region of a native unit: the unit goes on on its stream alone, where that can be.
void begin_to_stay(Thread& me);
void end_stay(Thread& me);

}   // namespace weft_openmp
