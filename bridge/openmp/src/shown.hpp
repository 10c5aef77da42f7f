// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How units that are OpenMP threads are shown: in dumps and in deadlock reports by
// weft_describer_register, and in gdb by tools/gdb/weft.py, which reads the same records through
// their debug information (Lists, Shown, Thread, Team, Slot).
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/unit.h>

namespace weft_openmp {

struct Thread;

// The key under which a thread's record is found: the handle of a hosted unit, or the number of an
// OS thread, which becomes a guest when it has regions.
class Shown {
public:
    explicit Shown(const Thread& thread);   // called by that thread
    ~Shown() { hide(); }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

    // The thread is about to end, and its teams with it.
    void hide();
    // The record belongs to one unit after the other: from now on to the calling one.
    void belong_to_this_unit();
    void belong_to_nobody();
    // In the child of a fork: forgets all records. Then the one that is left is shown anew.
    static void forget_all();
    // Calls call(thread) for all records.
    static void each(void (*call)(Thread& thread));
    void begin_anew();

private:
    friend class Lists;

    void enlist(Shown*& first);

    const Thread& thread_;
    std::atomic<weft_unit*> unit_{nullptr};
    std::uint32_t os_thread_ = 0;   // 0: found by the unit
    bool roams_ = false;
    Shown* next_ = nullptr;
    Shown** at_ = nullptr;   // the pointer to this; null: on no list
};

}   // namespace weft_openmp
