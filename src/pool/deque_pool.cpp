// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pool of a stream whose units other streams steal: README.md has the protocol of its
// unpublished part.
#include <algorithm>

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
std::size_t DequePool::publish_some() {
    Unpublished& from = own.data();
    const auto some_of = [](const GrowingRing<Unit>& of) { return std::min((of.length() + 1) / 2, most_published); };
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

// By the owner, inside the lock. Returns how many units it has published.
std::size_t DequePool::answer_request(Own::Bits seen) {
    if ((seen & requested) == 0 || own.data().empty()) return 0;
    // Before the publication: a request that comes later is a new one.
    own.clear(requested);
    if (os::process_barrier_ready()) return publish_some();
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
    const std::size_t published = answer_request(seen);
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
    const std::size_t published = kept ? answer_request(seen) : 0;
    own.leave();
    wake_for(seen, published);
    while (first != nullptr) {
        Unit* const following = first == last ? nullptr : first->link;
        push_own_slow(first);
        first = following;
    }
}

void DequePool::push_yielded(Unit* unit) {
    const Own::Bits seen = own.enter();
    if (seen == 0 && own.data().yielded.push_back(unit)) [[likely]]
        return own.leave();
    own.leave();
    spill.push(unit);
    wake_for(0, 1);   // a request still stands
}

Unit* DequePool::pop_own() {
    const Own::Bits seen = own.enter();
    Unpublished& mine = own.data();
    if (seen == 0 && (mine.pops + 1) % turn != 0) [[likely]] {
        Unit* unit = mine.newest.pop_back();
        if (unit == nullptr && ring.length() == 0 && spill.looks_empty()) unit = mine.yielded.pop_front();
        if (unit != nullptr) [[likely]] {
            ++mine.pops;
            own.leave();
            return unit;
        }
    }
    return pop_own_slow(seen);
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
    if (unit == nullptr) unit = ring.pop_bottom();
    // What has yielded and what has come from elsewhere take turns.
    if (unit == nullptr && (mine.pops % 2 == 0 || spill.looks_empty())) unit = mine.yielded.pop_front();
    const std::size_t published = answer_request(seen);
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
    const bool popped = mine.newest.empty() ? ring.pop_bottom_if(unit) : mine.newest.pop_back_if(unit);
    if (popped) ++mine.pops;
    const std::size_t published = answer_request(seen);
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
            taken = from.newest.pop_back_if(unit);
        } else if (!ring.looks_empty()) {
            taken = ring.pop_bottom_if(unit);
        } else if (from.yielded.front() == unit) {
            from.yielded.pop_front();
            taken = true;
        } else {
            taken = spill.pop_if(unit);
        }
    }
    const std::size_t published = (seen & Own::revoked) == 0 ? answer_request(seen) : 0;
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
    // before it sleeps.
    if (Unit* unit = ring.steal().node) return unit;
    if (Unit* unit = spill.pop()) return unit;
    request_steal();
    return nullptr;
}

bool DequePool::request_steal() {
    Own::Bits seen = own.wanted();
    if ((seen & requested) == 0) seen = own.set(requested);
    return (seen & all_published) == 0;
}

void DequePool::publish_for_owner() {
    if (own.data().empty() || !own.revoke()) return;
    const std::size_t published = publish_some();
    own.restore();
    wake_for(0, published);
}

}   // namespace weft
