// Sleep and wake (src/hart/README.md, "Going to sleep and being woken"): pushers that ring, streams that take one unit
// each and end. A unit that waits in a pool while a stream that draws from it sleeps is a deadlock here.
// Each stream destroys its sleeper and its places when it ends, so a ringer that comes too late is found.
#include <new>

#include "hart/bell.hpp"
#include "pool/fifo_shared.hpp"
#include "pool/inbox.hpp"
#include "test/model/model.hpp"

namespace weft::model {

// Pools as the stream sees them: push with ring, pop, quiet.
template <class Orders>
struct InboxPool {
    Inbox<Node> inbox;
    BasicBell<Orders> bell;
    Node* rest = nullptr;   // the owner's

    void push(Node& node) {
        inbox.push(&node);
        bell.ring();
    }
    Node* pop() {
        if (rest == nullptr) rest = inbox.take_all();
        Node* node = rest;
        if (node != nullptr) rest = node->atomic_link().load(std::memory_order_relaxed);
        return node;
    }
    bool quiet() const { return rest == nullptr && inbox.looks_empty(); }
};

template <class Orders>
struct SharedPool {
    SharedFifo<Node> queue;
    BasicBell<Orders> bell;

    void push(Node& node) {
        queue.push(&node);
        bell.ring();
    }
    Node* pop() { return queue.pop(); }
    bool quiet() const { return queue.looks_empty(); }
};

// Somebody's own pool: a flag whose accesses order nothing.
template <class Orders>
struct UserPool {
    atomic<Node*> one{nullptr};
    BasicBell<Orders> bell;

    void push(Node& node) {
        one.store(&node, std::memory_order_release);
        bell.ring_unordered();
    }
    Node* pop() {
        Node* node = one.load(std::memory_order_acquire);
        if (node != nullptr) one.store(nullptr, std::memory_order_relaxed);
        return node;
    }
    bool quiet() const { return one.load(std::memory_order_relaxed) == nullptr; }
};

// What a stream is made of here; built and destroyed by the thread that is the stream.
template <class Pool, class Orders, int pools, bool passes_on>
class Stream {
public:
    explicit Stream(Pool* drawn_from) : pools_(drawn_from) {
        for (auto& place : places_) place.belong_to(sleeper_);
    }

    // Returns once it has a unit.
    void take_one() {
        Node* node = nullptr;
        bool owes = false;   // it was claimed and has not looked at all its pools since
        while (true) {
            node = look();
            if (node != nullptr) break;
            if (!quiet()) {
                rl::yield(1, info(std::source_location::current()));   // a pusher is between its two steps
                continue;
            }
            sleeper_.prepare();                                                              // step 1
            for (int i = 0; i < pools; ++i) pools_[i].bell.add(places_[i]);                  // step 2
            owes = quiet() ? sleeper_.wait() : sleeper_.cancel();                            // steps 3, 4
            for (int i = 0; i < pools; ++i) pools_[i].bell.remove(places_[i]);               // step 5
        }
        WEFT_ASSERT(node->value == 1);
        for (int i = 0; passes_on && owes && i < pools; ++i) {                               // step 6
            if (!pools_[i].quiet()) pools_[i].bell.ring();
        }
    }

private:
    Node* look() {
        for (int i = 0; i < pools; ++i) {
            if (Node* node = pools_[i].pop()) return node;
        }
        return nullptr;
    }
    bool quiet() const {
        for (int i = 0; i < pools; ++i) {
            if (!pools_[i].quiet()) return false;
        }
        return true;
    }

    Pool* pools_;
    BasicSleeper<Orders> sleeper_;
    typename BasicSleeper<Orders>::Place places_[pools];
};

// `pushers` push `units` each, pusher i beginning with pool i; `streams` take one each, from all pools.
template <class Pool, class Orders, int pushers, int units, int streams, int pools = 1, bool passes_on = true>
struct Sleep : rl::test_suite<Sleep<Pool, Orders, pushers, units, streams, pools, passes_on>, pushers + streams> {
    using OneStream = Stream<Pool, Orders, pools, passes_on>;
    Pool all[pools];
    Node nodes[pushers * units];
    alignas(OneStream) unsigned char storage[streams][sizeof(OneStream)];

