// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools: where ready units wait. One struct for each kind, distinguished by a tag, so that built-in
// pools cost no indirect call; a user's pool is a table (weft_pool_ops). A push never fails and
// wakes at most one sleeper.
#pragma once

#include <cstddef>

#include "base/atomic.hpp"
#include "base/fifo.hpp"
#include "base/probe.hpp"
#include "base/relaxed_counter.hpp"
#include "hart/idle_list.hpp"
#include "hart/watchdog.hpp"
#include "os/biased_lock.hpp"
#include "os/local.hpp"
#include "os/lock.hpp"
#include "os/memory.hpp"
#include "pool/access_check.hpp"
#include "pool/deque.hpp"
#include "pool/fifo_shared.hpp"
#include "pool/growing_ring.hpp"
#include "pool/inbox.hpp"
#include "pool/restraint.hpp"
#include "unit/handle.hpp"
#include "unit/unit.hpp"
#include "weft/pool.h"

namespace weft {

// The streams that serve a pool, as the watchdog has found them in one round.
struct Served {
    std::uint64_t round = 0;
    std::size_t streams = 0;   // streams of the program
    std::size_t stand_ins = 0;
    hart::Servers servers;
    std::size_t stuck_rank = 0;   // of a stream that does not come and has no stand-in, if `stuck`
    bool stuck = false;
    bool due = false;   // units sleep on a stream that does not come, and their time has come
};

struct Pool {
    const weft_pool_kind kind;
    weft_pool_access access = WEFT_POOL_ACCESS_DEFAULT;
    // Whether the program has promised that one thread alone pushes, which need not be the one that
    // pops.
    bool one_pushes() const { return access == WEFT_POOL_ACCESS_SPSC || access == WEFT_POOL_ACCESS_SPMC; }
    bool owned = false;            // made with its stream, freed with the runtime
    bool freed = false;            // kept for the next pool of its kind; under the runtime's lock
    bool remote_calls = false;     // a carriers' pool (share/carriers.cpp): no unit of the program comes in
    bool confined = false;         // a domain's or a guest's: only its contexts, or the guest's unit, come in
    bool orphan = false;           // owned, and its stream has ended; under the runtime's lock
    atomic<unsigned> drawers{0};   // schedulers that may draw from it, and streams that do
    // a stream and its scheduler: with at most so many, no other stream draws from it
    static constexpr unsigned of_one_stream = 2;
    // of the schedulers that have it now: those whose place no unit can take (core/promote.hpp)
    atomic<unsigned> stateful{0};
    Pool* next = nullptr;             // the runtime's list of all pools
    void* data = nullptr;             // the program's
    pool::AccessCheck access_check;   // whether it is used as `access` says; in checked builds
    IdleList idle_list;               // for wakes after a push: the streams that sleep for want of work
    IdleList::Entry watch;            // the watchdog's entry on it (share/rescue.hpp)
    Served served;                    // what the watchdog finds, from look to look
    atomic<std::uint32_t> lent{0};    // units that live elsewhere for a while and come back (core/migrate.hpp)
    atomic<std::uint32_t> came_back{0};

    constexpr explicit Pool(weft_pool_kind of) : kind(of) {}
};

// A pool from which one stream draws, its owner (an opaque os::local() word here). Units that other
// threads push come through the inbox.
struct PrivatePool : Pool {
    using Ready = Fifo<Unit, &Unit::link>;

    Ready ready;              // only the owner uses it
    RelaxedCounter waiting;   // length of ready; written by the owner, read by any thread
    atomic<void*> owner{nullptr};
    Inbox<Unit> inbox;   // any thread may push to it

    constexpr PrivatePool() : Pool(WEFT_POOL_PRIVATE) {}

    // relaxed: a stream knows what it wrote itself, and any other value is another stream's.
    bool mine() const {
        void* self = os::local();
        return self != nullptr && owner.load(std::memory_order_relaxed) == self;
    }

