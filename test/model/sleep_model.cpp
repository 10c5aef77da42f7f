// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sleep and wake (src/hart/README.md, "Going to sleep and being woken"): pushers that wake, streams
// that take one unit each and end. A unit that waits in a pool while a stream that draws from it
// sleeps is a deadlock here. Each stream destroys its sleeper and its entries when it ends, so a
// waker that comes too late is found.
#include <new>

#include "hart/idle_list.hpp"
#include "pool/fifo_shared.hpp"
#include "pool/inbox.hpp"
#include "test/model/model.hpp"

namespace weft::model {

// Pools as the stream sees them: push, which wakes a sleeper; pop, which returns whether there was
// a unit, and has seen what its pusher wrote; quiet.

// The smallest possible pool, a number: it leaves the searches to the protocol.
template <class Orders>
struct NumberPool {
    atomic<int> units{0};
    BasicIdleList<Orders> idle_list;

    void push(Node&) {
        units.fetch_add(1);
        idle_list.wake_one();
    }
    bool pop() {
        int seen = units.load();
        while (seen != 0) {
            if (units.compare_exchange_strong(seen, seen - 1)) return true;
        }
        return false;
    }
    bool quiet() const { return units.load() == 0; }
};

struct Strong : IdleListOrders {
    static constexpr bool plain_wake = false;
};

inline bool taken(Node* node) {
    if (node != nullptr) WEFT_ASSERT(node->value == 1);
    return node != nullptr;
}

template <class Orders>
struct InboxPool {
    Inbox<Node> inbox;
    BasicIdleList<Orders> idle_list;
    Node* rest = nullptr;   // only the owner uses it

    void push(Node& node) {
        node.value = 1;
        inbox.push(&node);
        idle_list.wake_one();
    }
    bool pop() {
        if (rest == nullptr) rest = inbox.take_all();
        Node* node = rest;
        if (node != nullptr) rest = node->atomic_link().load(std::memory_order_relaxed);
        return taken(node);
    }
    bool quiet() const { return rest == nullptr && inbox.looks_empty(); }
};

template <class Orders>
struct SharedPool {
    SharedFifo<Node> queue;
    BasicIdleList<Orders> idle_list;

    void push(Node& node) {
        node.value = 1;
        queue.push(&node);
        idle_list.wake_one();
    }
    bool pop() { return taken(queue.pop()); }
    bool quiet() const { return queue.looks_empty(); }
};

// A user-defined pool: a flag whose accesses order only what it publishes.
template <class Orders>
struct UserPool {
    atomic<Node*> one{nullptr};
    BasicIdleList<Orders> idle_list;

    void push(Node& node) {
        node.value = 1;
        one.store(&node, std::memory_order_release);
        if constexpr (Orders::plain_wake) idle_list.wake_one();
        else idle_list.wake_after_plain_push();
    }
    bool pop() {
        Node* node = one.load(std::memory_order_acquire);
        if (node != nullptr) one.store(nullptr, std::memory_order_relaxed);
        return taken(node);
    }
    bool quiet() const { return one.load(std::memory_order_relaxed) == nullptr; }
};

// What a stream consists of here; constructed and destroyed by the thread that is the stream.
template <class Pool, class Orders, int pools, bool passes_on>
class Stream {
public:
    explicit Stream(Pool* drawn_from) : pools_(drawn_from) {
        for (auto& place : places_) place.belong_to(sleeper_);
    }

    // Returns once it has a unit. It goes to sleep at once: a check before that would only make the
    // searches longer.
    void take_one() {
        while (!sleep()) rl::yield(1, info(std::source_location::current()));
    }

private:
    // Takes the steps of README.md. Returns whether it has a unit.
    bool sleep() {
        sleeper_.prepare();                                                             // 1
        for (int i = 0; i < pools; ++i) pools_[i].idle_list.add(places_[i]);            // 2
        bool found = look();                                                            // 3
        const bool claimed = !found && quiet() ? sleeper_.wait() : sleeper_.cancel();   // 4
        for (int i = 0; i < pools; ++i) pools_[i].idle_list.remove(places_[i]);         // 5
        if (!claimed) return found;
        if (!found) found = look();
        for (int i = 0; passes_on && found && i < pools; ++i) {   // 6
            if (!pools_[i].quiet()) pools_[i].idle_list.wake_one();
        }
        return found;
    }

    bool look() {
        for (int i = 0; i < pools; ++i) {
            if (pools_[i].pop()) return true;
        }
        return false;
    }
    bool quiet() const {
        for (int i = 0; i < pools; ++i) {
            if (!pools_[i].quiet()) return false;
        }
        return true;
    }

    Pool* pools_;
    BasicSleeper<Orders> sleeper_;
    typename BasicSleeper<Orders>::Entry places_[pools];
};

// `pushers` push `units` each, pusher i beginning with pool i; `streams` take one each, from all
// pools.
template <class Pool, class Orders, int pushers, int units, int streams, int pools = 1, bool passes_on = true>
struct Sleep : rl::test_suite<Sleep<Pool, Orders, pushers, units, streams, pools, passes_on>, pushers + streams> {
    using OneStream = Stream<Pool, Orders, pools, passes_on>;
    Pool all[pools];
    Node nodes[pushers * units];
    alignas(OneStream) unsigned char storage[streams][sizeof(OneStream)];

