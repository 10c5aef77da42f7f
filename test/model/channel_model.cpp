// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The channel: each element is received once, in the order of its sender, and closing the channel
// wakes every waiter.
#include "sync/channel.hpp"
#include "test/model/agent.hpp"

namespace weft::model {

using sync::Answer;

using Element = plain<int>;

// Threads send first, then receive; sender i sends i*10, i*10+1 ... Without `closes` all but
// `leaves` elements are received; with it, the first thread closes the channel, and the others stop
// when they find it closed.
template <class Habits, class Orders, int capacity, int senders, int receivers, int count, bool closes = false,
          bool hurries = false, int leaves = 0>
struct Pass : rl::test_suite<Pass<Habits, Orders, capacity, senders, receivers, count, closes, hurries, leaves>,
                             closes + senders + receivers> {
    static_assert(closes || hurries || (senders * count - leaves) % receivers == 0);
    static constexpr int each = (senders * count - leaves) / receivers;
    using Channel = sync::BasicChannel<BasicAgentRef<Habits>, Orders>;
    static constexpr int room = capacity == 0 ? 1 : capacity;

    Element buffer[room];
    Channel channel{{sizeof(Element), capacity,
                     [](void* to, void* from) { *static_cast<Element*>(to) = *static_cast<Element*>(from); }, nullptr},
                    reinterpret_cast<char*>(buffer)};
    BasicAgent<Habits> agents[closes + senders + receivers];
    Element items[closes + senders + receivers];
    atomic<int> seen[senders * 10]{};
    atomic<int> sent[senders * 10]{};

    void thread(unsigned index) {
        BasicAgent<Habits>& agent = agents[index];
        if (closes && index == 0) {
            WEFT_ASSERT(channel.close());
        } else if (index < closes + senders) {
            send(agent, items[index], static_cast<int>(index - closes) * 10);
        } else {
            receive(agent, items[index]);
        }
        agent.begin(false);   // the memory is used for something else
        items[index] = -1;
    }

    // Returns false if it has given up.
    template <class End>
    bool wait(End end, BasicAgent<Habits>& agent, Element& item, bool may_give_up) {
        agent.begin(may_give_up);
        agent.waiter.item = &item;
        if (end.come() && end.take(agent.waiter)) return true;
        return !end.enter(agent.waiter) || agent.parked(end, may_give_up);
    }
    void send(BasicAgent<Habits>& agent, Element& item, int first) {
        for (int i = 0; i < count; ++i) {
            item = first + i;
            if (!wait(typename Channel::Sending(channel), agent, item, hurries)) continue;
            if (agent.waiter.answer == Answer::closed) return;
            sent[first + i].store(1, std::memory_order_relaxed);
        }
    }
    void receive(BasicAgent<Habits>& agent, Element& item) {
        int latest[senders];
        for (int& one : latest) one = -1;
        for (int i = 0; closes || i < each; ++i) {
            item = -1;
            if (!wait(typename Channel::Receiving(channel), agent, item, hurries)) continue;
            if (agent.waiter.answer == Answer::closed) return;
            const int got = item;
            WEFT_ASSERT(got >= 0 && got > latest[got / 10]);
            latest[got / 10] = got;
            WEFT_ASSERT(seen[got].fetch_add(1, std::memory_order_relaxed) == 0);
        }
    }
    // With `hurries`, elements that were not received are in the buffer.
    void after() {
        WEFT_ASSERT(!channel.somebody_waits());
        int left = 0;
        for (int i = 0; i < senders * 10; ++i) {
            const int gone = sent[i].load() - seen[i].load();
            WEFT_ASSERT(gone >= 0);
            left += gone;
        }
        WEFT_ASSERT(left == static_cast<int>(channel.length()));
        WEFT_ASSERT(closes || hurries || left == leaves);
    }
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Strong = sync::WordOrders;
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 5 : 1;
    models.holds<Pass<Careful, Strong, 0, 1, 1, 1>>("one element, no buffer", Preemptions{4 + more});
    models.holds<Pass<Careful, Strong, 1, 1, 1, 2>>("two elements, room for one", Preemptions{2 + more});
    models.holds<Pass<Careful, Strong, 0, 2, 1, 1>>("two senders, no buffer", Preemptions{1 + more});
    models.holds<Pass<Careful, Strong, 1, 1, 1, 2, false, false, 1>>("two elements, one of which is left",
                                                                     Preemptions{2 + more});
    models.holds<Pass<Careful, Strong, 1, 2, 1, 2>>("two senders, room for one", Random{50'000 * times});
    models.holds<Pass<Careful, Strong, 0, 1, 2, 2>>("two receivers, no buffer", Random{50'000 * times});
    models.holds<Pass<Careful, Strong, 1, 1, 2, 4>>("two receivers, room for one", Random{50'000 * times});
    models.holds<Pass<Careful, Strong, 0, 1, 1, 2, true>>("closed under a sender and a receiver",
                                                          Preemptions{1 + more});
    models.holds<Pass<Careful, Strong, 1, 1, 1, 2, true>>("closed under both, room for one", Random{50'000 * times});
    models.holds<Pass<Careful, Strong, 0, 1, 1, 2, false, true>>("both may give up, no buffer", Preemptions{2 + more});
    models.holds<Pass<Careful, Strong, 1, 2, 1, 2, false, true>>("three that may give up, room for one",
                                                                 Random{50'000 * times});

    models.fails<Pass<Careful, EnterRelaxed, 1, 2, 1, 2>>("one that comes in and acquires nothing", Random{100'000});
    models.fails<Pass<Careful, LeaveRelaxed, 0, 1, 1, 1>>("one that lets go and releases nothing", Random{100'000});
    models.fails<Pass<Wakeless, Strong, 0, 1, 1, 1>>("one that wakes nobody", Random{100'000});
    models.fails<Pass<Careless, Strong, 0, 1, 1, 2, false, true>>("one that gives up without asking", Random{100'000});
}