    void put(Unit* unit) {
        access_check.pushed(access);
        check();
        keep(unit);
    }

    // put() of a unit whose link is null.
    void put_unlinked(Unit* unit) {
        access_check.pushed(access);
        check();
        ready.push_unlinked(unit);
        waiting.add(1);
    }

    // put() for `count` units, linked first to last.
    void put_chain(Unit* first, Unit* last, std::size_t count) {
        access_check.pushed(access);
        check();
        ready.push_chain(first, last);
        waiting.add(static_cast<std::int64_t>(count));
    }

    Unit* pop() {
        access_check.popped(access);
        check();
        if (!inbox.empty()) [[unlikely]]
            collect();
        Unit* unit = ready.pop_front();
        if (unit != nullptr) waiting.add(-1);
        return unit;
    }

    // Takes out `front`, which is ready.front(), without checking the inbox.
    void take_front(Unit* front) {
        access_check.popped(access);
        check();
        WEFT_ASSERT(ready.front() == front);
        ready.drop_front(front);
        waiting.add(-1);
    }

    // take_front(ready.front()), which is there, and put(unit) in one.
    void rotate(Unit* unit) {
        access_check.pushed(access);
        check();
        ready.rotate(unit, [](const Unit& next_but_one) { expect(next_but_one); });
    }

    std::size_t length() const { return static_cast<std::size_t>(waiting.read()) + (inbox.empty() ? 0 : 1); }

    // The unit runs next but one: with thousands of units neither its stack nor the descriptor of
    // the unit behind it is in a near cache.
    [[gnu::always_inline]] static void expect(const Unit& unit) {
        __builtin_prefetch(unit.context, 1);
        __builtin_prefetch(unit.link, 1);
    }

    void keep(Unit* unit) {
        ready.push_back(unit);
        waiting.add(1);
    }

    void collect();            // the owner takes what others sent
    void send(Unit* unit);     // from any thread but the owner
    void run_remote_calls();   // the owner runs the runtime's remote calls among what is ready, before it leaves
    void serve_orphan();       // runs remote calls that are sent while no stream owns the pool

    // Takes out at most `capacity` units while no stream owns the pool. From any thread, which owns
    // the pool for that moment. The units may be run on any stream, and are no longer local. False:
    // a stream owns the pool.
    bool pop_orphans(Unit** units, std::size_t capacity, std::size_t& count);

    // On the owner's entry. While remote calls run, more units are counted than lie here.
    void check() const { WEFT_ASSERT(waiting.own() >= (ready.empty() ? 0 : 1)); }

private:
    void collect_answering();
};

// Kinds shared and blocking: they differ in how a stream waits for them.
struct SharedPool : Pool {
    SharedFifo<Unit> ready;

    explicit SharedPool(weft_pool_kind of) : Pool(of) {}
};

// Kinds LIFO and priority: lists under a lock, which is held for a few loads and stores. A push and
// a pop take the same time however many wait. Rejected: a stack without a lock (Treiber's), since
// its pop needs a tag beside the pointer, and a queue without a lock for each level, since a search
// for the first that is not empty would read them all.
struct LockedPool : Pool {
    static constexpr unsigned turn = 61;   // as in Go's scheduler: prime, so that it does not fall in step

    // A more urgent level lies in a lower bit of `filled`, so that the first bit that is set is the
    // next to be served.
    static constexpr unsigned levels = priorities;
    static unsigned level_of(int priority) { return static_cast<unsigned>(most_priority - priority); }

    atomic<std::size_t> count{0};
    mutable os::Lock lock;      // guards what follows
    std::uint32_t filled = 0;   // which lists are not empty
    unsigned pops = 0;
    Fifo<Unit, &Unit::link> lists[levels];   // LIFO uses the first only

    explicit LockedPool(weft_pool_kind of) : Pool(of) {}

