// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The deque: an owner against thieves, on a ring so small that it wraps and fills.
#include "pool/deque.hpp"
#include "test/model/model.hpp"

namespace weft::model {

// The owner pushes `items`, popping one at times; `thieves` steal twice each. Each item is taken
// once, whole; each thief gets items in the order in which they were pushed.
template <class Orders, int thieves, int items>
struct OwnerAndThieves : rl::test_suite<OwnerAndThieves<Orders, thieves, items>, 1 + thieves> {
    Deque<Node, 2, Orders> deque;
    Node nodes[items];
    int times[items] = {};
    int pushed = 0;

    void thread(unsigned index) {
        if (index == 0) {
            for (int i = 0; i < items; ++i) {
                nodes[i].value = i;
                while (!deque.push_bottom(&nodes[i])) took(deque.pop_bottom());
                ++pushed;
            }
            took(deque.pop_bottom());
        } else {
            int last = -1;
            for (int i = 0; i < 2; ++i) {
                const auto stolen = deque.steal();
                if (stolen.node == nullptr) continue;
                const int value = took(stolen.node);
                WEFT_ASSERT(value > last);
                last = value;
            }
        }
    }

    int took(Node* node) {
        if (node == nullptr) return -1;
        const int value = node->value;
        ++times[value];
        return value;
    }

    void after() {
        while (Node* node = deque.pop_bottom()) took(node);
        for (int time : times) WEFT_ASSERT(time == 1);
        WEFT_ASSERT(deque.looks_empty() && deque.length() == 0);
    }
};

// One item, the owner, which is `choosy` or not, and `thieves` that want it: exactly one gets it,
// and the deque is intact afterwards.
template <class Orders, int thieves, bool choosy = false>
struct LastItem : rl::test_suite<LastItem<Orders, thieves, choosy>, 1 + thieves> {
    Deque<Node, 2, Orders> deque;
    Node node, second;
    int times = 0;

    void before() {
        node.value = 1;
        deque.push_bottom(&node);
    }

    void thread(unsigned index) {
        Node* taken = index != 0 ? deque.steal().node : choosy ? pop_wanted() : deque.pop_bottom();
        if (taken != nullptr) ++times;
    }

    Node* pop_wanted() { return deque.pop_bottom_if(&node) ? &node : nullptr; }

    void after() {
        WEFT_ASSERT(times == 1 || (times == 0 && deque.pop_bottom() == &node));
        WEFT_ASSERT(deque.push_bottom(&second) && deque.steal().node == &second);
    }
};

// The two sides of going to sleep, without the sleeping: it must not happen that both miss the
// other.
template <class Orders>
struct LastLook : rl::test_suite<LastLook<Orders>, 2> {
    Deque<Node, 2, Orders> deque;
    Node node;
    atomic<int> sleepers{0};
    bool seen_by_owner = false, seen_by_sleeper = false;

    void thread(unsigned index) {
        if (index == 0) {
            deque.push_bottom(&node);
            seen_by_owner = sleepers.load() != 0;
        } else {
            sleepers.fetch_add(1);
            seen_by_sleeper = !deque.looks_empty();
        }
    }

    void after() { WEFT_ASSERT(seen_by_owner || seen_by_sleeper); }
};

struct PublishRelaxed : DequeOrders {
    static constexpr std::memory_order push_bottom = std::memory_order_relaxed;
};
struct PublishRelease : DequeOrders {   // enough for the items, not for the last check
    static constexpr std::memory_order push_bottom = std::memory_order_release;
};
struct PopRelease : DequeOrders {   // the well-known fault: the owner's store and load change places
    static constexpr std::memory_order pop_bottom = std::memory_order_release;
    static constexpr std::memory_order pop_top = std::memory_order_acquire;
};
struct StealAcquire : DequeOrders {   // the thief's two loads change places
    static constexpr std::memory_order steal_top = std::memory_order_relaxed;
    static constexpr std::memory_order steal_bottom = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 10 : 1;
    models.holds<LastItem<DequeOrders, 1>>("the last item, one thief", All{});
    models.holds<LastItem<DequeOrders, 2>>("the last item, two thieves", All{});
    models.holds<LastItem<DequeOrders, 1, true>>("the last item, one thief, an owner who wants that one", All{});
    models.holds<OwnerAndThieves<DequeOrders, 1, 3>>("an owner and a thief", Preemptions{4 + more});
    models.holds<OwnerAndThieves<DequeOrders, 1, 4>>("an owner and a thief", Random{100'000 * times});
    models.holds<OwnerAndThieves<DequeOrders, 2, 4>>("an owner and two thieves", Random{100'000 * times});
    models.holds<LastLook<DequeOrders>>("push, then look for sleepers", All{});
    models.fails<OwnerAndThieves<PublishRelaxed, 1, 3>>("a push that releases nothing", Random{200'000});
    models.fails<LastLook<PublishRelease>>("a push that may pass the look for sleepers", All{});
    models.fails<OwnerAndThieves<PopRelease, 1, 3>>("an owner whose look at top may come early", Random{1'000'000});
    models.fails<OwnerAndThieves<StealAcquire, 1, 3>>("a thief that acquires nothing", Random{1'000'000});
}
