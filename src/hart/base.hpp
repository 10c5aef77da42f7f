// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The base of the tree of domains: it has every hart that no domain has, and shares them among its
// children, the roots, as a policy says. It knows which root asks for how many, not what a root
// does with them: that is the stream layer's affair. README.md, "The base", has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/futex.hpp"
#include "os/lock.hpp"

namespace weft::hart {

// A child of the base: the streams of the application, or a parallel library that no other library
// lends harts to.
struct Root {
    // How many of its harts others have a better claim to. The root gives them back where it
    // chooses to check; one load says whether. A root that is `notified` also gets a call
    // (Hooks::notify).
    atomic<std::uint32_t> to_reclaim{0};
    atomic<std::uint32_t> reclaim_changes{0};   // how often that has become more than 0, or 0 again: counted first
    // The root has given back a hart for want of work: it has nothing to do, and wants no more than
    // it has until it is kicked.
    atomic<bool> is_idle{false};

    // Of a guest, an OS thread of the application (share/guest.hpp): its root has one hart at most,
    // and is on the list only while it has it or wants it. `guest_phase` says where the guest
    // stands. The base makes one change to it only: it takes a hart that is reclaimable, for
    // others.
    enum class GuestPhase : std::uint32_t {
        nothing,       // the guest has no stream
        outside,       // the thread is outside Weft, and has no hart,
        reclaimable,   // or has left it reclaimable: whichever comes first has it, the thread or the base
        waits,         // the thread is inside, has no hart, and its unit waits for something,
        carries,       // its unit waits, and the thread has another root's hart,
        claims,        // or could continue, and is to have that hart
        wants,         // or could continue, and the base is asked for a hart
        held,          // it has its hart, and its unit runs, or has just left it,
        ready,         // or can continue at once
        gives          // it is about to give its hart back
    };
    atomic<GuestPhase> guest_phase{GuestPhase::nothing};
    // Some root lacks a hart. A thread that leaves a hart reclaimable first says so and then reads
    // this; the base first writes this and then searches for reclaimable harts, seq_cst: one of
    // them sees the other.
    atomic<bool> contended{false};
    bool guest = false;   // constant
    // The guest has been woken for nothing, and waits again: it keeps its place among those that
    // want a hart. The guest's own while it has a hart.
    bool in_vain = false;

    // The base's, under its lock.
    Root* next = nullptr;
    unsigned weight = 1;        // of the policy `weighted`; at least 1
    std::ptrdiff_t asked = 0;   // the sum of its requests, which may come in any order
    std::size_t held = 0;       // harts that are in it, or on their way
    std::size_t target = 0;     // what the policy leaves it
    std::size_t coming = 0;     // of held: granted, and no thread has been sent with it yet
    // when it came, or was granted its latest hart: its place among the roots that want one
    std::uint64_t served = 0;
    std::uint64_t place = 0;      // of a guest: its `served` when it last came anew
    bool stays = false;           // and it comes back to that place,
    std::uint64_t vain_ns = 0;    // having had its hart for so long since then
    std::uint64_t since_ns = 0;   // when it got its first hart: its slice begins
    // a guest that has polled without success: it wants a hart that no other root has a use for,
    bool yielding = false;
    // since then, for a slice at most; for this long even where others poll without success
    std::uint64_t yielding_since_ns = 0;
    std::uint64_t yielding_for_ns = 0;
    bool closing = false;          // it leaves the list with its last hart
    bool notified = false;         // constant: it gets a call when harts of it are to be reclaimed
    std::size_t notified_of = 0;   // of how many harts it was last notified

    // On entry, under the base's lock.
    void check() const {
        WEFT_ASSERT(coming <= held && weight != 0);
        WEFT_ASSERT(!guest || held <= 1);
        WEFT_ASSERT(!yielding || (guest && held == 0));
    }
};

// The root of a domain, or of a guest: the base hands it out, and `of` leads from there to its
// owner.
template <class Owner>
struct RootOf : Root {
    Owner& owner;

    explicit RootOf(Owner& whose) : owner(whose) {}
    static Owner& of(Root& root) { return static_cast<RootOf&>(root).owner; }
    static const Owner& of(const Root& root) { return static_cast<const RootOf&>(root).owner; }
};

enum class Policy : unsigned char { fair, weighted, first_come };

class Base {
public:
    struct Hooks {
        std::size_t (*limit)() noexcept;   // how many harts there are
        std::uint64_t (*now_ns)();
        // An OS thread takes a hart to the root; called under no lock, once for each hart. False:
        // no thread is available, and the hart stays here.
        bool (*send)(Root& root, void* argument);
        // A root that was closing has left, because the last hart that it waited for could not be
        // sent; under no lock.
        void (*closed)(Root& root, void* argument);
        // Harts are to be reclaimed from a root that is notified; under no lock.
        void (*notify)(Root& root, void* argument);
        // look() is to be called at that time; under no lock.
        void (*watch)(std::uint64_t deadline_ns, void* argument);
        // Some root wants more than it has; under no lock.
        void (*lacking)(void* argument);
        void* argument;
    };

