// How the units that are threads of OpenMP's are shown: in dumps and in the report of a deadlock by
// weft_describer_register, and in gdb by tools/gdb/weft.py, which reads the same records through
// their debug information (Lists, Shown, Thread, Team, Slot).
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/unit.h>

namespace weft_openmp {

struct Thread;

// By what a thread's record is found: the handle of a hosted unit, or the number of an OS thread,
// which becomes a guest where it has regions.
class Shown {
public:
    explicit Shown(const Thread& thread);   // by that thread
    ~Shown() { hide(); }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

    // The thread is about to end, and its teams are.
    void hide();
    // The record belongs to one unit after the other: to the calling one from now on.
    void belong_to_this_unit();
    void belong_to_nobody();
    // In the child of a fork: all records are gone. Then the one that is left is shown anew.
    static void forget_all();
    // Calls call(thread) for all there are.
    static void each(void (*call)(Thread& thread));
    void begin_anew();

private:
    friend class Lists;

    void enlist(Shown*& first);

    const Thread& thread_;
    std::atomic<weft_unit*> unit_{nullptr};
    std::uint32_t os_thread_ = 0;   // 0: it is found by the unit
    bool roams_ = false;
    Shown* next_ = nullptr;
    Shown** at_ = nullptr;   // what points here; null: it is on no list
};

}   // namespace weft_openmp
