// The base of the tree of domains: it has every hart that no domain has, and shares them among its
// children, the roots, as a policy says. It knows who asks for how many, not what is done with
// them: that is the stream layer's. README.md, "The base", has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/futex.hpp"
#include "os/lock.hpp"

namespace weft::hart {

// A child of the base: the streams of the application, or a parallel library that nobody else lends
// harts to.
struct Root {
    // How many of its harts others have a better claim to. It gives them back where it likes to
    // look; one load says whether. One that is `notified` gets a call besides (Hooks::notify).
    atomic<std::uint32_t> to_reclaim{0};
    atomic<std::uint32_t> reclaim_changes{0};   // how often that has come to be more than 0, or 0 again: counted first
    // It has given a hart back that nobody wanted: it has nothing to do, and wants no more than it
    // has until it is kicked.
    atomic<bool> is_idle{false};

    // Of a guest, an OS thread of the application (share/guest.hpp): its root has one hart at most,
    // and is on the list only while it has it or wants it. `guest_phase` says where it stands; of
    // that the base changes only this: it takes a hart that is reclaimable, for others.
    enum class GuestPhase : std::uint32_t {
        nothing,       // it has no stream
        outside,       // the thread is none of ours, and has no hart,
        reclaimable,   // or has left it reclaimable: the first that comes has it, the thread or the base
        waits,         // the thread is inside, has no hart, and its unit waits for something,
        carries,       // its unit waits, and the thread has another root's hart,
        claims,        // or could go on, and is to have that one
        wants,         // or could go on, and the base is asked for a hart
        held,          // it has its hart, and its unit runs, or has just left,
        ready,         // or can go on at once
        gives          // it is about to give its hart back
    };
    atomic<GuestPhase> guest_phase{GuestPhase::nothing};
    // Somebody lacks a hart. A thread that leaves one reclaimable says so first and looks here
    // then, and the base writes here first and looks for reclaimable ones then, seq_cst: one of
    // them sees the other.
    atomic<bool> contended{false};
    bool guest = false;   // constant
    // It has been woken for nothing, and waits again: it keeps its place among those who want a
    // hart. Its own, while it has one.
    bool in_vain = false;

    // The base's, under its lock.
    Root* next = nullptr;
    unsigned weight = 1;        // of the policy `weighted`; at least 1
    std::ptrdiff_t asked = 0;   // the sum of its requests, which may come in any order
    std::size_t held = 0;       // harts that are in it, or on their way
    std::size_t target = 0;     // what the policy leaves it
    std::size_t coming = 0;     // of held: granted, and nobody has been sent with it yet
    // when it came, or was granted its latest: where it stands among those who want one
    std::uint64_t served = 0;
    std::uint64_t place = 0;      // of a guest: the same, when it came last and had not waited in vain
    bool stays = false;           // and it comes there again,
    std::uint64_t vain_ns = 0;    // having had its hart for so long since then
    std::uint64_t since_ns = 0;   // when it came to its first hart: its slice begins
    // a guest that has looked in vain: it wants a hart that nobody else has a use for,
    bool yielding = false;
    // since then, for a slice at most, and for this long also where others look in vain
    std::uint64_t yielding_since_ns = 0;
    std::uint64_t yielding_for_ns = 0;
    bool closing = false;          // it leaves with its last hart
    bool notified = false;         // constant: it gets a call when harts of it are to be reclaimed
    std::size_t notified_of = 0;   // of how many it was notified last

    // On entry, under the base's lock.
    void check() const {
        WEFT_ASSERT(coming <= held && weight != 0);
        WEFT_ASSERT(!guest || held <= 1);
        WEFT_ASSERT(!yielding || (guest && held == 0));
    }
};

// The root of a domain, or of a guest: the base hands it out, and `of` leads from there to whose it
// is.
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
        // Somebody takes a hart to the root; called under no lock, once for each. False: nobody can
        // be had, and the hart stays here.
        bool (*send)(Root& root, void* argument);
        // A root that was closing has left, since the last hart that it waited for could not be
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
    // its requests are over, and it leaves when it gives its last hart back; it has one
    void close(Root& root);
    void set_policy(Policy policy);
    void set_weight(Root& root, unsigned weight);

