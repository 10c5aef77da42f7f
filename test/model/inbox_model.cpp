// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inbox: two pushers, and one owner that takes all, twice. Every node comes once, whole, and in
// the order of its pusher.
#include "pool/inbox.hpp"
#include "test/model/model.hpp"

namespace weft::model {

template <class Orders>
struct TwoPushersAndTheOwner : rl::test_suite<TwoPushersAndTheOwner<Orders>, 3> {
    Inbox<Node, Orders> inbox;
    Node nodes[4];
    int taken[2] = {0, 0};   // how many of each pusher's nodes have come

    void thread(unsigned index) {
        if (index < 2) {
            for (unsigned i = 0; i < 2; ++i) {
                Node& node = nodes[index * 2 + i];
                node.value = static_cast<int>(index * 2 + i);
                inbox.push(&node);
            }
            return;
        }
        take();
        take();
    }

    void take() {
        for (Node* node = inbox.take_all(); node != nullptr;
             node = node->atomic_link().load(std::memory_order_relaxed)) {
            const int value = node->value;
            WEFT_ASSERT(value == (value / 2) * 2 + taken[value / 2]);   // the next one of its pusher
            ++taken[value / 2];
        }
    }

    void after() {
        take();
        WEFT_ASSERT(taken[0] == 2 && taken[1] == 2);
        WEFT_ASSERT(inbox.looks_empty());
    }
};

struct PushRelaxed : InboxOrders {
    static constexpr std::memory_order push = std::memory_order_relaxed;
};
struct TakeRelaxed : InboxOrders {
    static constexpr std::memory_order take = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 10 : 1;
    models.holds<TwoPushersAndTheOwner<InboxOrders>>("two pushers and the owner", Preemptions{3 + more});
    models.holds<TwoPushersAndTheOwner<InboxOrders>>("two pushers and the owner", Random{100'000 * times});
    models.fails<TwoPushersAndTheOwner<PushRelaxed>>("a push that releases nothing", Random{200'000});
    models.fails<TwoPushersAndTheOwner<TakeRelaxed>>("a take that acquires nothing", Random{200'000});
}
