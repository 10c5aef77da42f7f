// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "observe/observe.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/handles.hpp"
#include "observe/trace_file.hpp"
#include "os/thread.hpp"
#include "process/error.hpp"
#include "process/process.hpp"

namespace weft {

constinit InitialHeaders initial_headers;

namespace {

using trace::Event;

static_assert(WEFT_OBSERVED_CREATE == 1u << static_cast<unsigned>(Event::create) &&
              WEFT_OBSERVED_START == 1u << static_cast<unsigned>(Event::start) &&
              WEFT_OBSERVED_SUSPEND == 1u << static_cast<unsigned>(Event::suspend) &&
              WEFT_OBSERVED_YIELD == 1u << static_cast<unsigned>(Event::yield) &&
              WEFT_OBSERVED_RESUME == 1u << static_cast<unsigned>(Event::resume) &&
              WEFT_OBSERVED_FINISH == 1u << static_cast<unsigned>(Event::finish) &&
              WEFT_OBSERVED_JOIN == 1u << static_cast<unsigned>(Event::join) &&
              WEFT_OBSERVED_FREE == 1u << static_cast<unsigned>(Event::free) &&
              WEFT_OBSERVED_CANCEL == 1u << static_cast<unsigned>(Event::cancel) &&
              WEFT_OBSERVED_MIGRATE == 1u << static_cast<unsigned>(Event::migrate) &&
              WEFT_OBSERVED_REVIVE == 1u << static_cast<unsigned>(Event::revive) &&
              WEFT_OBSERVED_PROMOTE == 1u << static_cast<unsigned>(Event::promote));

// ---- the trace ----------------------------------------------------------------------------------

trace::Record record_of(Event what, const Unit& unit, std::uint64_t detail) {
    trace::Record record;
    record.id = unit.id;
    record.detail = detail;
    record.what = what;
    record.kind = static_cast<std::uint8_t>(unit.kind);
    return record;
}

template <class T>
std::uint64_t address(const T* object) {
    return reinterpret_cast<std::uintptr_t>(object);
}

void record(trace::Ring& to, Event what, const Unit& unit, Waits waits, const void* object) {
    switch (what) {
    case Event::create:
    case Event::revive: return to.add(record_of(what, unit, address(unit.spawned_at())));
    case Event::start:
        if (unit.name[0] != '\0') to.add_name(unit.name);
        return to.add(record_of(what, unit, reinterpret_cast<std::uintptr_t>(unit.body)));
    case Event::migrate: return to.add(record_of(what, unit, address(unit.pool_now())));
    case Event::suspend: {
        trace::Record made = record_of(what, unit, address(object));
        made.waits = static_cast<std::uint8_t>(waits);
        return to.add(made);
    }
    case Event::finish: {
        trace::Record made = record_of(what, unit, 0);
        made.outcome = static_cast<std::uint8_t>(unit.outcome);
        return to.add(made);
    }
    case Event::yield:
    case Event::resume:
    case Event::promote:
    case Event::cancel: return to.add(record_of(what, unit, 0));
    default: return;   // joins and frees do not appear in a trace
    }
}

void trace_unit(Observers& of, Stream* stream, Event what, const Unit& unit, Waits waits, const void* object) {
    if (stream != nullptr) {
        if (stream->telling.ring != nullptr) record(*stream->telling.ring, what, unit, waits, object);
        return;
    }
    std::lock_guard guard(of.outside_lock);
    if (of.outside_ring != nullptr) record(*of.outside_ring, what, unit, waits, object);
}

// ---- observers ----------------------------------------------------------------------------------

void call_all(const ObserverList& list, const weft_observation& seen) {
    for (std::size_t i = 0; i < list.count; ++i) {
        const Observer& to = *list.all[i];
        if ((to.events & seen.what) != 0) to.call(&seen, to.argument);
    }
}

void tell_from_stream(Observers& of, Stream& stream, const weft_observation& seen) {
    // relaxed: only this stream writes it. Observers are not notified of what a callback does: that
    // would recurse forever.
    if (stream.telling.whom.load(std::memory_order_relaxed) != nullptr) return;
    const ObserverList* list = of.list.load();
    if (list == nullptr) return;
    // seq_cst: "announce the list, then check that it is still the current one" against "exchange
    // the list, then check who announces the old one" in replace().
    for (stream.telling.whom.store(list); of.list.load() != list; stream.telling.whom.store(list)) {
        list = of.list.load();
        if (list == nullptr) break;
    }
    if (list != nullptr) call_all(*list, seen);
    // release: pairs with the load in is_told(), after which the list is freed
    stream.telling.whom.store(nullptr, std::memory_order_release);
}

OutsideTeller* outside_teller(Observers& of) {
    const void* const thread = os::errno_address();   // identifies the OS thread
    for (OutsideTeller* at = of.outside; at != nullptr; at = at->next) {
        if (at->thread == thread) return at;
    }
    return nullptr;
}

void tell_from_outside(Observers& of, const weft_observation& seen) {
    OutsideTeller teller{nullptr, os::errno_address(), nullptr};
    {
        std::lock_guard guard(of.outside_lock);
        if (outside_teller(of) != nullptr) return;
        teller.list = of.list.load();   // replace() searches for it under the lock, after it has exchanged the list
        if (teller.list == nullptr) return;
        teller.next = std::exchange(of.outside, &teller);
    }
    call_all(*teller.list, seen);
    std::lock_guard guard(of.outside_lock);
    for (OutsideTeller** at = &of.outside; *at != nullptr; at = &(*at)->next) {
        if (*at != &teller) continue;
        *at = teller.next;
        break;
    }
}

[[gnu::noinline, gnu::cold]] void tell(Event what, Unit& unit, Waits waits, const void* object) {
    Observers& of = process().observers;
    const unsigned bit = 1u << static_cast<unsigned>(what);
    // relaxed: a hint, about a list that is then read with care
    const bool wanted = (of.wanted.load(std::memory_order_relaxed) & bit) != 0;
    const bool begins = what == Event::start || what == Event::resume;
    if (!wanted && !begins && of.trace == nullptr) return;
    const int error = errno;   // a callback may change it; nothing here switches
    Stream* const stream = current_or_null();
    // A stream checks its requests, and then picks a unit: listening may have begun between the
    // two, and the units that this one spawns are to be observed too.
    if (begins && stream != nullptr && !stream->telling.observed && stream->asked().has(attention::observing))
        note_observed(*stream);
    if (of.trace != nullptr) trace_unit(of, stream, what, unit, waits, object);
    if (wanted) {
        weft_observation seen{};
        seen.size = sizeof seen;
        seen.what = static_cast<weft_observed>(bit);
        seen.unit = to_handle(&unit);
        seen.stream = handles::to_handle<weft_stream>(handles::Thing::stream, stream);
        seen.pool = handles::to_handle<weft_pool>(handles::Thing::pool, unit.pool_now());
        seen.waits_for = what == Event::suspend ? name_of(waits) : "";
        seen.object = object;
        if (what == Event::finish || what == Event::join || what == Event::free)
            seen.outcome = static_cast<weft_unit_outcome>(unit.outcome);
        if (stream != nullptr) {
            tell_from_stream(of, *stream, seen);
        } else {
            tell_from_outside(of, seen);
        }
    }
    errno = error;
}

// ---- begin and end of listening -----------------------------------------------------------------

void observe_streams(Process& of, bool on) {
    std::lock_guard guard(of.lock);
    of.observing = on;
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        Stream* stream = of.streams[rank];
        if (stream == nullptr) continue;
        if (!on) stream->attention.fetch_and(~attention::observing.word);
        stream->attention.fetch_or((attention::observed | attention::observing.only_if(on)).word);
    }
}

// A stream with the bit never takes the short ways on which a unit with the mark would be missed:
// so the bits are set before the first mark, and cleared after the last.
void listen(Process& of, bool on) {
    if (!on) initial_headers.set(false);
    observe_streams(of, on);
    if (on) initial_headers.set(true);
    if (Stream* mine = current_or_null()) note_observed(*mine);
    if (!on) return;
    if (of.primary != nullptr) of.primary->mark(Unit::observed);
    Unit* const self = running_or_null();
    if (self != nullptr && self->kind != Kind::tasklet && !self->has(Unit::scheduler)) self->mark(Unit::observed);
}

bool told_from_here(Observers& of) {
    if (const Stream* stream = current_or_null()) return stream->telling.whom.load() != nullptr;
    std::lock_guard guard(of.outside_lock);
    return outside_teller(of) != nullptr;
}

bool is_told(Process& of, const ObserverList* list) {
    {
        std::lock_guard guard(of.observers.outside_lock);
        for (const OutsideTeller* at = of.observers.outside; at != nullptr; at = at->next) {
            if (at->list == list) return true;
        }
    }
    std::lock_guard guard(of.lock);
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        if (of.streams[rank] != nullptr && of.streams[rank]->telling.whom.load() == list) return true;
    }
    return false;
}

