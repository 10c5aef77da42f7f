// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hart/base.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/assert.hpp"
#include "base/probe.hpp"

namespace weft::hart {
namespace {

// How long a limit counts as up to date.
constexpr std::uint64_t limit_lasts_ns = 1'000'000'000;

// Whether `a` has less than `b` in proportion to what it may have.
bool has_less(std::size_t a, unsigned weight_a, std::size_t b, unsigned weight_b) {
    return a * weight_b < b * weight_a;
}

bool is_reclaimable(const Root& root) { return root.guest && root.guest_phase.load() == Root::GuestPhase::reclaimable; }

[[gnu::always_inline]] inline std::size_t asked(const Root& root) {
    return root.asked > 0 && !is_reclaimable(root) ? static_cast<std::size_t>(root.asked) : 0;
}
[[gnu::always_inline]] inline std::size_t wanted(const Root& root) {
    return root.is_idle.load() ? std::min(asked(root), root.held) : asked(root);
}

}   // namespace

std::size_t Base::room() const { return limit() > counted_ ? limit() - counted_ : 0; }

std::uint64_t Base::time_ns() {
    if (time_ns_ == 0) time_ns_ = hooks_.now_ns();
    return time_ns_;
}

bool Base::in_slice(const Root& root, std::uint64_t now_ns) const {
    return root.held != 0 && now_ns < root.since_ns + slice_ns_;
}

// One hart after the other goes to the root with the best claim. Equal claims: the root that
// already has the hart, so that it does not go to and fro. But where not all can have one they take
// turns, each for a slice, and the next is the root that was served longest ago.
void Base::fill() {
    std::size_t left = limit(), wanting = 0;
    bool some_yielding = false;
    const auto begin = [&](Root& root) {
        root.target = policy_ == Policy::first_come ? std::min(left, wanted(root)) : 0;
        left -= root.target;
    };
    for (Root* root = first_; root != nullptr; root = root->next) {
        if (root->yielding && root->yielding_since_ns + slice_ns_ <= time_ns()) root->yielding = false;
        some_yielding |= root->yielding;
        if (root->yielding) continue;
        begin(*root);
        if (wanted(*root) != 0) ++wanting;
    }
    for (Root* root = first_; some_yielding && root != nullptr; root = root->next) {
        if (root->yielding) begin(*root);
    }
    turns_ = policy_ != Policy::first_come && wanting > left;
    if (policy_ == Policy::first_come) return;
    const std::uint64_t now_ns = turns_ ? time_ns() : 0;
    const auto weight = [&](const Root& of) { return policy_ == Policy::weighted ? of.weight : 1; };
    const auto comes_first = [&](const Root& a, const Root& b) {
        if (in_slice(a, now_ns) != in_slice(b, now_ns)) return in_slice(a, now_ns);
        if ((a.held == 0) != (b.held == 0)) return a.held == 0;   // waiting roots before those that had their slice
        return a.served < b.served;
    };
    const auto better = [&](const Root& a, const Root& b) {
        if (a.yielding != b.yielding) return b.yielding;
        if (has_less(a.target, weight(a), b.target, weight(b))) return true;
        if (has_less(b.target, weight(b), a.target, weight(a))) return false;
        return turns_ && a.target == 0 ? comes_first(a, b) : a.held > a.target && b.held <= b.target;
    };
    if (policy_ == Policy::fair && !some_yielding) left = fill_evenly(left);
    for (; left != 0; --left) {
        Root* best = nullptr;
        for (Root* root = first_; root != nullptr; root = root->next) {
            if (wanted(*root) > root->target && (best == nullptr || better(*root, *best))) best = root;
        }
        if (best == nullptr) return;
        ++best->target;
    }
}

// As fill() does, as long as each root that wants harts gets one more, but all of these at once:
// the time does not grow with the number of harts. Returns how many are left.
std::size_t Base::fill_evenly(std::size_t left) {
    for (;;) {
        std::size_t wanting = 0, least = left;
        for (const Root* root = first_; root != nullptr; root = root->next) {
            const std::size_t more = wanted(*root);
            if (more <= root->target) continue;
            ++wanting;
            least = std::min(least, more - root->target);
        }
        const std::size_t each = wanting == 0 ? 0 : std::min(least, left / wanting);
        if (each == 0) return left;
        for (Root* root = first_; root != nullptr; root = root->next) {
            if (wanted(*root) <= root->target) continue;
            root->target += each;
            left -= each;
        }
    }
}

// What a root has beyond its request; and beyond its target where another root lacks it, or where
// there are more harts than there should be. The streams may have more than there should be, unless
// others want harts.
void Base::update_reclaims() {
    bool shared = false;
    for (const Root* root = first_; root != nullptr; root = root->next)
        shared |= !root->notified && (root->held != 0 || wanted(*root) != 0);
    std::size_t lacking = shared && counted_ > limit() ? counted_ - limit() : 0;
    for (const Root* root = first_; root != nullptr; root = root->next) {
        if (root->target > root->held) lacking += root->target - root->held;
    }
    lacking -= std::min(lacking, room());
    for (Root* root = first_; root != nullptr; root = root->next) {
        const std::size_t beyond_target = root->held > root->target ? root->held - root->target : 0;
        const std::size_t beyond_request =
            root->held > wanted(*root) && !is_reclaimable(*root) ? root->held - wanted(*root) : 0;
        const std::size_t back = std::max(std::min(beyond_target, lacking), beyond_request);
        lacking -= std::min(lacking, back);
        // Counted before it is written, in both directions. relaxed: it is written only under the
        // lock.
        const std::size_t said = root->to_reclaim.load(std::memory_order_relaxed);
        if ((back != 0) != (said != 0)) root->reclaim_changes.fetch_add(1);
        if (back != said) root->to_reclaim.store(static_cast<std::uint32_t>(back));
    }
}

Root* Base::neediest() const {
    Root* best = nullptr;
    for (Root* root = first_; root != nullptr; root = root->next) {
        if (root->target <= root->held) continue;
        if (best == nullptr || root->held < best->held || (root->held == best->held && root->served < best->served))
            best = root;
    }
    return best;
}

void Base::count(Root& root) {
    root.check();
    root.yielding = false;
    if (root.held++ == 0) root.since_ns = time_ns();
    root.served = ++order_;
    grants_.store(grants() + 1, std::memory_order_relaxed);   // relaxed: under the lock
    ++counted_;
}

void Base::uncount(Root& root) {
    root.check();
    WEFT_ASSERT(root.held != 0);
    --root.held;
    --counted_;
}

std::size_t Base::limit_in_effect() const {
    // relaxed: a number
    const std::size_t there = hooks_.limit(), withheld = withheld_.load(std::memory_order_relaxed);
    return there > withheld ? there - withheld : std::min<std::size_t>(there, 1);
}

Root* Base::settle() {
    limit_ = limit_in_effect();
    // A hart is not on its way if no thread has been sent with it.
    for (Root* root = first_; root != nullptr; root = root->next) {
        for (; root->coming != 0 && root->held > wanted(*root); --root->coming) uncount(*root);
    }
    Root* granted = nullptr;
    bool lacking;
    do {
        fill();
        while (room() != 0) {
            Root* const root = neediest();
            if (root == nullptr) break;
            count(*root);
            ++root->coming;
            if (granted == nullptr && !root->notified) granted = root;
        }
        lacking = somebody_lacks();
        if (lacking != said_lacking_) notify_guests(lacking);   // before the check for reclaimable harts
    } while (lacking && take_reclaimable());
    // relaxed: under the lock
    if (contended_.load(std::memory_order_relaxed) != (lacking ? 1U : 0U)) contended_.store(lacking ? 1 : 0);
    update_reclaims();
    plan_look();
    bool lacks = false;
    std::uint64_t make_way_at_ns = os::forever;
    for (const Root* root = first_; root != nullptr; root = root->next) {
        if (wanted(*root) <= root->held) continue;
        lacks = true;
        if (root->held == 0)
            make_way_at_ns =
                std::min(make_way_at_ns, root->yielding ? root->yielding_since_ns + root->yielding_for_ns : 0);
    }
    lacks_.store(lacks);
    publish();
    // relaxed, both: a hint
    if (make_way_at_ns != make_way_at_ns_.load(std::memory_order_relaxed))
        make_way_at_ns_.store(make_way_at_ns, std::memory_order_relaxed);
    time_ns_ = 0;
    return granted;
}

void Base::notify_guests(bool lacking) {
    said_lacking_ = lacking;
    for (Root* root = first_; root != nullptr; root = root->next) {
        if (root->guest) root->contended.store(lacking);
    }
}

bool Base::somebody_lacks() const {
    if (counted_ > limit_) return true;
    for (const Root* root = first_; root != nullptr; root = root->next) {
        if (root->held < root->target || (root->held == 0 && wanted(*root) != 0)) return true;
    }
    return false;
}

bool Base::take_reclaimable() {
    for (Root* root = first_; root != nullptr; root = root->next) {
        Root::GuestPhase seen = Root::GuestPhase::reclaimable;
        if (!is_reclaimable(*root) || !root->guest_phase.compare_exchange_strong(seen, Root::GuestPhase::outside))
            continue;
        probe(Probe::guest_hart_taken);
        root->asked = 0;
        uncount(*root);
        unlinked(*root);
        return true;
    }
    return false;
}

// The next look comes when a slice ends that another root waits for. Nothing reports a change of
// the limit, so it is checked while some root could have more harts or fewer. And a root that was
// notified, and has not answered, is notified again.
void Base::plan_look() {
    std::size_t claimed = 0;
    bool limited = false, telling = false;
    for (const Root* root = first_; root != nullptr; root = root->next) {
        claimed += std::max(asked(*root), root->held);
        limited |= !root->notified && wanted(*root) != 0;
        telling |= root->notified && root->to_reclaim.load() != 0;
    }
    // One hart always exists. What roots ask for counts, however much of it they want now: where
    // the limit is one, that limit itself may have made the hart's holder idle.
    limited &= claimed > 1;
    const std::uint64_t now_ns = turns_ || limited || telling ? time_ns() : 0;
    std::uint64_t at_ns = os::forever;
    for (const Root* root = first_; turns_ && root != nullptr; root = root->next) {
        if (in_slice(*root, now_ns)) at_ns = std::min(at_ns, root->since_ns + slice_ns_);
    }
    for (const Root* root = first_; root != nullptr; root = root->next) {
        if (root->yielding) at_ns = std::min(at_ns, root->yielding_since_ns + slice_ns_);
    }
    // A planned time stays, even when no root needs it any more: planning a time that comes before
    // all others wakes a thread, and a domain that goes to sleep may be back soon.
    const auto plan = [&](std::uint64_t& planned_ns, bool wanted, std::uint64_t after_ns) {
        if (wanted && planned_ns == os::forever) planned_ns = now_ns + after_ns;
        at_ns = std::min(at_ns, planned_ns);
    };
    plan(limit_look_ns_, limited, limit_lasts_ns);
    plan(notify_again_ns_, telling, slice_ns_);
    look_at_ns_.store(at_ns);
}

void Base::send_out() {
    for (;;) {
        Root* to = nullptr;
        {
            std::lock_guard guard(lock_);
            for (Root* root = first_; root != nullptr && to == nullptr; root = root->next) {
                if (root->coming != 0) to = root;
            }
            if (to == nullptr) return;
            --to->coming;
        }
        const std::uint64_t freed = freed_.load();
        const bool needs_thread = !to->notified;
        // The root holds the hart that is on its way, so it stays.
        if (hooks_.send(*to, hooks_.argument)) continue;
        bool left;
        {
            std::lock_guard guard(lock_);
            uncount(*to);
            left = unlinked(*to);
            // No thread is available for the other roots either, except for guests, whose threads
            // exist and which may have what is left now. The next change tries again, or the next
            // thread that becomes free (thread_is_free). None of these roots is closing: its
            // request would be over.
            bool some_guest = false;
            for (Root* root = first_; root != nullptr; root = root->next) {
                for (; root->coming != 0 && !root->guest; --root->coming) uncount(*root);
                if (root->guest && wanted(*root) > root->held) some_guest = true;
            }
            publish();
            if (some_guest) settle();
        }
        if (left) hooks_.closed(*to, hooks_.argument);
        if (!needs_thread) continue;
        unserved_.store(true);
        if (freed_.load() == freed || !unserved_.exchange(false)) continue;
        std::lock_guard guard(lock_);
        settle();
    }
}

void Base::request_nothing() {
    change([] {});
}

void Base::notify() {
    for (;;) {
        Root* to = nullptr;
        {
            std::lock_guard guard(lock_);
            for (Root* root = first_; root != nullptr && to == nullptr; root = root->next) {
                const std::size_t back = root->to_reclaim.load();
                if (root->notified && std::exchange(root->notified_of, back) != back && back != 0) to = root;
            }
        }
        if (to == nullptr) return;
        hooks_.notify(*to, hooks_.argument);
    }
}

template <class Change>
Root* Base::change(Change change, Caller caller, Root* itself) {
    Root* to = nullptr;
    bool follows = false;
    {
        std::lock_guard guard(lock_);
        change();
        Root* const granted = settle();
        if (caller == Caller::goes) to = granted;
        if (caller == Caller::waits && itself->coming != 0) to = itself;
        if (to != nullptr) --to->coming;
        for (const Root* root = first_; root != nullptr; root = root->next) {
            follows |= root->coming != 0 || (root->notified && root->notified_of != root->to_reclaim.load());
        }
    }
    if (follows) {
        send_out();
        notify();
    }
    if (const std::uint64_t at_ns = look_at_ns(); at_ns != os::forever) hooks_.watch(at_ns, hooks_.argument);
    if (lacks()) hooks_.lacking(hooks_.argument);
    return to;
}

void Base::join(Root& root) {
    std::lock_guard guard(lock_);
    link(root);
}

void Base::link(Root& root) {
    Root** end = &first_;
    while (*end != nullptr) end = &(*end)->next;
    *end = &root;
    root.next = nullptr;
    if (!root.stays) {
        root.place = ++order_;
        root.vain_ns = 0;
    }
    root.served = root.place;
    if (root.guest) root.contended.store(said_lacking_);
}

void Base::close(Root& root) {
    change([&] {
        WEFT_ASSERT(root.held != 0);
        root.closing = true;
        root.asked = 0;
    });
}

bool Base::unlinked(Root& root) {
    if (root.held != 0 || !(root.closing || (root.guest && root.asked == 0))) return false;
    Root** at = &first_;
    while (*at != &root) at = &(*at)->next;
    *at = root.next;
    root.stays = root.guest && stays_in_place(root);
    return true;
}

// The guest has been woken for nothing. Its turn is over nevertheless once it has had its hart for
// a slice in total, over however many times.
bool Base::stays_in_place(Root& guest) {
    if (!std::exchange(guest.in_vain, false)) return false;
    guest.vain_ns += time_ns() - guest.since_ns;
    return guest.vain_ns < slice_ns_;
}

void Base::set_policy(Policy policy) {
    change([&] { policy_ = policy; });
}

void Base::set_weight(Root& root, unsigned weight) {
    change([&] { root.weight = weight; });
}

void Base::request(Root& root, std::ptrdiff_t delta) {
    change([&] {
        root.asked += delta;
        if (delta >= 0) root.is_idle.store(false);   // a root that wants fewer has no more to do than before
    });
}

void Base::look() {
    change([&] {
        const std::uint64_t now_ns = time_ns();
        if (limit_look_ns_ <= now_ns) limit_look_ns_ = os::forever;   // it is planned anew
        if (notify_again_ns_ > now_ns) return;
        notify_again_ns_ = os::forever;
        for (Root* root = first_; root != nullptr; root = root->next) root->notified_of = 0;
    });
}

Root* Base::give_back(Root& root, bool& last, bool takes_next) {
    return change(
        [&] {
            uncount(root);
            last = unlinked(root);
        },
        takes_next ? Caller::goes : Caller::stays);
}

bool Base::admit(Root& guest) {
    return change(
               [&] {
                   link(guest);
                   guest.asked = 1;
               },
               Caller::waits, &guest) != nullptr;
}

Root* Base::release(Root& guest) {
    return change(
        [&] {
            guest.asked = 0;
            uncount(guest);
            unlinked(guest);
        },
        Caller::goes);
}

Root* Base::step_aside(Root& guest) {
    return change(
        [&] {
            uncount(guest);
            guest.yielding = true;
            const std::uint64_t least_aside_ns = slice_ns_ / 128;
            // the guest has done nothing but poll since it got its hart
            const bool in_vain = time_ns() - guest.since_ns < least_aside_ns;
            guest.yielding_for_ns =
                in_vain && guest.yielding_for_ns != 0 ? std::min(2 * guest.yielding_for_ns, slice_ns_) : least_aside_ns;
            guest.yielding_since_ns = time_ns();
        },
        Caller::goes);
}

void Base::make_way(Root& root) {
    change([&] {
        root.since_ns = 0;
        for (Root* other = first_; other != nullptr; other = other->next) {
            if (!other->yielding || other->yielding_since_ns + other->yielding_for_ns > time_ns()) continue;
            other->yielding = false;
            break;
        }
    });
}

void Base::hand_over(Root& root, Root& guest, bool& last) {
    change([&] {
        uncount(root);
        last = unlinked(root);
        link(guest);
        guest.asked = 1;
        count(guest);
    });
}

void Base::forget(const Root& guest) {
    std::lock_guard guard(lock_);
    WEFT_ASSERT(guest.held == 0 && guest.asked == 0);
}

void Base::take(Root& root, std::ptrdiff_t delta) {
    change([&] {
        root.asked += delta;
        count(root);
    });
}

void Base::put(Root& root, std::ptrdiff_t delta) {
    change([&] {
        root.asked += delta;
        uncount(root);
        unlinked(root);
    });
}

void Base::lend_beyond(std::ptrdiff_t harts) {
    change([&] { beyond_ += static_cast<std::size_t>(harts); });
}

bool Base::withhold(std::size_t harts) {
    bool may = true;
    change([&] {
        for (const Root* root = first_; root != nullptr; root = root->next)
            may &= !root->notified || (root->held == 0 && wanted(*root) == 0);
        withheld_.store(may ? harts : 0, std::memory_order_relaxed);   // relaxed: under the lock
    });
    return may;
}

void Base::take_beyond(Root& root) {
    change([&] {
        ++beyond_;
        ++root.asked;
        count(root);
    });
}

std::size_t Base::lacking(const Root** roots, std::size_t most) const {
    std::lock_guard guard(lock_);
    std::size_t found = 0;
    for (const Root* root = first_; root != nullptr && found < most; root = root->next) {
        if (wanted(*root) > root->held && !root->yielding) roots[found++] = root;
    }
    return found;
}

std::size_t Base::available() const {
    std::lock_guard guard(lock_);
    const std::size_t all = limit_in_effect();
    std::size_t busy = counted_;
    for (const Root* root = first_; root != nullptr; root = root->next) busy -= is_reclaimable(*root) ? 1 : 0;
    return all > busy ? all - busy : 0;
}

void Base::move(Root& from, std::ptrdiff_t from_delta, Root& to, std::ptrdiff_t to_delta, bool& last) {
    change([&] {
        from.asked += from_delta;
        uncount(from);
        last = unlinked(from);
        to.asked += to_delta;
        count(to);
        // The slice moves with the hart: otherwise a stream whose units call one team after the
        // other would get a new slice each time.
        if (to.held == 1) to.since_ns = from.since_ns;
    });
}

}   // namespace weft::hart
