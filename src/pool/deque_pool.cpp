// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pool of a stream whose units other streams steal: README.md has the protocol of its
// unpublished part.
#include <algorithm>
#include <bit>

#include "os/clock.hpp"
#include "pool/pool.hpp"

namespace weft {

// Inside the lock. False: there is no process barrier, and no unit may lie there.
bool DequePool::may_hold_back(Own::Bits seen) {
    if ((seen & all_published) == 0) return true;
    if (!os::process_barrier_ready()) return false;
    own.clear(all_published);   // `requested` has been set since before any unit was kept
    return true;
}

// Inside the lock, or with the lock revoked.
void DequePool::publish(Unit* unit) {
    if (!ring.push_bottom(unit)) spill.push(unit);
}

// Inside the lock, or with the lock revoked: the older half, since the owner needs what is newest,
// but not more than there may be thieves for. Returns how many.
std::size_t DequePool::some_of(const GrowingRing<Unit>& of) { return std::min((of.length() + 1) / 2, most_published); }

std::size_t DequePool::publish_some() {
    Unpublished& from = own.data();
    if (const std::size_t count = some_of(from.newest); count != 0) {
        for (std::size_t i = 0; i < count; ++i) publish(from.newest.pop_front());
        return count;
    }
    const std::size_t count = some_of(from.yielded);
    for (std::size_t i = 0; i < count; ++i) spill.push(from.yielded.pop_front());
    return count;
}

// Inside the lock. Returns how many.
std::size_t DequePool::publish_rest() {
    std::size_t sum = 0;
    while (const std::size_t count = publish_some()) sum += count;
    return sum;
}

// By the owner, inside the lock: whether what it would publish is worth a steal. A request is
// weighed from the owner's next look at it until the oldest unit has waited for long enough, or the
// owner has taken it out.
DequePool::Verdict DequePool::weigh(bool popped) {
    Unpublished& mine = own.data();
    Weighing& by = mine.weighing;
    const Unit* const oldest = mine.oldest();
    if (by.looks == 0) {
        if (oldest != nullptr) by = {.looks = 1, .oldest_id = oldest->id, .since_ns = os::now_ns()};
        return Verdict::wait;
    }
    if (oldest == nullptr || oldest->id != by.oldest_id) {
        by.looks = 0;
        return decline() ? Verdict::declined : Verdict::publish;
    }
    if (popped && by.popped_ns == 0) {
        by.popped_ns = os::now_ns();
        by.pops = mine.pops;
    }
    // The clock is read rarely: that takes as long as a short unit.
    if (!std::has_single_bit(++by.looks)) return Verdict::wait;
    const std::uint64_t now_ns = os::now_ns(), took_ns = now_ns - by.popped_ns;
    const unsigned run = std::max(mine.pops - by.pops, 1u);
    const bool known = by.popped_ns != 0 && (run >= Weighing::enough || took_ns >= worth_of_all_ns);
    const std::size_t count = some_of(mine.newest.empty() ? mine.yielded : mine.newest);
    if (now_ns - by.since_ns < worth_ns && !(known && took_ns * count >= worth_of_all_ns * run)) return Verdict::wait;
    by.looks = 0;
    restraint.answered();
    return Verdict::publish;
}

// By the owner, inside the lock.
bool DequePool::decline() {
    own.clear(requested);   // before the decline: a request that comes later is a new one
    if (restraint.decline(os::now_ns())) return true;
    own.set(requested);
    return false;
}

// By the owner, inside the lock: the request is not answered now, or is declined.
bool DequePool::holds_back(bool popped) {
    if (!restraint.active() || !restraint.allowed()) return false;
    switch (weigh(popped)) {
    case Verdict::publish: return false;
    case Verdict::declined: return true;
    case Verdict::wait: break;
    }
    if (popped) return true;   // there is nothing new
    // The stream that watches may have stopped meanwhile. Then it looks at the units, after a
    // read-modify-write of this word (keep_watching): it sees them, or its end is seen here.
    own.set(requested);
    return restraint.allowed();
}

// By the owner, inside the lock: it has come to units that it had published, or has nothing left
// since others have taken them. If it does so at once, it should have kept them.
void DequePool::note_reached() {
    Unpublished& mine = own.data();
    if (mine.published_ns == 0) return;
    const bool in_vain = os::now_ns() - mine.published_ns < worth_ns;
    mine.published_ns = 0;
    mine.in_vain = in_vain ? std::min(mine.in_vain + 1, patience) : 0;
    if ((mine.in_vain == patience) != restraint.active()) restraint.set_active(!restraint.active());
}

// By the owner, inside the lock. `popped`: the owner has popped, and not pushed. Returns how many
// units it has published.
std::size_t DequePool::answer_request(Own::Bits seen, bool popped) {
    if ((seen & requested) == 0 || holds_back(popped)) return 0;
    if (own.data().empty()) return 0;
    // Before the publication: a request that comes later is a new one.
    own.clear(requested);
    if (os::process_barrier_ready()) {
        own.data().published_ns = os::now_ns();
        return publish_some();
    }
    // A filter of system calls has come: no thread can take what is not published.
    own.set(all_published);
    return publish_rest();
}

// By the owner, outside the lock. The sleepers that stay asleep have requested as well, and are on
// the idle list since before.
void DequePool::wake_for(Own::Bits seen, std::size_t published) {
    if (published == 0) return;
    probe(Probe::push_before_wake);
    idle_list.wake_some(static_cast<std::uint32_t>(published));
    if ((seen & requested) != 0 && idle_list.anybody()) own.set(requested);
}

void DequePool::push_own_slow(Unit* unit) {
    const Own::Bits seen = own.enter();
    if ((seen & Own::revoked) != 0) {
        own.leave();
        spill.push(unit);
        return wake_for(0, 1);
    }
    if (!may_hold_back(seen) || !own.data().newest.push_back(unit)) {
        publish(unit);
        own.leave();
        return wake_for(0, 1);
    }
    const std::size_t published = answer_request(seen, false);
    own.leave();
    wake_for(seen, published);
}

void DequePool::push_many_own(Unit* first, Unit* last) {
    const Own::Bits seen = own.enter();
    bool kept = (seen & Own::revoked) == 0 && may_hold_back(seen);
    while (kept && first != nullptr) {
        Unit* const following = first == last ? nullptr : first->link;
        kept = own.data().newest.push_back(first);
        if (kept) first = following;
    }
    const std::size_t published = kept ? answer_request(seen, false) : 0;
    own.leave();
    wake_for(seen, published);
    while (first != nullptr) {
        Unit* const following = first == last ? nullptr : first->link;
        push_own_slow(first);
        first = following;
    }
}

// Inside the lock, unless it is revoked.
void DequePool::push_yielded_slow(Unit* unit) {
    own.leave();
    spill.push(unit);
    wake_for(0, 1);   // a request still stands
}

// Inside the lock, unless it is revoked.
Unit* DequePool::pop_own_slow(Own::Bits seen) {
    if ((seen & Own::revoked) != 0) {
        own.leave();
        Unit* const unit = ring.steal().node;
        return unit != nullptr ? unit : spill.pop();
    }
    Unpublished& mine = own.data();
    Unit* unit = ++mine.pops % turn == 0 ? pop_in_turn() : nullptr;
    if (unit == nullptr) unit = mine.newest.pop_back();
    const bool kept = unit != nullptr;
    if (unit == nullptr) unit = ring.pop_bottom();
    // What has yielded and what has come from elsewhere take turns.
    if (unit == nullptr && (mine.pops % 2 == 0 || spill.looks_empty())) unit = mine.yielded.pop_front();
    if (!kept) note_reached();
    const std::size_t published = answer_request(seen, true);
    own.leave();
    if (unit == nullptr) unit = spill.pop();
    wake_for(seen, published);
    return unit;
}

// Inside the lock. The oldest unit of one of the places where units may lie behind others that are
// always replaced by new ones; the places take turns.
Unit* DequePool::pop_in_turn() {
    Unpublished& mine = own.data();
    mine.turn_by_ns = 0;
    constexpr unsigned places = 3;
    for (unsigned i = 0; i < places; ++i) {
        Unit* unit = nullptr;
        switch ((mine.pops / turn + i) % places) {
        case 0: unit = spill.pop(); break;
        case 1: unit = mine.yielded.pop_front(); break;
        default:
            unit = ring.steal().node;
            if (unit == nullptr) unit = mine.newest.pop_front();
        }
        if (unit != nullptr) return unit;
    }
    return nullptr;
}

// Inside the lock, unless it is revoked.
bool DequePool::pop_own_if_slow(Unit* unit, Own::Bits seen, bool in_row) {
    if ((seen & Own::revoked) != 0) {
        own.leave();
        return false;
    }
    Unpublished& mine = own.data();
    if ((mine.pops + 1) % turn == 0 && !(in_row && none_but_newest()) && !turn_may_wait()) {
        own.leave();
        return false;
    }
    const bool kept = !mine.newest.empty();
    const bool popped = kept ? mine.newest.pop_back_if(unit) == Newest::Popped::yes : ring.pop_bottom_if(unit);
    if (popped) ++mine.pops;
    if (popped && !kept) note_reached();
    const std::size_t published = answer_request(seen, true);
    own.leave();
    wake_for(seen, published);
    return popped;
}

bool DequePool::take_next(Unit* unit) {
    if (!mine()) return false;
    const Own::Bits seen = own.enter();
    bool taken = false;
    if ((seen & Own::revoked) == 0) {
        Unpublished& from = own.data();
        if (!from.newest.empty()) {
            taken = from.newest.pop_back_if(unit) == Newest::Popped::yes;
        } else if (!ring.looks_empty()) {
            taken = ring.pop_bottom_if(unit);
        } else if (from.yielded.front() == unit) {
            from.yielded.pop_front();
            taken = true;
        } else {
            taken = spill.pop_if(unit);
        }
    }
    const std::size_t published = (seen & Own::revoked) == 0 ? answer_request(seen, true) : 0;
    own.leave();
    wake_for(seen, published);
    if (taken) access_check.popped(access);
    return taken;
}

// Inside the lock.
bool DequePool::none_but_newest() const {
    return own.data().yielded.empty() && ring.looks_empty() && spill.looks_empty();
}

// Inside the lock. A turn that is put off again and again comes at last: but not where each unit
// that could have it is younger than the first time.
bool DequePool::turn_may_wait() {
    Unpublished& mine = own.data();
    const std::uint64_t now_ns = os::now_ns();
    const Unit* const oldest = mine.newest.front();
    const std::uint64_t oldest_id = oldest == nullptr ? 0 : oldest->id;
    if (mine.turn_by_ns == 0 || (oldest_id != mine.turn_of && none_but_newest())) {
        mine.turn_by_ns = now_ns + longest_calling_ns;
        mine.turn_of = oldest_id;
    }
    return now_ns < mine.turn_by_ns;
}

void DequePool::publish_all() {
    os::Backoff backoff;
    while ((own.enter() & Own::revoked) != 0) {
        own.leave();
        backoff.wait();
    }
    const std::size_t published = publish_rest();
    own.leave();
    wake_for(0, published);
}

Unit* DequePool::steal() {
    // A lost race is not tried again here: the scheduler has other victims, and comes here again
    // before it sleeps. A thief that finds nothing anywhere requests a steal when it is idle.
    if (Unit* unit = ring.steal().node) return unit;
    return spill.pop();
}

bool DequePool::request_steal(const void* stream) {
    Own::Bits seen = all_published;
    restraint.request(stream, os::now_ns, [&] {
        seen = own.wanted();
        if ((seen & requested) == 0) seen = own.set(requested);
    });
    return (seen & all_published) == 0;
}

bool DequePool::insist_on_steal() {
    Own::Bits seen = all_published;
    restraint.request_insistently([&] { seen = own.set(requested); });
    return (seen & all_published) == 0;
}

std::uint64_t DequePool::keep_watching(void* stream) {
    return restraint.keep_watching(stream, [this] {
        own.set(requested);   // it stands already
        return quiet();
    });
}

void DequePool::publish_for_owner() {
    if (own.data().empty() || !own.revoke()) return;
    const std::size_t published = publish_some();
    own.data().published_ns = os::now_ns();
    own.restore();
    wake_for(0, published);
}

}   // namespace weft
