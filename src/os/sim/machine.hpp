// The virtual machine: harts that are contexts on the stacks of one OS thread, of which one runs at
// a time; a virtual clock; and what a run has come to. A process has at most one, in the child that
// explore() forks for each run, and what the seams do to it is below.
//
// A hart is pre-empted only where it calls in here, so nothing here is atomic. The code of the
// machine must not call the library: it would come back here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "os/cpuset.hpp"
#include "os/sim/strategy.hpp"
#include "weft/location.hpp"

namespace weft::sim {

inline constexpr std::uint64_t forever = ~std::uint64_t{0};

// How a run ended. In memory that is shared with the process that forked it.
enum class End : std::uint32_t {
    none,   // it has not, or crashed
    passed,
    check,      // check() failed, or an exception left the body
    stuck,      // all harts wait for one another
    steps,      // it took too many
    memory,     // released twice, written to after its release
    left,       // not released at the end
    invariant   // what must hold when all harts wait does not
};

// A step, for the table of them.
struct Traced {
    std::uint64_t total;
    std::uint64_t now_ns;
    const char* what;
    const void* word;
    const char* file;
    std::uint32_t line;
    std::uint16_t hart;
    std::uint64_t left_out;   // steps of Weft's own between the one before and this one
};

// What a run leaves for the process that forked it.
struct Record {
    static constexpr std::size_t most_deviations = 1u << 20;
    static constexpr std::size_t most_traced = 1u << 17;

    End end;
    char text[16384];
    std::uint64_t steps;
    std::uint64_t faults_asked;   // how many calls of seams could have failed
    std::uint64_t harts;
    std::uint64_t deviation_count;   // those beyond the most are not noted, and the run cannot be shrunk
    std::uint64_t traced_count;      // the last most_traced are there, as a ring
    std::uint64_t left_out;          // after the last of them
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
    bool weft_steps = false;     // those of Weft's own code are noted, too
    std::uint64_t fail_at = 0;   // the call of a seam that fails, counting from 1; 0: none
};

// The calling OS thread becomes hart 0 of a new machine.
void machine_begin(const Limits& limits, Strategy& strategy, Record& record);
// Hart 0 has done what it had to do. Ends the process with the record filled.
[[noreturn]] void machine_end();
bool machine_runs() noexcept;

// The run has failed. Ends the process.
[[noreturn]] void machine_fail(End end, const std::string& text);

// Called when all harts wait, before time goes on or the run is stuck: the text of what does not
// hold, or empty. May read what the library's atomics hold: it is not pre-empted then.
extern std::string (*machine_quiet)();
// Which units wait for what, for the report of a run that is stuck. As machine_quiet, it may read
// atomics.
extern void (*machine_describe)(std::string& text);

// The run has told already that something went wrong, and need not come to its end: what it leaves
// undone is excused. Ends the process; may be called from a signal handler.
[[noreturn]] void machine_excused();

// What a run leaves undone (it is stuck, never ends, has not given memory back) is excused, because
// it has been told already that something went wrong: a test that stops in the middle when a call
// is refused.
extern bool machine_excuses;

// ---- for the seams ------------------------------------------------------------------------------

// The calling hart waits until wake(on), or until the deadline has come (false), or it is woken for
// no reason where it waits for a futex.
enum class Wait : std::uint8_t { futex, time, end };
bool block(Wait why, const void* on, std::uint64_t deadline_ns);
// At most `count` of those that wait on `on` become ready, those that have waited longest first.
// Returns how many.
std::size_t wake(const void* on, std::size_t count);

void pause(const weft::location& where);
// A system call: a point of pre-emption, with an empty store buffer afterwards. `where`: the
// program makes it there; no place: Weft does.
void system_call(const char* what, const void* word = nullptr, const weft::location& where = {});

std::uint64_t now_ns() noexcept;

// A new hart, or null: the machine has as many as it can have.
void* hart_start(void (*body)(void*), void* argument, std::size_t stack_bytes);
void hart_join(void* hart);
std::uint32_t hart_number();
// whether it waits for another one or for a time; false: as below
bool hart_waits(std::uint32_t number, bool& waits);
bool hart_time(std::uint32_t number, std::uint64_t& ns);   // of its own steps; false: there is none, or it has ended
void* hart_identity();
// By which the hart runs: its own at first, another hart's that is parked, or none, while it is
// parked itself.
void* thread_pointer();
void set_thread_pointer(void* pointer);
void* own_thread_pointer();
void* hart_kept();                                   // what the hart keeps: null at first
void hart_keep(void* word, void (*at_end)(void*));   // when it ends with one that is not null, at_end is called with it
os::CpuSet* hart_cpus(std::uint32_t number);         // null: there is none
os::CpuSet machine_cpus();
char* hart_error_text();

// Whether the next call of a seam shall fail.
bool seam_fails();

// ---- what the library has of memory (account.cpp) -----------------------------------------------

// Blocks and pages that the library has: each is to be given back once, and nobody may write to it
// afterwards.
void block_taken(void* block, std::size_t bytes);
void block_given_back(void* block);
void block_kept(void* block);
void pages_taken(void* begin, std::size_t bytes);
void pages_given_back(void* begin, std::size_t bytes);   // a part of them may be
// Empty, or what is left or was written to after it had been given back. At the end.
std::string memory_left();

// Whether another hart than the running one has a store to these bytes on its way, and which one.
bool store_pending(const void* begin, std::size_t bytes, std::uint32_t& who);

}   // namespace weft::sim
