// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strategies decide which virtual hart runs. Everything that a run does follows from its decisions.
// Decisions that differ from the plain course (a hart runs until it waits, then the next ready one
// runs; nothing stays in a store buffer when a hart is left) are the run's deviations, and only
// they are recorded, by hart and by the hart's own count of steps. So a run is replayed from its
// deviations, and shrunk by leaving some of them out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace weft::sim {

// When a decision is made.
enum class Moment : std::uint8_t {
    point,   // before an operation that other harts can see; plainly, the hart continues
    pause,   // in a loop that waits; plainly, the next ready hart runs
    block    // the hart waits, or has ended; plainly, the next ready hart runs
};

enum class Act : std::uint8_t {
    none,   // the plain course
    go,     // `to` runs
    jump,   // the earliest deadline expires, and the hart that waits for it runs
    rouse   // hart `to`, which waits for a futex, is woken for no reason, and runs
};

struct Deviation {
    std::uint64_t step = 0;   // of the hart's own
    std::uint16_t hart = 0;
    std::uint16_t to = 0;
    Moment moment = Moment::point;
    Act act = Act::none;
    std::uint8_t keep = 0;   // that many of its stores stay in the buffer, the youngest
    std::uint8_t hold = 0;   // over that many switches
    // for that many decisions the hart that is left does not run, as if the system had pre-empted
    // it
    std::uint16_t out = 0;
};

// What a strategy may know.
struct View {
    std::uint64_t total = 0;                // steps of all harts
    std::uint64_t step = 0;                 // of the hart that runs
    std::uint16_t hart = 0;                 // which one runs
    std::uint16_t plainly = 0;              // which one would run in the plain course
    std::size_t buffered = 0;               // its stores that other harts do not see yet
    const std::uint16_t* ready = nullptr;   // the other harts that could run, by number
    std::size_t ready_count = 0;
    const std::uint16_t* rousable = nullptr;   // those that wait for a futex
    std::size_t rousable_count = 0;
    bool deadline_near = false;
};

class Strategy {
public:
    virtual ~Strategy() = default;
    // Fills in `made`, with an act other than none for a deviation.
    virtual void decide(Moment moment, const View& view, Deviation& made) = 0;
    // How many steps the running hart may make before the next decision at a point; no decision is
    // needed for them.
    virtual std::uint64_t free_steps(const View& view) = 0;
    // The running hart has put a store in its buffer. True: free_steps() is to be called again.
    virtual bool stored() { return false; }
    // Hart `which` has become ready. True: free_steps() is to be called again.
    virtual bool became_ready(std::uint16_t which) { return false; }
};

struct Tastes {
    bool store_buffers = true;
    bool early_wakes = true;
};

std::unique_ptr<Strategy> random_strategy(std::uint64_t seed, Tastes tastes);
std::unique_ptr<Strategy> priority_strategy(std::uint64_t seed, Tastes tastes);
// `deviations`: those of a run, in the order in which they were recorded.
std::unique_ptr<Strategy> replay_strategy(std::vector<Deviation> deviations);

}   // namespace weft::sim
