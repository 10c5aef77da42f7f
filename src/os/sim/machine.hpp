// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The virtual machine: harts that are contexts on stacks of their own in one OS thread, of which
// one runs at a time; a virtual clock; and the result of a run. A process has at most one machine,
// in the child that explore() forks for each run. The part "for the seams" has what the seams call.
//
// A hart is pre-empted only where it calls in here, so nothing here is atomic. The code of the
// machine must not call the library, which would call back here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "os/cpuset.hpp"
#include "os/sim/costs.hpp"
#include "os/sim/strategy.hpp"
#include "weft/location.hpp"

namespace weft::sim {

inline constexpr std::uint64_t forever = ~std::uint64_t{0};

// How a run ended. In memory that is shared with the process that forked it.
enum class End : std::uint32_t {
    none,   // it has not ended, or crashed
    passed,
    check,      // check() failed, or an exception left the body
    stuck,      // all harts wait for one another
    steps,      // too many steps
    memory,     // released twice, written to after its release
    left,       // not released at the end
    invariant   // a condition that must hold when all harts wait does not
};

// A step, for the table of steps.
struct Traced {
    std::uint64_t total;
    std::uint64_t now_ns;
    const char* what;
    const void* word;
    const char* file;
    std::uint32_t line;
    std::uint16_t hart;
    std::uint64_t left_out;   // Weft's own steps between the previous entry and this one
};

// What a run leaves behind for the process that forked it.
struct Record {
    static constexpr std::size_t most_deviations = 1u << 20;
    static constexpr std::size_t most_traced = 1u << 17;

    End end;
    char text[16384];
    std::uint64_t steps;
    std::uint64_t faults_asked;   // how many calls of seams could have failed
    std::uint64_t harts;
    std::uint64_t deviation_count;   // those beyond the maximum are not recorded, and the run cannot be shrunk
    std::uint64_t traced_count;      // the last most_traced of them are kept, as a ring
    std::uint64_t left_out;          // steps after the last entry
    std::uint64_t all_left_out;
    Deviation deviations[most_deviations];
    Traced traced[most_traced];
};

struct Limits {
    std::uint64_t most_steps = 5'000'000;
    unsigned cpus = 4;
    bool store_buffers = true;
    bool leaks = true;
    bool trace = false;
    bool weft_steps = false;     // record the steps of Weft's own code, too
    std::uint64_t fail_at = 0;   // the call of a seam that fails, counting from 1; 0: none
    // Harts run side by side: the next is always the one whose own clock shows the earliest time,
    // and accesses take the time that costs.hpp says. The strategy decides nothing; there are no
    // store buffers. At most 256 harts.
    bool timed = false;
};

// The calling OS thread becomes hart 0 of a new machine.
void machine_begin(const Limits& limits, Strategy& strategy, Record& record);
// Hart 0 has finished. Ends the process with the record filled.
[[noreturn]] void machine_end();
bool machine_runs() noexcept;

// The run has failed. Ends the process.
[[noreturn]] void machine_fail(End end, const std::string& text);

// Called when all harts wait, before time advances or the run counts as stuck. Returns a text about
// what does not hold, or an empty one. It may read the library's atomics: it is not pre-empted
// then.
extern std::string (*machine_quiet)();
// Which units wait for what, for the report of a run that is stuck. Like machine_quiet, it may read
// atomics.
extern void (*machine_describe)(std::string& text);

// The run has already reported that something went wrong, and need not reach its end: what it
// leaves undone is excused. Ends the process; may be called from a signal handler.
[[noreturn]] void machine_excused();

// What a run leaves undone (it is stuck, never ends, has not released memory) is excused, because
// it has already reported that something went wrong: a test that stops in the middle when a call is
// refused.
extern bool machine_excuses;

// ---- for the seams ------------------------------------------------------------------------------

// The calling hart waits until wake(on), or until the deadline has expired (false), or, if it waits
// for a futex, until a spurious wake-up.
enum class Wait : std::uint8_t { futex, time, end };
bool block(Wait why, const void* on, std::uint64_t deadline_ns);
// Makes at most `count` of the harts ready that wait on `on`, those that have waited longest first.
// Returns how many.
std::size_t wake(const void* on, std::size_t count);

void pause(const weft::location& where);
// A system call: a point of pre-emption, with an empty store buffer afterwards. `where`: the
// program makes it there; no location: Weft makes it.
void system_call(const char* what, const void* word = nullptr, const weft::location& where = {});

std::uint64_t now_ns() noexcept;

// Starts a new hart. Null: the machine has as many as it can have.
void* hart_start(void (*body)(void*), void* argument, std::size_t stack_bytes);
void hart_join(void* hart);
std::uint32_t hart_number();
// whether it waits for another hart or for a time; false: no such hart, or it has ended
bool hart_waits(std::uint32_t number, bool& waits);
bool hart_time(std::uint32_t number, std::uint64_t& ns);   // of its own steps; false: no such hart, or it has ended
void* hart_identity();
// The thread pointer that the hart runs with: its own at first; that of another hart, which is
// parked; or none, while it is parked itself.
void* thread_pointer();
void set_thread_pointer(void* pointer);
void* own_thread_pointer();
void* hart_kept();                                   // the hart's own word: null at first
void hart_keep(void* word, void (*at_end)(void*));   // if it ends with a non-null word, at_end is called with it
os::CpuSet* hart_cpus(std::uint32_t number);         // null: there is none
os::CpuSet machine_cpus();
char* hart_error_text();

// Whether this call of a seam is to fail.
bool seam_fails();

// ---- a run in time ------------------------------------------------------------------------------

// In a timed run: the running hart computes for so long.
void spend(std::uint64_t ns);
// Null: the run is not timed.
Costs* machine_costs();

// ---- the library's memory (account.cpp) ---------------------------------------------------------

// Blocks and pages that the library has: each is to be released once, and no hart may write to it
// afterwards.
void block_taken(void* block, std::size_t bytes);
void block_given_back(void* block);
void block_kept(void* block);
void pages_taken(void* begin, std::size_t bytes);
void pages_given_back(void* begin, std::size_t bytes);   // may be a part of them
// At the end: empty, or a text about what is left, or was written to after its release.
std::string memory_left();

// All stores of all harts become visible.
void empty_all_buffers();

// Whether a hart other than the running one has a pending store to these bytes, and which one.
bool store_pending(const void* begin, std::size_t bytes, std::uint32_t& who);

}   // namespace weft::sim