    Base(const Hooks& hooks, Policy policy, std::uint64_t slice_ns)
        : hooks_(hooks), slice_ns_(slice_ns), policy_(policy) {}

    void join(Root& root);
    // The root makes no more requests, and leaves when it gives its last hart back; it has one.
    void close(Root& root);
    void set_policy(Policy policy);
    void set_weight(Root& root, unsigned weight);

    // A root wants that many harts more than before, or fewer. Deltas commute: their sum counts,
    // and may be below zero for a moment. An idle root has something to do from now on, also with a
    // delta of 0, but not if it wants fewer.
    void request(Root& root, std::ptrdiff_t delta);

    // A hart leaves the root. Returns the root that the hart goes to at once, with the caller, or
    // null: the caller has no hart any more. (A notified root is never returned: the stream that
    // continues there waits for the hart.) `last`: the root was closing, and has left; it is
    // reported nowhere else. `takes_next` false: the caller takes the hart nowhere.
    Root* give_back(Root& root, bool& last, bool takes_next = true);

    // A guest's root wants a hart, and has none. True: it has one at once; otherwise one is sent to
    // it in its turn.
    bool admit(Root& guest);
    // A guest gives its hart back. Returns the root that the hart goes to at once, as give_back()
    // does.
    Root* release(Root& guest);
    // A guest has polled without success for what others are to do. It gives its hart to others,
    // and gets one again that no other root has a use for. After a slice, or when another thread
    // that polls makes way, it wants a hart like any other. Returns as give_back() does, or `guest`
    // itself: no other root had a use for the hart, and the guest has it.
    Root* step_aside(Root& guest);
    // A holder of one of the root's harts has polled without success: the slice is over, and the
    // first guest that has stepped aside wants a hart again like any other.
    void make_way(Root& root);
    // From when on make_way() can be of use: some root lacks a hart then. relaxed: a hint
    std::uint64_t make_way_at_ns() const { return make_way_at_ns_.load(std::memory_order_relaxed); }
    // A hart of the root becomes the guest's, which has none. `last`: the root was closing, and has
    // left.
    void hand_over(Root& root, Root& guest, bool& last);
    // A guest that is `outside` may be destroyed after this call: a thread that has just taken its
    // hart may still be taking it off the list.
    void forget(const Root& guest);

    // Takes a hart without waiting for the grant, also where none is to spare: then it is extra,
    // until others have given theirs back. `delta` is a request.
    void take(Root& root, std::ptrdiff_t delta);
    // Gives a hart back; the caller takes it nowhere. Also for a guest, whose root leaves the list
    // then.
    void put(Root& root, std::ptrdiff_t delta);

    // For rescue: harts beyond the limit, which go where harts are lacking, and back when they are
    // no longer to be there; and one that is taken directly.
    void lend_beyond(std::ptrdiff_t harts);
    void take_beyond(Root& root);

    // That many of the existing harts are granted to no root until the next call; one hart is left
    // in any case. False: none is withheld, since a notified root has some or wants some: its work
    // cannot go elsewhere.
    bool withhold(std::size_t harts);
    // How many harts are left after that, without the harts of rescue. From any thread.
    std::size_t limit_in_effect() const;

    // 1 while some root has fewer harts than it has a claim to, or has none and wants one; else 0.
    // One word for all of what Root::contended says to guests.
    const atomic<std::uint32_t>& contended() const { return contended_; }

    // Whether some root wants more than it has.
    bool lacks() const { return lacks_.load(); }
    // Fills in those roots, at most `most`; returns how many.
    std::size_t lacking(const Root** roots, std::size_t most) const;

    // A hart of `from` becomes `to`'s. The deltas are requests. `last`: `from` was closing, and has
    // left.
    void move(Root& from, std::ptrdiff_t from_delta, Root& to, std::ptrdiff_t to_delta, bool& last);

    // A root that was idle may have something to do.
    void kick(Root& root) {
        if (root.is_idle.load() && root.is_idle.exchange(false)) request(root, 0);
    }

    // An OS thread is now available that could be sent with a hart, and was not before: the root
    // for which no thread was available gets its hart now. A sender that found no thread first
    // writes that and then checks whether one has become free; a thread that becomes free first
    // writes that and then checks here, seq_cst: one of them sees the other.
    void thread_is_free() {
        freed_.fetch_add(1);
        if (unserved_.load() && unserved_.exchange(false)) request_nothing();
    }

    // A slice is over, or the limit may have changed.
    void look();
    // When look() is to be called next; os::forever: not before something changes. The caller of
    // look() reads this afterwards.
    std::uint64_t look_at_ns() const { return look_at_ns_.load(); }