    void push(Unit* unit, bool behind_all);
    Unit* pop();
    bool remove(Unit* unit);

    // seq_cst, like the additions in push: "push, then check for sleepers" against "announce the
    // sleep, then check here".
    bool looks_empty() const { return count.load(std::memory_order_seq_cst) == 0; }

    // On entry, under the lock. relaxed: it is changed under the lock.
    void check() const {
        for (unsigned level = 0; level < levels; ++level)
            WEFT_ASSERT(((filled >> level & 1u) != 0) == !lists[level].empty());
        WEFT_ASSERT((filled == 0) == (count.load(std::memory_order_relaxed) == 0));
    }

private:
    unsigned next_level();
};

// One stream's units, newest first. Those that yield wait behind all others, oldest first. Every
// `turn`-th pop takes one that has waited long, so that no unit waits forever behind units that
// spawn.
//
// Most units lie in the unpublished part, where the owner pushes and pops without an atomic
// read-modify-write. A thread that finds nothing to steal requests a steal, and the owner publishes
// some at its next push or pop: from then on they lie in `ring` or `spill`, where any thread may
// take them. If the owner does not come (it computes, or blocks), a thread that is about to sleep
// publishes some in its place. README.md has the protocol and its proof.
struct DequePool : Pool {
    // A prime, so that it does not fall in step. Three turns serve all places where a unit may
    // wait.
    static constexpr unsigned turn = 37;
    // How long units whose turn it is wait while units call each other and none suspends: to let
    // them in, all units that have called each other suspend, and the unit that a joiner waits for
    // is no longer on top (decision 0006).
    static constexpr std::uint64_t longest_calling_ns = 1'000'000;
    // How many units one request publishes, at most: a thief takes one at a time and requests
    // again, and what no thread steals costs the owner more to pop.
    static constexpr std::size_t most_published = 8;
    // A unit that its owner would come to within this time is not worth a steal, unless what is
    // published with it takes as long as `worth_of_all_ns`, by the time that the owner's units take
    // at present.
    static constexpr std::uint64_t worth_ns = 5'000, worth_of_all_ns = 500;
    // After so many units in a row that were published in vain the owner declines requests.
    static constexpr unsigned patience = 4;

    // A request that the owner weighs, as long as requests may be declined.
    struct Weighing {
        static constexpr unsigned enough = 4;   // units, to tell how long one takes
        unsigned looks = 0;                     // of the owner; 0: it weighs none
        unsigned pops = 0;                      // at `popped_ns`
        std::uint64_t oldest_id = 0;
        std::uint64_t since_ns = 0;
        std::uint64_t popped_ns = 0;   // the first pop; 0: there has been none
    };

    // What only the owner uses, or a thread that has revoked the lock.
    using Newest = GrowingRing<Unit>;
    struct Unpublished {
        Newest newest;               // the owner takes from the back; the front is published first
        GrowingRing<Unit> yielded;   // from the front
        unsigned pops = 0;
        std::uint64_t turn_by_ns = 0;     // since the first turn that a call has deferred; 0: none has
        std::uint64_t turn_of = 0;        // the unit that was the oldest of `newest` then
        std::uint64_t published_ns = 0;   // the last publication; 0: the owner has come to its units since
        unsigned in_vain = 0;             // publications in a row whose units the owner came to at once
        Weighing weighing;

        const Unit* oldest() const { return newest.empty() ? yielded.front() : newest.front(); }
        std::size_t length() const { return newest.length() + yielded.length(); }
        bool empty() const { return newest.empty() && yielded.empty(); }
    };
    using Own = os::BiasedLock<Unpublished>;
    static constexpr Own::Bits requested = 2;   // a steal
    // nothing lies in the unpublished part, because there is no process barrier
    static constexpr Own::Bits all_published = 4;

