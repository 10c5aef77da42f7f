// The base of the tree of domains: it has every hart that no domain has, and shares them among its children, the roots, as a policy says. It
// knows who asks for how many, not what is done with them: that is the stream layer's. README.md, "The base", has the rules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "os/lock.hpp"

namespace weft::hart {

// A child of the base: the streams of the application, or a parallel library that nobody else lends harts to.
struct Root {
    // How many of its harts others have a better claim to. It gives them back where it likes to look; one load says whether.
    atomic<std::uint32_t> wanted_back{0};
    atomic<std::uint32_t> asked_back{0};    // how often that was more than 0 after it had been 0
    // It has given a hart back that nobody wanted: it has nothing to do, and wants no more than it has until it is stirred.
    atomic<bool> lulled{false};

    // The base's, under its lock.
    Root* next = nullptr;
    unsigned weight = 1;                    // of the policy `weighted`; at least 1
    std::ptrdiff_t asked = 0;               // the sum of its requests, which may come in any order
    std::size_t held = 0;                   // harts that are in it, or on their way
    std::size_t target = 0;                 // what the policy leaves it
    std::size_t coming = 0;                 // of held: granted, and nobody has been sent with it yet
    std::uint64_t served = 0;               // the number of the latest grant to it
    bool closing = false;                   // it leaves with its last hart
};

enum class Policy : unsigned char { fair, weighted, first_come };

class Base {
public:
    struct Hooks {
        std::size_t (*limit)() noexcept;    // how many harts there are
        // Somebody takes a hart to the root; called under no lock, once for each. False: nobody can be had, and the hart stays here.
        bool (*send)(Root& root, void* argument);
        // A root that was closing has left, since the last hart that it waited for could not be sent; under no lock.
        void (*closed)(Root& root, void* argument);
        void* argument;
    };

    explicit Base(const Hooks& hooks) : hooks_(hooks) {}

    void join(Root& root);
    void close(Root& root);                 // its requests are over, and it leaves when it gives its last hart back; it has one
    void set_policy(Policy policy);
    void set_weight(Root& root, unsigned weight);

    // A root wants so many harts more than before, or fewer. Deltas commute: their sum counts, and may be below zero for a moment.
    void request(Root& root, std::ptrdiff_t delta);

    // A hart leaves the root. Returned is the root that it goes to at once, with the caller, or null: the caller has no hart any more. `last`: the root was
    // closing, and has left; nobody else is told so.
    Root* give_back(Root& root, bool& last);

    // Requests a hart and takes it without waiting for the grant, also where none is to spare: then it is extra, until others have given theirs back.
    void take(Root& root);
    void put(Root& root);                   // gives it back, and asks for it no more

    // A hart of the one becomes the other's. The deltas are requests; `last` as above.
    void move(Root& from, std::ptrdiff_t from_delta, Root& to, std::ptrdiff_t to_delta, bool& last);

    // A root that was lulled may have something to do.
    void stir(Root& root) {
        if (root.lulled.load() && root.lulled.exchange(false)) request(root, 0);
    }

    void limit_changed();

    // Harts that somebody has. relaxed: a number.
    std::size_t granted() const { return granted_.load(std::memory_order_relaxed); }

private:
    std::size_t room() const;               // harts that nobody has
    void fill();                            // the targets
    void ask_back();
    Root* neediest() const;
    void count(Root& root);                 // a hart is the root's from now on
    void uncount(Root& root);
    bool unlinked(Root& root);              // the last hart of one that is closing is gone, and so is the root
    // Under the lock; what follows from it is seen to.
    template <class Change>
    void change(Change change);
    void settle();                          // after any change; then send_out(), without the lock
    void send_out();

    const Hooks hooks_;
    atomic<std::size_t> granted_{0};        // changed under the lock

    mutable os::Lock lock_;                 // guards what follows
    Root* first_ = nullptr;                 // in the order in which they came
    Policy policy_ = Policy::fair;
    std::uint64_t grants_ = 0;
};

}  // namespace weft::hart