    void thread(unsigned index) {
        if (index < pushers) {
            for (unsigned i = 0; i < units; ++i) {
                all[(index + i) % pools].push(nodes[index * units + i]);
            }
        } else {
            auto* stream = new (storage[index - pushers]) OneStream(all);
            stream->take_one();
            stream->~OneStream();
        }
    }
};

// One stream, which takes all units one by one, so that it sleeps more than once.
template <class Pool, class Orders, int units>
struct SleepAgain : rl::test_suite<SleepAgain<Pool, Orders, units>, 2> {
    Pool pool;
    Node nodes[units];
    Stream<Pool, Orders, 1, true> stream{&pool};

    void thread(unsigned index) {
        for (Node& node : nodes) {
            if (index == 0) {
                pool.push(node);
            } else {
                stream.take_one();
            }
        }
    }
};

// A request to one stream alone: written, then wake(). The stream checks it after prepare().
template <class Orders, bool timed>
struct Request : rl::test_suite<Request<Orders, timed>, 2> {
    BasicSleeper<Orders> sleeper;
    atomic<int> request{0};

    void before() { os::model_clock = 0; }

    void thread(unsigned index) {
        if (index == 0) {
            request.store(1);
            sleeper.wake();
            return;
        }
        for (bool first = true; request.load() == 0; first = false) {
            sleeper.prepare();
            if (request.load() != 0) {
                sleeper.cancel();
            } else {
                sleeper.wait(timed && first ? 10 : os::forever);
            }
        }
    }
};

// A stream that finds itself claimed sees what the claimer wrote before: step 6 relies on it.
template <class Orders>
struct ClaimCarries : rl::test_suite<ClaimCarries<Orders>, 2> {
    BasicSleeper<Orders> sleeper;
    plain<int> message{0};

    void before() { os::model_clock = 0; }

    void thread(unsigned index) {
        if (index == 0) {
            message = 1;
            sleeper.wake();
            return;
        }
        sleeper.prepare();
        if (sleeper.cancel()) WEFT_ASSERT(message == 1);
        sleeper.prepare();
        if (sleeper.wait(10)) WEFT_ASSERT(message == 1);
    }
};

struct ClaimRelaxed : Strong {
    static constexpr std::memory_order claim = std::memory_order_relaxed;
    static constexpr std::memory_order woken = std::memory_order_relaxed;
};
struct WokenRelaxed : Strong {
    static constexpr std::memory_order woken = std::memory_order_relaxed;
};
struct AnnounceRelaxed : Strong {
    static constexpr std::memory_order announce = std::memory_order_relaxed;
    static constexpr std::memory_order look = std::memory_order_relaxed;
};
struct UnorderedRelaxed : Strong {
    static constexpr std::memory_order look_unordered = std::memory_order_relaxed;
};

struct PlainWake : Strong {
    static constexpr bool plain_wake = true;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Number = NumberPool<Strong>;
    using Inboxed = InboxPool<Strong>;
    using Shared = SharedPool<Strong>;
    using User = UserPool<Strong>;
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 20 : 1;
    models.holds<Sleep<Number, Strong, 1, 1, 1>>("one push, one stream", Preemptions{6 + more});
    models.holds<Sleep<Inboxed, Strong, 1, 1, 1>>("one push to an inbox", Preemptions{3 + more});
    models.holds<Sleep<User, Strong, 1, 1, 1>>("one push to a user's pool", Preemptions{6 + more});
    models.holds<SleepAgain<Number, Strong, 2>>("two pushes, one stream", Preemptions{3 + more});
    models.holds<SleepAgain<Shared, Strong, 3>>("three pushes to a shared pool, one stream", Random{30'000 * times});
    models.holds<Sleep<Number, Strong, 1, 2, 2>>("two pushes, two streams", Preemptions{3 + more});
    models.holds<Sleep<Number, Strong, 1, 2, 2>>("two pushes, two streams", Random{100'000 * times});
    models.holds<Sleep<Shared, Strong, 2, 1, 2>>("two pushers to a shared pool, two streams", Random{50'000 * times});
    models.holds<Sleep<Number, Strong, 2, 1, 2, 2>>("two pushers, two pools, two streams", Preemptions{2});
    models.holds<Sleep<Number, Strong, 2, 1, 2, 2>>("two pushers, two pools, two streams", Random{50'000 * times});
    models.holds<Request<Strong, false>>("a request to one", Preemptions{6 + more});
    models.holds<Request<Strong, true>>("a request to one that waits with a limit", Preemptions{3 + more});
    models.holds<ClaimCarries<Strong>>("a claim carries what was written before", Preemptions{4 + more});

    models.fails<ClaimCarries<ClaimRelaxed>>("a claim that carries nothing", Preemptions{4});
    models.fails<ClaimCarries<WokenRelaxed>>("a claimed one that acquires nothing", Preemptions{4});
    models.fails<Sleep<NumberPool<AnnounceRelaxed>, AnnounceRelaxed, 1, 1, 1>>("an announcement that orders nothing",
                                                                               Preemptions{6});
    models.fails<Sleep<UserPool<UnorderedRelaxed>, UnorderedRelaxed, 1, 1, 1>>(
        "a wake after a user's push that orders nothing", Random{100'000});
    models.fails<Sleep<UserPool<PlainWake>, PlainWake, 1, 1, 1>>("the wake for the other pools after a user's push",
                                                                 Random{100'000});
    models.fails<Sleep<Number, Strong, 1, 2, 2, 1, false>>("a claimed stream that does not pass it on", Preemptions{3});
}