    // A root wants so many harts more than before, or fewer. Deltas commute: their sum counts, and
    // may be below zero for a moment. One that was idle has something to do now, also with a delta
    // of 0, but not if it wants fewer.
    void request(Root& root, std::ptrdiff_t delta);

    // A hart leaves the root. Returned is the root that it goes to at once, with the caller, or
    // null: the caller has no hart any more. (One that is notified is none to go to: the stream
    // that goes on there waits for it.) `last`: the root was closing, and has left; nobody else is
    // told so. `takes_next` false: the caller takes it nowhere.
    Root* give_back(Root& root, bool& last, bool takes_next = true);

    // A guest's root wants a hart, and has none. True: it has one at once; otherwise it is sent one
    // in its turn.
    bool admit(Root& guest);
    // A guest gives its hart back. As give_back().
    Root* release(Root& guest);
    // A guest has looked in vain for what somebody else is to do. It gives its hart to others, and
    // gets one again that nobody else has a use for; after a slice, or when another one that looks
    // makes way, it wants one as ever. Returns as give_back(), or `guest` itself: nobody else had a
    // use for it, and it has its hart.
    Root* step_aside(Root& guest);
    // One that has a hart of the root's has looked in vain: the slice is over, and the first guest
    // that has stepped aside wants a hart as ever.
    void make_way(Root& root);
    // When that can be of use: somebody lacks a hart then.
    // relaxed: a hint
    std::uint64_t make_way_at_ns() const { return make_way_at_ns_.load(std::memory_order_relaxed); }
    // A hart of the root's becomes the guest's, which has none. `last`: the root was closing, and
    // has left.
    void hand_over(Root& root, Root& guest, bool& last);
    // A guest that is `outside` may be destroyed after this: whoever has just taken its hart may
    // still be taking it off the list.
    void forget(const Root& guest);

    // Takes a hart without waiting for the grant, also where none is to spare: then it is extra,
    // until others have given theirs back. `delta` is a request.
    void take(Root& root, std::ptrdiff_t delta);
    // gives it back; nobody goes anywhere with the caller. A guest's as well, and for good
    void put(Root& root, std::ptrdiff_t delta);

    // For rescue: harts beyond the limit, which go where harts lack, and back when they are not to
    // be any more; and one that is taken.
    void lend_beyond(std::ptrdiff_t harts);
    void take_beyond(Root& root);

    // So many of the harts that there are go to nobody until it is said otherwise; one is left in
    // any case. False: none does, since a root that is notified has some or wants some: its work
    // cannot go on elsewhere.
    bool withhold(std::size_t harts);
    // How many there are besides. Without those of rescue. From anywhere.
    std::size_t limit_in_effect() const;

    // 1 while some root has fewer harts than it has a claim to, or none, and wants one; else 0.
    // What Root::contended tells guests, as a word for all.
    const atomic<std::uint32_t>& contended() const { return contended_; }

    // Whether some root wants more than it has.
    bool lacks() const { return lacks_.load(); }
    // Which ones, at most `most`; returns how many.
    std::size_t lacking(const Root** roots, std::size_t most) const;

    // A hart of the one becomes the other's. The deltas are requests. `last`: `from` was closing,
    // and has left.
    void move(Root& from, std::ptrdiff_t from_delta, Root& to, std::ptrdiff_t to_delta, bool& last);

    // A root that was idle may have something to do.
    void kick(Root& root) {
        if (root.is_idle.load() && root.is_idle.exchange(false)) request(root, 0);
    }

    // An OS thread is there that could be sent with a hart, and was not before: who was to have one
    // that nobody could be sent with has it now. Whoever had nobody to send writes that first and
    // looks then whether somebody has come free, who writes that first and looks then, seq_cst: one
    // of them sees the other.
    void thread_is_free() {
        freed_.fetch_add(1);
        if (unserved_.load() && unserved_.exchange(false)) request_nothing();
    }

    // A slice is over, or the limit may have changed.
    void look();
    // When that is to be called next; os::forever: when something changes. Whoever calls it reads
    // this then.
    std::uint64_t look_at_ns() const { return look_at_ns_.load(); }

    // Harts that whoever came now would have at once.
    std::size_t available() const;

    // What each root that is on the list has and wants, for people to read. Under the lock: the
    // visitor changes nothing.
    template <class Visit>
    void each(Visit visit) const {
        std::lock_guard guard(lock_);
        for (const Root* root = first_; root != nullptr; root = root->next) visit(*root);
    }

