// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared FIFO: pushers against poppers, a popper that takes a node out of the middle, and the
// last check of a stream that is about to sleep.
#include "pool/fifo_shared.hpp"
#include "test/model/model.hpp"

namespace weft::model {

// Two pushers of two nodes each, and `poppers` that try three times each. Every node is popped
// once, whole; with one popper, in the order in which it was pushed.
template <class Orders, int poppers>
struct PushersAndPoppers : rl::test_suite<PushersAndPoppers<Orders, poppers>, 2 + poppers> {
    SharedFifo<Node, Orders> queue;
    Node nodes[4];
    int began[4], ended[4], times[4] = {0, 0, 0, 0};   // of each push; how often it was popped
    int clock = 0;
    int popped[4], count = 0;

    void thread(unsigned index) {
        if (index < 2) {
            for (int i = 0; i < 2; ++i) push(static_cast<int>(index) * 2 + i);
        } else {
            for (int i = 0; i < 3; ++i) pop();
        }
    }

    void push(int which) {
        nodes[which].value = which;
        began[which] = clock++;
        queue.push(&nodes[which]);
        ended[which] = clock++;
    }

    bool pop() {
        Node* node = queue.pop();
        if (node == nullptr) return false;
        const int value = node->value;
        ++times[value];
        popped[count++] = value;
        return true;
    }

    void after() {
        while (pop()) {}
        for (int time : times) WEFT_ASSERT(time == 1);
        WEFT_ASSERT(queue.looks_empty() && queue.length() == 0);
        for (int i = 0; poppers == 1 && i < 4; ++i) {
            for (int j = i + 1; j < 4; ++j) WEFT_ASSERT(!(ended[popped[j]] < began[popped[i]]));
        }
    }
};

// One pusher, one popper, and a thread that wants the second node: from wherever it is, or, if
// `choosy`, only if it is the oldest.
template <class Orders, bool choosy = false>
struct Remover : rl::test_suite<Remover<Orders, choosy>, 3> {
    SharedFifo<Node, Orders> queue;
    Node nodes[3];
    int times[3] = {0, 0, 0};

    void before() { push(0); }

    void thread(unsigned index) {
        if (index == 0) {
            push(1);
            push(2);
        } else if (index == 1) {
            pop();
            pop();
        } else {
            Node& wanted = nodes[1];
            if (choosy ? queue.pop_if(&wanted) : queue.remove(&wanted)) ++times[wanted.value];
        }
    }

    void push(int which) {
        nodes[which].value = which;
        queue.push(&nodes[which]);
    }

    bool pop() {
        Node* node = queue.pop();
        if (node != nullptr) ++times[node->value];
        return node != nullptr;
    }

    void after() {
        while (pop()) {}
        for (int time : times) WEFT_ASSERT(time == 1);
        WEFT_ASSERT(queue.looks_empty());
    }
};

// The two sides of going to sleep, without the sleeping: it must not happen that both miss the
// other.
template <class Orders>
struct LastLook : rl::test_suite<LastLook<Orders>, 2> {
    SharedFifo<Node, Orders> queue;
    Node node;
    atomic<int> sleepers{0};
    bool seen_by_pusher = false, seen_by_sleeper = false;

    void thread(unsigned index) {
        if (index == 0) {
            queue.push(&node);
            seen_by_pusher = sleepers.load() != 0;
        } else {
            sleepers.fetch_add(1);
            seen_by_sleeper = !queue.looks_empty();
        }
    }

    void after() { WEFT_ASSERT(seen_by_pusher || seen_by_sleeper); }
};

struct LinkRelaxed : SharedFifoOrders {
    static constexpr std::memory_order link = std::memory_order_relaxed;
};
struct FollowRelaxed : SharedFifoOrders {
    static constexpr std::memory_order follow = std::memory_order_relaxed;
};
struct PushAcqRel : SharedFifoOrders {   // enough for the links, not for the last check
    static constexpr std::memory_order push = std::memory_order_acq_rel;
};
struct LookRelaxed : SharedFifoOrders {
    static constexpr std::memory_order look = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 10 : 1;
    models.holds<PushersAndPoppers<SharedFifoOrders, 1>>("two pushers, one popper", Preemptions{2 + more});
    models.holds<PushersAndPoppers<SharedFifoOrders, 1>>("two pushers, one popper", Random{100'000 * times});
    models.holds<PushersAndPoppers<SharedFifoOrders, 2>>("two pushers, two poppers", Random{100'000 * times});
    models.holds<Remover<SharedFifoOrders>>("a pusher, a popper and a remover", Preemptions{3 + more});
    models.holds<Remover<SharedFifoOrders>>("a pusher, a popper and a remover", Random{100'000 * times});
    models.holds<Remover<SharedFifoOrders, true>>("a pusher, a popper and one who pops a certain node",
                                                  Preemptions{3 + more});
    models.holds<Remover<SharedFifoOrders, true>>("a pusher, a popper and one who pops a certain node",
                                                  Random{100'000 * times});
    models.holds<LastLook<SharedFifoOrders>>("push, then look for sleepers", All{});
    // With one popper the check of the tail acquires what the links would acquire; only with two
    // poppers are the links' orders needed.
    models.fails<PushersAndPoppers<LinkRelaxed, 2>>("a link that releases nothing", Random{1'000'000});
    models.fails<PushersAndPoppers<FollowRelaxed, 2>>("a popper that acquires nothing", Random{1'000'000});
    models.fails<LastLook<PushAcqRel>>("a push that may pass the look for sleepers", All{});
    models.fails<LastLook<LookRelaxed>>("a last look that may come early", All{});
}