// Replaces the list by `list` (null: no observers), and returns the old one when no thread uses it
// any more. Under `changing`.
ObserverList* replace(Process& of, const ObserverList* list) {
    unsigned wanted = 0;
    for (std::size_t i = 0; list != nullptr && i < list->count; ++i) wanted |= list->all[i]->events;
    of.observers.wanted.store(wanted);   // before the first mark of listen()
    const ObserverList* old = of.observers.list.exchange(list);
    while (old != nullptr && is_told(of, old)) os::thread_yield();   // callbacks are short, and never wait for this
    return const_cast<ObserverList*>(old);
}

// A list with room for that many observers; null: no memory.
ObserverList* make_list(std::size_t room) {
    return static_cast<ObserverList*>(os::allocate(sizeof(ObserverList) + room * sizeof(Observer*)));
}

void copy(const ObserverList* from, ObserverList& to) {
    to.count = from == nullptr ? 0 : from->count;
    for (std::size_t i = 0; i < to.count; ++i) to.all[i] = from->all[i];
}

weft_status from_a_callback(const char* what) {
    return fail(WEFT_WRONG_CONTEXT, "an observer's callback cannot %s observers; do it when it has returned", what);
}

}   // namespace

void observe(Event what, Unit& unit) noexcept { tell(what, unit, Waits::as_stated, nullptr); }
void observe_wait(Unit& unit, Waits what, const void* object) noexcept { tell(Event::suspend, unit, what, object); }

