// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports the events of units to the program's observers (weft_observer_register) and to the trace
// (WEFT_TRACE). A unit that is spawned while there are listeners is marked (Unit::observed), and
// the places where marks are checked anyway call in here; other units pay nothing.
// doc/decisions/0013 has the details.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/lock.hpp"
#include "trace/ring.hpp"
#include "unit/unit.hpp"
#include "unit/waits.hpp"
#include "weft/trace.h"

namespace weft {

struct Process;
struct Stream;
class TraceFile;

// A listener.
struct Observer {
    unsigned events;   // bits of weft_observed
    void (*call)(const weft_observation* seen, void* argument);
    void* argument;
};

// The listeners at some moment: never changed once other threads may see it.
struct ObserverList {
    std::size_t count;
    Observer* all[1];   // `count` of them
};

// An OS thread that is no stream and notifies observers.
struct OutsideTeller {
    const ObserverList* list;
    void* thread;
    OutsideTeller* next;
};

// The runtime's observers.
struct Observers {
    atomic<const ObserverList*> list{nullptr};
    atomic<unsigned> wanted{0};      // events that some observers want; a hint
    os::Lock changing;               // one thread at a time adds or removes observers; acquired before Process::lock
    ObserverList* spare = nullptr;   // as large as `list`: a removal needs no memory; under `changing`
    TraceFile* trace = nullptr;      // null: no trace is written

    os::Lock outside_lock;   // guards what follows
    OutsideTeller* outside = nullptr;
    trace::Ring* outside_ring = nullptr;

    // On entry, under `changing`: an observer can be removed without allocating.
    void check() const {
        WEFT_ASSERT(list.load() == nullptr ? spare == nullptr && wanted.load() == 0
                                           : spare != nullptr && list.load()->count != 0);
        WEFT_ASSERT(outside_ring == nullptr || trace != nullptr);
    }
    // While no thread runs: `wanted` agrees with the observers, and each OS thread that notifies
    // has a list.
    void check_whole() const {
        check();
        const ObserverList* const now = list.load();
        unsigned some = 0;
        for (std::size_t i = 0; now != nullptr && i < now->count; ++i) some |= now->all[i]->events;
        WEFT_ASSERT(some == wanted.load());
        for (const OutsideTeller* teller = outside; teller != nullptr; teller = teller->next)
            WEFT_ASSERT(teller->list != nullptr && teller->thread != nullptr);
    }
};

// The initial headers of units, by kind and by whether the pool is private: read by every spawn,
// written when listening begins or ends; that changes the mark.
class InitialHeaders {
public:
    Unit::InitialHeader of(Kind kind, bool in_private_pool) const {
        Unit::InitialHeader initial_header;
        // acquire: pairs with the release in set(): a stream that runs a unit with the mark has the
        // bit `observing` of its attention.
        const Word word =
            words_[static_cast<std::size_t>(kind)].in_private_pool[in_private_pool].load(std::memory_order_acquire);
        std::memcpy(static_cast<void*>(&initial_header), &word, sizeof initial_header);
        return initial_header;
    }

    void set(bool observed) {
        for (std::size_t kind = 1; kind < kinds; ++kind) {
            for (bool in_private_pool : {false, true}) {
                // release: pairs with the acquire in of()
                words_[kind].in_private_pool[in_private_pool].store(
                    word(static_cast<Kind>(kind), in_private_pool, observed), std::memory_order_release);
            }
        }
    }

private:
    using Word = std::uint64_t;

    static constexpr Word word(Kind kind, bool in_private_pool, bool observed) {
        Unit::InitialHeader initial_header = Unit::initial_header(kind, in_private_pool);
        if (observed) initial_header.marks = Unit::observed;
        return std::bit_cast<Word>(initial_header);
    }

    struct OfKind {
        atomic<Word> in_private_pool[2];
        constexpr OfKind(Kind kind) : in_private_pool{word(kind, false, false), word(kind, true, false)} {}
    };
    // by the number of the kind
    OfKind words_[kinds] = {Kind{},   Kind::full, Kind::lsa,       Kind::tasklet, Kind::roc,
                            Kind::ss, Kind::sc,   Kind::automatic, Kind::hosted};
};
extern InitialHeaders initial_headers;

// Reports an event of a marked unit. Called where the event happens, before the unit could be gone;
// never switches.
void observe(trace::Event what, Unit& unit) noexcept;
// Reports that the unit leaves to wait.
void observe_wait(Unit& unit, Waits what, const void* object) noexcept;

// An observed unit has ended, and a joiner learns of it: the first one is reported.
inline void learn(Unit& unit) {
    if constexpr (!config::observers) return;
    // The end of a unit that has not run is reported to each joiner, with the reason.
    if (unit.marked(Unit::observed) && unit.join_state.learn()) observe(trace::Event::join, unit);
}

// Events that only the trace has. Called from the stream.
void trace_steal(Stream& stream, const Unit& unit, const Pool& from);
void trace_stream(Stream& stream, trace::Event what, std::uint64_t detail = 0);
inline void trace_sleep(Stream& stream, trace::Event what) { trace_stream(stream, what); }

// The stream learns that it is observed, or no longer is. Called from the stream, or before it has
// begun.
void note_observed(Stream& stream);

// weft_observer_register and weft_observer_unregister.
weft_status add_observer(Process& of, const Observer& observer, Observer** added);
weft_status remove_observer(Process& of, Observer& observer);

// The runtime begins with a trace, or ends.
weft_status begin_trace(Process& of);
void end_observing(Process& of);

// Writes the trace, if there is one and it has not been written yet.
void write_trace_at_end(Process& of);

// Gives the stream the ring of its rank if there is a trace; false: no memory. Under the runtime's
// lock.
bool give_ring(Process& of, Stream& stream);

}   // namespace weft