    // While nobody runs: what is granted is what the roots on the list hold.
    void check_whole() const {
        std::size_t held = 0;
        for (const Root* root = first_; root != nullptr; root = root->next) {
            root->check();
            held += root->held;
            // A root with neither a hart nor a wish has left the list; and a guest's has been told
            // what holds.
            WEFT_ASSERT(root->held != 0 || (!root->closing && !(root->guest && root->asked == 0)));
            WEFT_ASSERT(!root->guest || root->asked <= 1);
            WEFT_ASSERT(!root->guest || root->contended.load() == said_lacking_);
        }
        WEFT_ASSERT(held == counted_ && held == granted());
        WEFT_ASSERT((contended_.load() != 0) == said_lacking_);
    }

    // How often one was granted. relaxed, as below: a number.
    std::uint64_t grants() const { return grants_.load(std::memory_order_relaxed); }
    // Harts that somebody has, as the last change has left it. A hart that goes from one root to
    // another is one all the while: a carrier that takes the next one along does not look for
    // remote calls, and a thread that reads this without the lock is not to take it for one that
    // does (one_comes_soon).
    std::size_t granted() const { return granted_.load(std::memory_order_relaxed); }

private:
    std::size_t limit() const { return limit_ + beyond_; }
    std::size_t room() const;   // harts that nobody has
    void fill();                // the targets
    bool in_slice(const Root& root, std::uint64_t now_ns) const;
    void update_reclaims();
    Root* neediest() const;
    void count(Root& root);   // a hart is the root's from now on
    void uncount(Root& root);
    // relaxed: a number, and changes come one after the other
    void publish() { granted_.store(counted_, std::memory_order_relaxed); }
    // the last hart of one that is closing, or of a guest, is gone, and so is the root
    bool unlinked(Root& root);
    void link(Root& root);
    bool stays_in_place(Root& guest);
    std::uint64_t time_ns();       // one and no other until the change is settled
    bool somebody_lacks() const;   // a hart that it has a claim to, or any
    void notify_guests(bool lacking);
    bool take_reclaimable();   // from a guest
    // Under the lock; what follows from it is seen to. Returns whom the caller takes a hart to, if
    // it asks: the neediest, or itself alone.
    enum class Caller : unsigned char { stays, goes, waits };
    template <class Change>
    Root* change(Change change, Caller caller = Caller::stays, Root* itself = nullptr);
    // after any change; the first that something was granted to, or null: of those that the caller
    // can go to, which are not notified
    Root* settle();
    void plan_look();
    void request_nothing();
    void send_out();   // without the lock, as is notify()
    void notify();

    const Hooks hooks_;
    const std::uint64_t slice_ns_;
    atomic<std::size_t> granted_{0};                  // counted_ at the end of the last change
    atomic<std::uint64_t> grants_{0};                 // changed under the lock
    atomic<std::size_t> withheld_{0};                 // likewise
    atomic<std::uint64_t> look_at_ns_{os::forever};   // as this is

    atomic<std::uint64_t> freed_{0};   // how often an OS thread has come free
    atomic<bool> unserved_{false};     // nobody could be sent with a hart

    atomic<std::uint64_t> make_way_at_ns_{os::forever};   // changed under the lock
    atomic<bool> lacks_{false};                           // changed under the lock
    // likewise, and written only then: whoever looks for something to do reads it again and again
    alignas(64) atomic<std::uint32_t> contended_{0};

    alignas(64) mutable os::Lock lock_;   // guards what follows
    std::size_t limit_ = 0;               // as this settle() has found it: to ask is to read the clock
    std::size_t beyond_ = 0;
    std::size_t counted_ = 0;   // what the roots hold, also amid a change
    Root* first_ = nullptr;     // in the order in which they came
    Policy policy_;
    std::uint64_t time_ns_ = 0;   // of the change that is under way; 0: nobody has asked yet
    std::uint64_t order_ = 0;     // Root::served of the latest
    bool said_lacking_ = false;   // Root::contended of all guests on the list
    bool turns_ = false;          // not all who want a hart can have one
    std::uint64_t limit_look_ns_ = os::forever;
    std::uint64_t notify_again_ns_ = os::forever;
};

}   // namespace weft::hart
