// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams lend their harts: when other roots have a better claim to them than the application's
// streams, some streams step aside between two units, and run again in turn. Nothing is lent while
// the streams are the base's only root. src/hart/README.md, "Streams that lend", has the rules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fifo.hpp"
#include "hart/base.hpp"
#include "os/lock.hpp"
#include "process/stream.hpp"

namespace weft {

struct Process;

struct Lending {
    os::Lock lock;                              // guards what follows
    Fifo<Turn, &Turn::next> waiting;            // the stream that stepped aside first is the first
    std::size_t count = 0;                      // of streams that wait
    std::size_t next_rank = 0;                  // the rank to ask next
    std::uint64_t turn_over_ns = os::forever;   // while some wait: when other streams are to let them run

    std::uint64_t limit_read_ns = 0;   // only the reactor's

    // On entry, under the lock.
    void check() const {
        WEFT_ASSERT(waiting.empty() == (count == 0));
        WEFT_ASSERT((turn_over_ns == os::forever) == (count == 0));
    }
    // While no thread runs: a stream that waits has no hart, and has not been called off.
    void check_whole() const {
        check();
        const std::size_t found =
            waiting.check_whole([](const Turn& turn) { WEFT_ASSERT(!turn.stream->holds_hart && !turn.called_off); });
        WEFT_ASSERT(found == count);
    }
};

// Harts of the streams are to be reclaimed (hart::Base::Hooks::notify): asks `streams` streams to
// step aside.
void ask_to_step_aside(Process& of, std::size_t streams);

// A hart of the streams' root has come back, and the stream that has waited longest for one runs on
// with it. False: no stream waits.
bool end_waiting(Process& of);

// A domain has come to the stream (Serving::returned), with a hart: if the stream waits for a hart
// of the streams' root, it stops waiting.
void end_waiting_of(Stream& stream);

// Handles attention::aside: the stream lends its hart, if that is still wanted, and returns when it
// has one again. From the scheduler's stack. False: the stream has none of the streams' harts, but
// a domain has brought one.
bool step_aside(Stream& stream);

// The reactor's part: slices that are over, limits that have changed. Returns when it is to be
// called again; os::forever: when the reactor is notified.
std::uint64_t look_at_harts(Process& of, std::uint64_t now_ns);

}   // namespace weft
