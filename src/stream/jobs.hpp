// Jobs: branches of a fork (include/weft/parallel.h) that are no units yet. Those of the unit that runs lie in its stream's ring, and nobody else sees
// them; when another stream is hungry, or the unit leaves, they are shown: put into the runtime's list, oldest first, where any stream takes
// them. README.md, "Jobs", has the rules and why no wake-up is lost; doc/decisions/0016 what was rejected.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "hart/bell.hpp"
#include "os/lock.hpp"
#include "os/memory.hpp"
#include "weft/parallel.h"

namespace weft {

struct Stream;
struct Unit;

// Who waits for a job that was taken. `wake` is called once, as the last act of the one who has run it.
struct JobWaiter {
    void (*wake)(JobWaiter* self);
};

// What a job is beyond the ring: in weft_job::kept, from when it is shown, or refused, to its join.
struct Shown {
    // Of `state`; any other value is a JobWaiter's address. None is zero: that is memory which nobody has written.
    static constexpr std::uintptr_t refused = 4;     // in no list: its owner alone runs it
    static constexpr std::uintptr_t available = 1;   // in the list
    static constexpr std::uintptr_t taken = 2;
    static constexpr std::uintptr_t done = 3;

    atomic<std::uintptr_t> state;
    weft_job* newer = nullptr;             // of the list; under its lock
    weft_job* older = nullptr;
    Unit* owner = nullptr;                 // who joins it
    std::uint8_t stack_class = 0;          // of Unit: the stack that its owner has asked for

    explicit Shown(std::uintptr_t begins) : state(begins) {}
    Shown(Unit& by, std::uint8_t wanted) : state(available), owner(&by), stack_class(wanted) {}
    static Shown& of(weft_job& job) { return *reinterpret_cast<Shown*>(job.kept); }
};
static_assert(sizeof(Shown) <= sizeof(weft_job::kept) && alignof(Shown) <= alignof(weft_job));

// The runtime's: what has been shown, and who looks for it.
struct Jobs {
    atomic<std::size_t> shown{0};          // length of the list, for a look without the lock
    atomic<std::uint32_t> searching{0};    // streams that are awake and look for something to run
    atomic<std::size_t> streams{0};        // in the runtime's table
    Bell bell;                             // of the streams that sleep
    os::Lock lock;                         // guards the list
    weft_job* oldest = nullptr;
    weft_job* newest = nullptr;

    void append(weft_job& first, weft_job& last, std::size_t count);
    bool remove(weft_job& job);            // false: it has been taken
    void unlink(weft_job& job);            // under the lock
};

// A stream's own. `face` is what programs see; it comes first in Stream, so the word that leads to the stream leads to it.
struct JobRing {
    static constexpr std::size_t capacity = 512;

    weft_jobs face{nothing + 1, nullptr};
    weft_job** slots = nullptr;            // null until the first fork. slots[0] is null always: at the join, no job is there
    weft_job** first = nothing + 1;        // the oldest that nobody else sees; face.bottom: there is none
    atomic<bool> asked{false};             // somebody wants what lies here

    JobRing() = default;
    JobRing(const JobRing&) = delete;
    JobRing& operator=(const JobRing&) = delete;
    bool empty() const { return first == face.bottom; }
    weft_job** begin() const { return slots + 1; }
    weft_job** end() const { return slots + 1 + capacity; }
    std::size_t length() const { return static_cast<std::size_t>(face.bottom - first); }

    // The limit races with ask(): seq_cst here and there, against `asked` (README.md).
    void open() { atomic_ref(face.limit).store(end(), std::memory_order_seq_cst); }
    void close() { atomic_ref(face.limit).store(nullptr, std::memory_order_seq_cst); }
    // The next fork shows something. From any thread, while the stream is in the runtime's table.
    void ask() {
        if (asked.load(std::memory_order_seq_cst)) return;
        asked.store(true, std::memory_order_seq_cst);
        close();
    }

    ~JobRing() { os::release(slots); }

    // Where the ring begins before there is one: shared by all, and never written.
    static constinit inline weft_job* nothing[1] = {nullptr};
};

// The fork of a job for which there is no room below the limit.
void offer(weft_job& job);

// All jobs of the running unit are shown, since it leaves the stream; or it ends, and has none. Afterwards the ring is the next unit's.
void leave_jobs(Stream& stream, Unit& unit);

// Whether a unit may end otherwise than by returning from its body: whether no job of its own lies on its stack, nor is itself one.
bool may_end(const Stream& stream, const Unit& unit);
weft_status still_forked();   // why not

// The oldest job that is shown, as a unit about to start, in no pool; null: there is none, or no memory. From the scheduler's stack.
Unit* take_job(Stream& stream);

// The oldest that a tasklet has shown; null: there is none. It is to be run where the caller stands, and finished.
weft_job* take_tasklets_job();

// A job that was taken has been run.
void finish_job(weft_job& job);

// Every other stream's next fork shows something. `at_once`: also if somebody has the runtime's lock.
void ask_for_jobs(const Stream& asker, bool at_once);

// As long as it lives, the stream looks for something to run, and who shows a job need not wake another.
class Search {
public:
    explicit Search(Jobs& in);
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;
    ~Search();

private:
    Jobs& jobs_;
};

}  // namespace weft