    Own own;
    Deque<Unit> ring;         // published; its owner's side is for the thread that is inside `own`
    SharedFifo<Unit> spill;   // published; also what other threads push, and what fits nowhere else
    atomic<void*> owner{nullptr};
    Restraint restraint;

    DequePool() : Pool(WEFT_POOL_DEQUE) { own.set(requested | all_published); }

    bool mine() const {
        void* self = os::local();
        return self != nullptr && owner.load(std::memory_order_relaxed) == self;   // relaxed: as PrivatePool::mine
    }

    // ---- for the owner ----

    [[gnu::always_inline]] void push_own(Unit* unit) {
        if (own.enter() == 0 && own.data().newest.push_back_at_once(unit)) [[likely]]
            return own.leave();
        push_own_slow(unit);
    }
    void push_many_own(Unit* first, Unit* last);   // linked
    [[gnu::always_inline]] void push_yielded(Unit* unit) {
        if (own.enter() == 0 && own.data().yielded.push_back(unit)) [[likely]]
            return own.leave();
        push_yielded_slow(unit);
    }
    [[gnu::always_inline]] Unit* pop_own() {
        const Own::Bits seen = own.enter();
        Unpublished& mine = own.data();
        if (seen == 0 && (mine.pops + 1) % turn != 0) [[likely]] {
            Unit* unit = mine.newest.pop_back();
            if (unit == nullptr && nothing_published()) unit = mine.yielded.pop_front();
            if (unit != nullptr) [[likely]] {
                ++mine.pops;
                own.leave();
                return unit;
            }
        }
        return pop_own_slow(seen);
    }
    // For a unit that is to be called: pop_own(), if that would return `unit`, or would but for the
    // turn of another unit that has not waited for long. `in_row`: the caller calls one unit after
    // the other, whose number is known, so that older units of `newest` wait no longer than that.
    [[gnu::always_inline]] bool pop_own_if(Unit* unit, bool in_row = false) {
        const Own::Bits seen = own.enter();
        Unpublished& mine = own.data();
        if (seen == 0 && (mine.pops + 1) % turn != 0 && mine.newest.pop_back_if(unit) == Newest::Popped::yes)
            [[likely]] {
            ++mine.pops;
            own.leave();
            return true;
        }
        return pop_own_if_slow(unit, seen, in_row);
    }
    // pop_own_if(), where that takes no more than a look at the newest unit; calls no function.
    enum class AtOnce : unsigned char { popped, not_newest, unsure };
    [[gnu::always_inline]] AtOnce pop_own_if_at_once(Unit* unit) {
        const Own::Bits seen = own.enter();
        Unpublished& mine = own.data();
        AtOnce found = AtOnce::unsure;
        if (seen == 0 && (mine.pops + 1) % turn != 0) [[likely]] {
            switch (mine.newest.pop_back_if(unit)) {
            case Newest::Popped::yes:
                ++mine.pops;
                found = AtOnce::popped;
                break;
            case Newest::Popped::not_last: found = AtOnce::not_newest; break;
            case Newest::Popped::empty: break;
            }
        }
        own.leave();
        return found;
    }
    // Takes `unit` out if the caller's stream owns the pool and the unit is the next to be popped,
    // disregarding units whose turn it may be: a unit that the program names goes before them.
    bool take_next(Unit* unit);
    // The owner leaves: others may take everything.
    void publish_all();

    // ---- for other threads ----

    Unit* steal();
    // For a thread that has been added to the idle list, or looks for work: the owner will publish
    // what it pushes, or decline. True: the thread needs a process barrier before quiet() is
    // reliable. False: the owner has declined an earlier request, or keeps no units back.
    bool request_steal(const void* stream);
    // request_steal(), for a sleeper that has called restraint.insist(): nothing is declined.
    bool insist_on_steal();
    // Before the stream sleeps: until when it may (Restraint::keep_watching).
    std::uint64_t keep_watching(void* stream);
    // Publishes units in the owner's place, if there are any.
    void publish_for_owner();

