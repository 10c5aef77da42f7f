// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "share/lending.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "hart/quota.hpp"
#include "observe/observe.hpp"
#include "os/clock.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

std::uint64_t slice_ns(const Process& of) { return of.settings.values.slice_ns; }

// Whether the stream is busy, has not been asked yet, and does not wait. It may go to sleep at this
// moment: then it has no hart to lend, and answers no.
bool may_be_asked(const Stream* stream) {
    return stream != nullptr && !stream->role.hidden && !stream->sleep.asleep.load() &&
           !stream->asked().has(attention::aside);
}

// Asks `streams` streams, each in its turn.
void ask_some(Process& of, std::size_t streams) {
    std::lock_guard guard(of.lock);
    std::size_t& rank = of.lending.next_rank;
    for (std::size_t left = of.ranks_used; left != 0 && streams != 0; --left) {
        rank = rank + 1 < of.ranks_used ? rank + 1 : 0;
        if (!may_be_asked(of.streams[rank])) continue;
        ask(*of.streams[rank], attention::aside);
        --streams;
    }
}

// Under the lock.
void one_waits_no_more(Lending& lending, std::uint64_t slice) {
    --lending.count;
    lending.turn_over_ns = lending.count == 0 ? os::forever : os::now_ns() + slice;
}

// Under the lock.
Turn* first_waiting(Lending& lending, std::uint64_t slice) {
    lending.check();
    Turn* const first = lending.waiting.pop_front();
    if (first != nullptr) one_waits_no_more(lending, slice);
    return first;
}

// Under the lock.
void wait_aside(Lending& lending, Stream& stream, std::uint64_t slice) {
    lending.check();
    lending.waiting.push_back(&stream.turn);
    if (lending.count++ == 0) lending.turn_over_ns = os::now_ns() + slice;
}

enum class Answer : unsigned char { no, lent, swapped };

// What the stream does with its hart: `to` is the stream that runs on with it at once.
Answer answer(Process& of, Stream& stream, Turn*& to) {
    Lending& lending = of.lending;
    std::lock_guard guard(lending.lock);
    // or the stream is about to give it back: see end_waiting_of()
    if (!stream.holds_hart || stream.serving.returned.load() != nullptr) return Answer::no;
    if (of.streams_root.to_reclaim.load() != 0) {
        wait_aside(lending, stream, slice_ns(of));
        return Answer::lent;
    }
    if (os::now_ns() < lending.turn_over_ns) return Answer::no;
    to = first_waiting(lending, slice_ns(of));
    wait_aside(lending, stream, slice_ns(of));
    return Answer::swapped;
}

// While some streams wait, each slice another stream is asked to change places with the first.
// Returns when that is due again.
std::uint64_t take_turns(Process& of, std::uint64_t now_ns) {
    std::uint64_t over_ns;
    {
        std::lock_guard guard(of.lending.lock);
        over_ns = of.lending.turn_over_ns;
    }
    if (over_ns > now_ns) return over_ns;
    ask_some(of, 1);
    return now_ns + slice_ns(of);   // once more, if no stream has answered until then
}

// The reactor sees to the turns. Where it cannot be started, the waiting stream does so.
void wait_for_turn(Process& of, Stream& stream) {
    const auto wait = [&] {
        const bool watched = of.reactor.watch(os::now_ns() + slice_ns(of));
        return stream.turn.parker.park(watched ? os::forever : slice_ns(of));
    };
    while (!wait()) take_turns(of, os::now_ns());
}

}   // namespace

void ask_to_step_aside(Process& of, std::size_t streams) { ask_some(of, streams); }

bool end_waiting(Process& of) {
    Turn* first;
    {
        std::lock_guard guard(of.lending.lock);
        first = first_waiting(of.lending, slice_ns(of));
    }
    if (first == nullptr) return false;
    first->parker.unpark();
    return true;
}

// `returned` is written before, and step_aside() reads it under the lock: either it is seen there,
// or the stream waits here. A stream that waits takes nothing out of it: where it is empty the
// stream has had that hart, and has waited for another one since.
void end_waiting_of(Stream& stream) {
    Process& of = *stream.of;
    {
        std::lock_guard guard(of.lending.lock);
        if (stream.serving.returned.load() == nullptr || !of.lending.waiting.remove(&stream.turn)) return;
        one_waits_no_more(of.lending, slice_ns(of));
        stream.turn.called_off = true;
    }
    of.base.request(of.streams_root, -1);
    stream.turn.parker.unpark();
}

bool step_aside(Stream& stream) {
    Process& of = *stream.of;
    Turn* to = nullptr;
    const Answer given = answer(of, stream, to);
    if (given == Answer::no) {
        unask(stream, attention::aside);
        return true;
    }
    stream.holds_hart = false;
    stream.counters.add(trace::Count::lent);
    probe(Probe::aside_before_lending);
    if (given == Answer::lent) {
        of.base.put(of.streams_root, 0);   // the stream still asks for a hart
    } else {
        to->parker.unpark();
    }
    trace_sleep(stream, trace::Event::sleep);
    wait_for_turn(of, stream);
    trace_sleep(stream, trace::Event::wake);
    stream.holds_hart = !std::exchange(stream.turn.called_off, false);
    unask(stream, attention::aside);   // until now it was not to be asked again
    return stream.holds_hart;
}

std::uint64_t look_at_harts(Process& of, std::uint64_t now_ns) {
    if (of.base.look_at_ns() <= now_ns) {
        if (now_ns - of.lending.limit_read_ns >= hart::Limit::lasts_ns) {
            // only a thread that is bound to no CPU may ask for it, such as the reactor
            static_cast<void>(hart::limit_anew());
            of.lending.limit_read_ns = now_ns;
        }
        of.base.look();
    }
    return std::min(of.base.look_at_ns(), take_turns(of, now_ns));
}

}   // namespace weft