    // How many harts a newcomer would have at once.
    std::size_t available() const;

    // For people to read: what each root on the list has and wants. Under the lock: the visitor
    // changes nothing.
    template <class Visit>
    void each(Visit visit) const {
        std::lock_guard guard(lock_);
        for (const Root* root = first_; root != nullptr; root = root->next) visit(*root);
    }

    // While no thread runs: what is granted is what the roots on the list hold.
    void check_whole() const {
        std::size_t held = 0;
        for (const Root* root = first_; root != nullptr; root = root->next) {
            root->check();
            held += root->held;
            // A root with neither a hart nor a request has left the list; and a guest's root has
            // been notified of what holds.
            WEFT_ASSERT(root->held != 0 || (!root->closing && !(root->guest && root->asked == 0)));
            WEFT_ASSERT(!root->guest || root->asked <= 1);
            WEFT_ASSERT(!root->guest || root->contended.load() == said_lacking_);
        }
        WEFT_ASSERT(held == counted_ && held == granted());
        WEFT_ASSERT((contended_.load() != 0) == said_lacking_);
    }

    // How often a hart was granted. relaxed: a number.
    std::uint64_t grants() const { return grants_.load(std::memory_order_relaxed); }
    // Harts that some root has, as of the end of the last change. relaxed: a number. A hart that
    // goes from one root to another counts throughout: a carrier that takes the next hart along
    // does not check for remote calls, and a thread that reads this without the lock must not take
    // it for one that does (one_comes_soon).
    std::size_t granted() const { return granted_.load(std::memory_order_relaxed); }

private:
    std::size_t limit() const { return limit_ + beyond_; }
    std::size_t room() const;   // harts that no root has
    void fill();                // computes the targets
    std::size_t fill_evenly(std::size_t left);
    bool in_slice(const Root& root, std::uint64_t now_ns) const;
    void update_reclaims();
    Root* neediest() const;
    void count(Root& root);   // a hart is the root's from now on
    void uncount(Root& root);
    // relaxed: a number, and the lock orders the changes
    void publish() { granted_.store(counted_, std::memory_order_relaxed); }
    // the last hart of a root that is closing, or of a guest's, is gone, and so is the root
    bool unlinked(Root& root);
    void link(Root& root);
    bool stays_in_place(Root& guest);
    std::uint64_t time_ns();       // one and the same time until the change is settled
    bool somebody_lacks() const;   // whether some root lacks a hart that it has a claim to, or any at all
    void notify_guests(bool lacking);
    bool take_reclaimable();   // from a guest
    // Makes the change under the lock, then does what follows from it. Returns the root that the
    // caller takes a hart to, if it asks for one: the neediest, or only `itself`.
    enum class Caller : unsigned char { stays, goes, waits };
    template <class Change>
    Root* change(Change change, Caller caller = Caller::stays, Root* itself = nullptr);
    // After any change. Returns the first root that was granted a hart, or null; only of roots that
    // the caller can go to, which are not notified.
    Root* settle();
    void plan_look();
    void request_nothing();
    void send_out();   // without the lock, as is notify()
    void notify();

    const Hooks hooks_;
    const std::uint64_t slice_ns_;
    atomic<std::size_t> granted_{0};                  // counted_ at the end of the last change
    atomic<std::uint64_t> grants_{0};                 // changed under the lock
    atomic<std::size_t> withheld_{0};                 // changed under the lock
    atomic<std::uint64_t> look_at_ns_{os::forever};   // changed under the lock

    atomic<std::uint64_t> freed_{0};   // how often an OS thread has come free
    atomic<bool> unserved_{false};     // no thread could be sent with a hart

    atomic<std::uint64_t> make_way_at_ns_{os::forever};   // changed under the lock
    atomic<bool> lacks_{false};                           // changed under the lock
    // changed under the lock, and written only on a change: threads that search for work read it
    // again and again
    alignas(64) atomic<std::uint32_t> contended_{0};

    alignas(64) mutable os::Lock lock_;   // guards what follows
    std::size_t limit_ = 0;               // as this settle() has found it: finding it reads the clock
    std::size_t beyond_ = 0;
    std::size_t counted_ = 0;   // what the roots hold, also amid a change
    Root* first_ = nullptr;     // in the order in which they joined
    Policy policy_;
    std::uint64_t time_ns_ = 0;   // of the change under way; 0: not asked for yet
    std::uint64_t order_ = 0;     // Root::served of the latest grant
    bool said_lacking_ = false;   // Root::contended of all guests on the list
    bool turns_ = false;          // not every root that wants a hart can have one
    std::uint64_t limit_look_ns_ = os::forever;
    std::uint64_t notify_again_ns_ = os::forever;
};

}   // namespace weft::hart