    // Nothing waits. Reliable for the owner; for a thread on the idle list after request_steal()
    // and a process barrier; else a hint.
    bool quiet() const { return nothing_published() && !own.inside() && own.data().empty(); }
    bool nothing_published() const { return ring.looks_empty() && spill.looks_empty(); }
    std::size_t length() const { return ring.length() + spill.length() + own.data().length(); }

private:
    [[gnu::noinline]] void push_own_slow(Unit* unit);
    [[gnu::noinline]] void push_yielded_slow(Unit* unit);
    [[gnu::noinline]] Unit* pop_own_slow(Own::Bits seen);
    [[gnu::noinline]] bool pop_own_if_slow(Unit* unit, Own::Bits seen, bool in_row);
    Unit* pop_in_turn();
    bool may_hold_back(Own::Bits seen);
    void publish(Unit* unit);
    static std::size_t some_of(const GrowingRing<Unit>& of);
    std::size_t publish_some();
    std::size_t publish_rest();
    std::size_t answer_request(Own::Bits seen, bool popped);
    enum class Verdict : unsigned char { publish, wait, declined };
    Verdict weigh(bool popped);
    bool holds_back(bool popped);
    bool decline();
    void note_reached();
    void wake_for(Own::Bits seen, std::size_t published);
    bool none_but_newest() const;
    bool turn_may_wait();
};

struct UserPool : Pool {
    weft_pool_ops ops;
    void* self;
    atomic<unsigned> pushing{0};   // pushes that have not returned: the unit of one may be gone, and free the pool

