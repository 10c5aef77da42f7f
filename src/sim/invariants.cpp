// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sim/invariants.hpp"

#include <cstdio>

#include "hart/quota.hpp"
#include "process/process.hpp"
#include "share/guest.hpp"
#include "sim/structures.hpp"
#include "unit/names.hpp"

namespace weft::sim {
namespace {

template <class... Values>
std::string sentence(const char* format, Values... values) {
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

using GuestPhase = hart::Root::GuestPhase;

// The requests to a stream, by name.
std::string names_of(Attention asked) {
    static constexpr struct {
        Attention bit;
        const char* name;
    } names[] = {
        {attention::stop, "stop"},           {attention::pause, "pause"},         {attention::exit, "exit"},
        {attention::timing, "timing"},       {attention::polling, "polling"},     {attention::alarm, "alarm"},
        {attention::posted, "posted"},       {attention::poll, "poll"},           {attention::adopt, "adopt"},
        {attention::replace, "replace"},     {attention::observing, "observing"}, {attention::observed, "observed"},
        {attention::unwatched, "unwatched"}, {attention::abandon, "abandon"},     {attention::lent, "lent"},
        {attention::aside, "aside"},         {attention::relieved, "relieved"},
    };
    std::string text;
    for (const auto& [bit, name] : names) {
        if (asked.has(bit)) text += (text.empty() ? "" : ", ") + std::string(name);
    }
    return text;
}

bool stands(const Guest& guest, GuestPhase where) { return guest.root.guest_phase.load() == where; }

// The stream has given its hart back for want of work; not to a domain, and not because it was
// asked to rest.
bool rests(const Stream& stream) {
    if (stream.role.guest != nullptr && !stands(*stream.role.guest, GuestPhase::waits) &&
        !stands(*stream.role.guest, GuestPhase::wants))
        return false;
    return !stream.holds_hart && stream.serving.domain == nullptr && stream.carrier.thread_id.load() != 0 &&
           !stream.asked().has(attention::pause | attention::exit);
}

// A user-defined pool answers with the user's code, which may do anything. The stream that watches
// a deque looks in time for what its owner, which has declined the last request, keeps there.
bool holds_work(const Pool& pool) {
    if (pool.kind == WEFT_POOL_USER || pool::quiet(pool)) return false;
    return !(pool::has_declined(pool) && pool::is_watched(pool)) ||
           !static_cast<const DequePool&>(pool).nothing_published();
}

// No wake-up is lost: a stream sleeps only while its pools are empty, and while it has no request.
std::string lost_wake_up(const Stream& stream) {
    if (!rests(stream)) return {};
    for (std::size_t i = 0; i < stream.sched->count; ++i) {
        if (!holds_work(*stream.sched->pools[i])) continue;
        return sentence(
            "a wake-up was lost: every hart waits, and stream %zu sleeps while a unit is ready in pool %zu of its "
            "scheduler\n",
            stream.rank, i);
    }
    if (stream.own != nullptr && holds_work(*stream.own)) {
        return sentence(
            "a wake-up was lost: every hart waits, and stream %zu sleeps while a unit that is bound to it is ready\n",
            stream.rank);
    }
    if (has_pending_attention(stream)) {
        return sentence("a wake-up was lost: every hart waits, and stream %zu sleeps while it is asked to see to: %s\n",
                        stream.rank, names_of(stream.asked()).c_str());
    }
    return {};
}

struct Counted {
    std::size_t alive = 0;
};

void count_alive(void* object, void* raw) {
    const auto& unit = *static_cast<const Unit*>(object);
    if (unit.life.is(State::free) || unit.life.is(State::done) || unit.has(Unit::primary)) return;
    ++static_cast<Counted*>(raw)->alive;
}

void describe(void* object, void* raw) {
    const auto& unit = *static_cast<const Unit*>(object);
    if (unit.life.is(State::free)) return;
    auto& to = *static_cast<std::string*>(raw);
    to += sentence("  unit %llu '%s' (%s): %s", static_cast<unsigned long long>(unit.id), unit.name, name_of(unit.kind),
                   name_of(unit.life.now()));
    if (unit.life.is(State::waiting)) to += sentence(" for %s %p", name_of(unit.waits), unit.waits_object);
    to += '\n';
}

// A guest that can continue has a hart, or one is requested for it.
std::string guest_that_is_lost(const Stream& stream) {
    if (stream.role.guest == nullptr || stream.role.guest->unit == nullptr ||
        !stands(*stream.role.guest, GuestPhase::waits))
        return {};
    if (!stream.role.guest->unit->life.is(State::ready) || stream.role.guest->unit->pool != stream.role.guest->pool)
        return {};
    return sentence("a guest is lost: the unit of stream %zu is ready, and no hart is requested for it\n", stream.rank);
}

// Each holder of a hart is counted once: the streams' harts agree with the streams that hold one.
std::string harts_that_are_lost(const Process& of) {
    std::size_t held = 0;
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        if (of.streams[rank] != nullptr && of.streams[rank]->holds_hart) ++held;
    }
    const std::size_t granted = of.streams_root.held;   // no hart runs, so none has the base's lock
    if (held == granted) return {};
    return sentence("harts are lost: %zu streams hold one, and %zu are granted to them\n", held, granted);
}

// A guest waits for a hart only while there is neither a free one nor one that another guest has
// left reclaimable.
std::string grant_that_is_lost(const Process& of) {
    std::size_t wanting = 0, reclaimable = 0;
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        const Guest* const guest = of.streams[rank] == nullptr ? nullptr : of.streams[rank]->role.guest;
        if (guest == nullptr) continue;
        wanting += stands(*guest, GuestPhase::wants);
        reclaimable += stands(*guest, GuestPhase::reclaimable);
    }
    if (wanting == 0 || (reclaimable == 0 && of.base.granted() >= of.base.limit_in_effect())) return {};
    return sentence(
        "a grant is lost: %zu guests wait for a hart, and of %zu harts %zu are granted, %zu of them loose\n", wanting,
        of.base.limit_in_effect(), of.base.granted(), reclaimable);
}

std::string units_that_are_lost(Process& of) {
    Counted counted;
    of.descriptors.each(count_alive, &counted);
    const std::uint64_t created = sum(of, trace::Count::created) + sum(of, trace::Count::revived),
                        finished = sum(of, trace::Count::finished);
    if (created == finished + counted.alive) return {};
    return sentence("units are lost: %llu were created or revived, %llu have ended and %zu live\n",
                    static_cast<unsigned long long>(created), static_cast<unsigned long long>(finished), counted.alive);
}

}   // namespace