    void thread(unsigned index) {
        if (index < pushers) {
            for (unsigned i = 0; i < units; ++i) {
                Node& node = nodes[index * units + i];
                node.value = 1;
                all[(index + i) % pools].push(node);
            }
        } else {
            auto* stream = new (storage[index - pushers]) OneStream(all);
            stream->take_one();
            stream->~OneStream();
        }
    }
};

// One stream, as many units as there are: it comes back for more, so that it sleeps more than once.
template <class Pool, class Orders, int units>
struct SleepAgain : rl::test_suite<SleepAgain<Pool, Orders, units>, 2> {
    Pool pool;
    Node nodes[units];
    Stream<Pool, Orders, 1, true> stream{&pool};

    void thread(unsigned index) {
        for (Node& node : nodes) {
            if (index == 0) {
                node.value = 1;
                pool.push(node);
            } else {
                stream.take_one();
            }
        }
    }
};

// Mail for one stream alone: written, then wake(). The stream looks at it after prepare().
template <class Orders, bool timed>
struct Mail : rl::test_suite<Mail<Orders, timed>, 2> {
    BasicSleeper<Orders> sleeper;
    atomic<int> mail{0};

    void before() { os::model_clock = 0; }

    void thread(unsigned index) {
        if (index == 0) {
            mail.store(1);
            sleeper.wake();
            return;
        }
        for (bool first = true; mail.load() == 0; first = false) {
            sleeper.prepare();
            if (mail.load() != 0) {
                sleeper.cancel();
            } else {
                sleeper.wait(timed && first ? 10 : os::forever);
            }
        }
    }
};

struct AnnounceRelaxed : BellOrders {
    static constexpr std::memory_order announce = std::memory_order_relaxed;
    static constexpr std::memory_order look = std::memory_order_relaxed;
};
struct UnorderedRelaxed : BellOrders {
    static constexpr std::memory_order look_unordered = std::memory_order_relaxed;
};

}  // namespace weft::model

int main() {
    using namespace weft;
    using namespace weft::model;
    using Inboxed = InboxPool<BellOrders>;
    using Shared = SharedPool<BellOrders>;
    using User = UserPool<BellOrders>;
    Models models;
    models.holds<Sleep<Inboxed, BellOrders, 1, 1, 1>>("one push, one stream", Search::preemptions(5));
    models.holds<Sleep<User, BellOrders, 1, 1, 1>>("one push to a user's pool, one stream", Search::preemptions(5));
    models.holds<SleepAgain<Inboxed, BellOrders, 2>>("two pushes, one stream", Search::preemptions(4));
    models.holds<SleepAgain<Shared, BellOrders, 3>>("three pushes, one stream", Search::random(100'000));
    models.holds<Sleep<Shared, BellOrders, 1, 2, 2>>("two pushes, two streams", Search::preemptions(2));
    models.holds<Sleep<Shared, BellOrders, 1, 2, 2>>("two pushes, two streams", Search::random(200'000));
    models.holds<Sleep<Shared, BellOrders, 2, 1, 2>>("two pushers, two streams", Search::random(200'000));
    models.holds<Sleep<Shared, BellOrders, 2, 1, 2, 2>>("two pushers, two pools, two streams", Search::random(200'000));
    models.holds<Mail<BellOrders, false>>("mail for one", Search::preemptions(6));
    models.holds<Mail<BellOrders, true>>("mail for one that waits with a limit", Search::preemptions(4));

    models.fails<Sleep<InboxPool<AnnounceRelaxed>, AnnounceRelaxed, 1, 1, 1>>("an announcement that orders nothing",
                                                                            Search::random(200'000));
    models.fails<Sleep<UserPool<UnorderedRelaxed>, UnorderedRelaxed, 1, 1, 1>>("a ring after a user's push, unordered",
                                                                             Search::random(200'000));
    models.fails<Sleep<Shared, BellOrders, 1, 2, 2, 1, false>>("a claimed stream that does not pass it on",
                                                             Search::random(2'000'000));
    return models.result();
}