    UserPool(const weft_pool_ops& table, void* given) : Pool(WEFT_POOL_USER), ops(table), self(given) {}
};

namespace pool {

// Where a unit comes from, which says where among the ready units it goes. The first value of each
// kind is for callers that do not care. A pool that has an order of its own may ignore it; a user's
// table receives it (operation_of).
enum class From : unsigned char {
    next,
    spawned,
    parent,
    resumed,
    revived,
    reviving_parent,
    migrated,
    last,
    yielded,
    yielded_to,
    yielded_to_resumed,
};

// Whether the unit goes behind all others.
constexpr bool behind_all(From from) { return from >= From::last; }

constexpr weft_pool_operation operation_of(From from) {
    constexpr weft_pool_operation words[] = {
        WEFT_POOL_OP_OTHER,    WEFT_POOL_OP_SPAWN,          WEFT_POOL_OP_SPAWN_CHILD_FIRST,
        WEFT_POOL_OP_RESUME,   WEFT_POOL_OP_REVIVE,         WEFT_POOL_OP_REVIVE_CHILD_FIRST,
        WEFT_POOL_OP_MIGRATE,  WEFT_POOL_OP_OTHER,          WEFT_POOL_OP_YIELD,
        WEFT_POOL_OP_YIELD_TO, WEFT_POOL_OP_RESUME_YIELD_TO};
    return words[static_cast<unsigned>(from)];
}
static_assert(operation_of(From::yielded_to_resumed) == WEFT_POOL_OP_RESUME_YIELD_TO &&
              operation_of(From::migrated) == WEFT_POOL_OP_MIGRATE);

// On entry to every pool: the object is a remote call, or a ready unit of the pool. relaxed: the
// caller owns the unit.
[[gnu::always_inline]] inline void check(const Pool& to, const Unit& unit) {
    WEFT_ASSERT(unit.has(Unit::internal) || (unit.life.is(State::ready) && unit.pool == &to));
    WEFT_ASSERT(!unit.has(Unit::local) || to.kind == WEFT_POOL_PRIVATE);
}

// Pushes a ready unit; from anywhere. Afterwards the unit may run, end and be freed at any moment.
void push_other(Pool& to, Unit* unit, From from);

[[gnu::always_inline]] inline void push_shared(SharedPool& to, Unit* unit) {
    to.access_check.pushed(to.access);
    to.ready.push(unit);
    probe(Probe::push_before_wake);
    to.idle_list.wake_one();
}

// A spawned unit goes into a deque of the calling stream.
[[gnu::always_inline]] inline void push_own(DequePool& to, Unit* unit) {
    to.access_check.pushed(to.access);
    to.push_own(unit);
}

[[gnu::always_inline]] inline void push(Pool& to, Unit* unit, From from = From::next) {
    check(to, *unit);
    if (to.kind == WEFT_POOL_PRIVATE) [[likely]] {
        auto& mine = static_cast<PrivatePool&>(to);
        if (mine.mine()) [[likely]] {
            mine.put(unit);   // the owner is awake: no stream need be woken
            return;
        }
    }
    push_other(to, unit, from);
}

// Pushes `count` ready units, linked first to last by their link.
void push_many(Pool& to, Unit* first, Unit* last, std::size_t count, From from = From::next);

// Pushes a ready unit, or `count` linked by their link, into a user's pool, which is passed this
// word.
void push_user(UserPool& to, Unit* unit, std::uint64_t operation);
void push_many_user(UserPool& to, Unit* first, std::size_t count, std::uint64_t operation);

// Whether the pool is a user's that may have no memory for its record of a unit, and must be asked
// for admission before the unit belongs to it.
inline bool asks(const Pool& pool) {
    return pool.kind == WEFT_POOL_USER && static_cast<const UserPool&>(pool).ops.admit != nullptr;
}
[[gnu::noinline]] bool ask_user(UserPool& to, Unit& unit);
inline bool admits(Pool& to, Unit& unit) {
    return to.kind != WEFT_POOL_USER || ask_user(static_cast<UserPool&>(to), unit);
}
void expel(Pool& from, Unit& unit);   // the unit was admitted, and does not come after all

// A unit that was admitted begins to belong to its pool, or a unit ceases to: a user's pool may
// need to be notified. The owner of the unit calls this, before the unit's first push and before
// its end is published.
[[gnu::noinline]] void tell_attached(Unit& unit);
[[gnu::noinline]] void tell_detached(Unit& unit);
inline void belongs(Unit& unit) {
    if (unit.pool->kind == WEFT_POOL_USER) [[unlikely]]
        tell_attached(unit);
}

// Asks for admission and notifies, for a new unit. False: the pool has not admitted it.
[[gnu::noinline]] bool enters_users(Unit& unit);
inline bool enters(Unit& unit) { return unit.pool->kind != WEFT_POOL_USER || enters_users(unit); }
inline void belongs_no_more(Unit& unit) {
    if (unit.pool->kind == WEFT_POOL_USER) [[unlikely]]
        tell_detached(unit);
}

// A ready unit that is in no pool, or a suspended one, goes over to another pool, which has
// admitted it and to which it has not been pushed yet.
void move(Unit& unit, Pool& to);

// False: the pool has not admitted it, and nothing has happened.
inline bool try_move(Unit& unit, Pool& to) {
    if (unit.pool != &to && !admits(to, unit)) return false;
    move(unit, to);
    return true;
}

// Pops at most `capacity` units, like pop().
std::size_t pop_many(Pool& from, Unit** units, std::size_t capacity);

// Pops a ready unit, or returns null. From a stream; from the owner if the pool is private.
Unit* pop_other(Pool& from);

// pop(), also of what another stream keeps to itself: as if that had been published before.
[[gnu::noinline]] Unit* pop_with_unpublished(Pool& from);
// pop(), for a caller that need not come again: pop_with_unpublished() where pop() finds nothing.
[[gnu::noinline]] Unit* pop_after_all(Pool& from);

// pop(), if that would return this unit; false also where another thread is in the way. For a
// shared pool, or a deque of the calling stream. `in_row`: see DequePool::pop_own_if().
template <weft_pool_kind kind>
[[gnu::always_inline]] inline bool pop_if(Pool& from, Unit* unit, bool in_row) {
    const bool popped = kind == WEFT_POOL_SHARED ? static_cast<SharedPool&>(from).ready.pop_if(unit)
                                                 : static_cast<DequePool&>(from).pop_own_if(unit, in_row);
    if (popped) from.access_check.popped(from.access);
    return popped;
}
[[gnu::always_inline]] inline bool pop_if(Pool& from, Unit* unit) {
    return from.kind == WEFT_POOL_SHARED ? pop_if<WEFT_POOL_SHARED>(from, unit, false)
                                         : pop_if<WEFT_POOL_DEQUE>(from, unit, false);
}

// pop_if(), where that calls no function.
[[gnu::always_inline]] inline DequePool::AtOnce pop_own_if_at_once(DequePool& from, Unit* unit) {
    const DequePool::AtOnce found = from.pop_own_if_at_once(unit);
    if (found == DequePool::AtOnce::popped) from.access_check.popped(from.access);
    return found;
}

[[gnu::always_inline]] inline Unit* pop(Pool& from) {
    if (from.kind == WEFT_POOL_PRIVATE) [[likely]]
        return static_cast<PrivatePool&>(from).pop();
    return pop_other(from);
}

// Whether nothing waits and no push is under way. For a thread that draws from the pool without
// owning it, a hint: see quiet_after_all().
bool quiet(const Pool& pool);

// Adds a sleeper to the pool's idle list, which is woken for each unit. True: the caller needs a
// process barrier, one for all its pools, before quiet_after_all().
bool listen(Pool& pool, IdleList::Entry& place);
void stop_listening(Pool& pool, IdleList::Entry& place);

// listen() without a sleeper, for a caller that has added one before, or looks for work. The owner
// may decline, while a stream watches; then that stream alone makes the next request.
bool request_steal(Pool& pool, const void* stream);

// quiet(), for a thread that has announced its sleep and checks this last. False: it may find
// something now, also what another stream had kept to itself. What an owner keeps that has declined
// the request does not count: see watch().
bool quiet_after_all(Pool& pool);

// The stream watches the pool, if its owner may decline requests and no other stream watches: until
// it stops, it does not sleep past the time that keep_watching() returns, at which it makes a new
// request.
bool watch(Pool& pool, void* stream);
// For a stream that is about to sleep: until when it may, or os::forever.
std::uint64_t keep_watching(Pool& pool, void* stream);
void stop_watching(Pool& pool, void* stream);
// Whether the owner has declined the last request, and whether a stream watches.
bool has_declined(const Pool& pool);
bool is_watched(const Pool& pool);

// Whether any thread may pop from it, and push to it, besides the streams that draw from it now.
inline bool thief_safe(const Pool& pool) {
    const bool open = pool.kind != WEFT_POOL_PRIVATE && pool.kind != WEFT_POOL_USER && !pool.remote_calls;
    return open && (pool.access == WEFT_POOL_ACCESS_DEFAULT || pool.access == WEFT_POOL_ACCESS_MPMC);
}

std::size_t length(const Pool& pool);

enum class Removal : unsigned char { removed, absent, impossible };
Removal remove(Pool& from, Unit* unit);

// A stream begins or ceases to draw from a pool. attach returns false when the pool already has
// another owner.
bool attach(Pool& pool, void* stream, bool main);
void detach(Pool& pool, void* stream);
void detach_sharing(Pool& pool);                   // the stream draws from it for another reason too
void hand_over(Pool& pool, void* to, bool main);   // `to`: the new owner

// Null: no memory.
Pool* create(weft_pool_kind kind, weft_pool_access access = WEFT_POOL_ACCESS_DEFAULT);
Pool* create_user(const weft_pool_ops& ops, void* self);
void destroy(Pool* pool);

}   // namespace pool
}   // namespace weft