void trace_steal(Stream& stream, const Unit& unit, const Pool& from) {
    if (stream.telling.ring != nullptr) stream.telling.ring->add(record_of(Event::steal, unit, address(&from)));
}

void trace_stream(Stream& stream, Event what, std::uint64_t detail) {
    if (stream.telling.ring == nullptr) return;
    trace::Record record;
    record.what = what;
    record.detail = detail;
    stream.telling.ring->add(record);
}

void note_observed(Stream& stream) {
    stream.telling.observed = stream.asked().has(attention::observing);
    stream.sched->stolen_from = nullptr;
    settle_homes(stream);
}

weft_status add_observer(Process& of, const Observer& observer, Observer** added) {
    if constexpr (!config::observers) return built_without("observers", "WEFT_OBSERVERS");
    if (told_from_here(of.observers)) return from_a_callback("add");
    auto* made = os::make<Observer>(observer);
    std::lock_guard guard(of.observers.changing);
    of.observers.check();
    const ObserverList* const before = of.observers.list.load();
    const std::size_t count = (before == nullptr ? 0 : before->count) + 1;
    ObserverList* const list = make_list(count);
    ObserverList* const spare = make_list(count);
    if (made == nullptr || list == nullptr || spare == nullptr) {
        os::destroy(made);
        os::release(list);
        os::release(spare);
        return fail(WEFT_NO_MEMORY, "no memory for an observer");
    }
    copy(before, *list);
    list->all[list->count++] = made;
    os::release(std::exchange(of.observers.spare, spare));
    os::release(replace(of, list));
    if (before == nullptr && of.observers.trace == nullptr) listen(of, true);
    *added = made;
    return WEFT_OK;
}

weft_status remove_observer(Process& of, Observer& observer) {
    if (told_from_here(of.observers)) return from_a_callback("remove");
    std::lock_guard guard(of.observers.changing);
    of.observers.check();
    const ObserverList* const before = of.observers.list.load();
    std::size_t index = 0;
    while (before != nullptr && index < before->count && before->all[index] != &observer) ++index;
    if (before == nullptr || index == before->count)
        return fail(WEFT_INVALID, "%p is no observer, or has been removed", static_cast<void*>(&observer));
    ObserverList* list = nullptr;
    if (before->count > 1) {
        list = of.observers.spare;
        copy(before, *list);
        list->all[index] = list->all[--list->count];
    }
    if (list == nullptr && of.observers.trace == nullptr) listen(of, false);
    ObserverList* const old = replace(of, list);
    if (list == nullptr) os::release(of.observers.spare);
    of.observers.spare = list == nullptr ? nullptr : old;
    if (list == nullptr) os::release(old);
    os::destroy(&observer);
    return WEFT_OK;
}

weft_status begin_trace(Process& of) {
    if (of.settings.values.trace == nullptr) return WEFT_OK;
    if constexpr (!config::observers) return built_without("traces", "WEFT_OBSERVERS");
    const weft_status status =
        TraceFile::open(of.settings.values.trace, of.settings.values.trace_events, &of.observers.trace);
    if (status != WEFT_OK) return status;
    static_assert(TraceFile::most_tracks == Process::most_ranks + 1);
    of.observers.outside_ring = of.observers.trace->ring(Process::most_ranks, nullptr);
    if (of.observers.outside_ring == nullptr)
        return fail(WEFT_NO_MEMORY, "no memory for the events of a trace; set WEFT_TRACE_EVENTS to less");
    listen(of, true);
    return WEFT_OK;
}

bool give_ring(Process& of, Stream& stream) {
    if (of.observers.trace == nullptr) return true;
    stream.telling.ring = of.observers.trace->ring(stream.rank, stream.name);
    return stream.telling.ring != nullptr;
}

void write_trace_at_end(Process& of) {
    if (of.observers.trace != nullptr) of.observers.trace->write();
}

void end_observing(Process& of) {
    initial_headers.set(false);
    if (const ObserverList* list = of.observers.list.exchange(nullptr)) {
        for (std::size_t i = 0; i < list->count; ++i) os::destroy(list->all[i]);
        os::release(const_cast<ObserverList*>(list));
        os::release(std::exchange(of.observers.spare, nullptr));
    }
    TraceFile::close(std::exchange(of.observers.trace, nullptr));
}

}   // namespace weft