std::string broken_invariant() {
    Process* const of = process_or_null();
    if (of == nullptr) return {};
    for (std::size_t rank = 0; rank < of->ranks_used; ++rank) {
        if (of->streams[rank] == nullptr) continue;
        if (std::string wrong = lost_wake_up(*of->streams[rank]); !wrong.empty()) return wrong;
        if (std::string wrong = guest_that_is_lost(*of->streams[rank]); !wrong.empty()) return wrong;
    }
    if (std::string wrong = grant_that_is_lost(*of); !wrong.empty()) return wrong;
    if (std::string wrong = harts_that_are_lost(*of); !wrong.empty()) return wrong;
    if (std::string wrong = units_that_are_lost(*of); !wrong.empty()) return wrong;
    check_structures(*of);
    return {};
}

void describe_units(std::string& text) {
    Process* const of = process_or_null();
    if (of == nullptr) return;
    for (std::size_t rank = 0; rank < of->ranks_used; ++rank) {
        const Stream* const stream = of->streams[rank];
        if (stream == nullptr) continue;
        text += sentence("  stream %zu: %s", rank,
                         stream->running != nullptr ? "runs a unit"
                         : rests(*stream)           ? "rests"
                                                    : "is at work");
        if (stream->asked().any()) text += "; is asked to see to: " + names_of(stream->asked());
        text += '\n';
    }
    of->base.each([&](const hart::Root& root) {   // no hart runs, so none has the base's lock
        text += sentence("  %s: has %zu harts, %zu of them on their way, asks for %td, is to give back %u%s%s\n",
                         &root == &of->streams_root ? "the streams' root"
                         : root.guest               ? "a guest's root"
                                                    : "a domain's root",
                         root.held, root.coming, root.asked, root.to_reclaim.load(),
                         root.is_idle.load() ? ", has nothing to do" : "", root.closing ? ", is closing" : "");
    });
    of->descriptors.each(describe, &text);
}

}   // namespace weft::sim
