// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Posted calls: each accepted call is made once, in the order of its sender; and a sender learns
// when there is no room.
#include "poll/posts.hpp"
#include "test/model/model.hpp"

namespace weft::model {

struct WrongPublish : PostsOrders {
    static constexpr std::memory_order publish = std::memory_order_relaxed;
};
struct WrongLook : PostsOrders {
    static constexpr std::memory_order look = std::memory_order_relaxed;
};

// `senders` send `count` calls each; the last thread takes them, until all accepted calls have been
// made.
template <class Orders, std::size_t size, int senders, int count>
struct PostedCalls : rl::test_suite<PostedCalls<Orders, size, senders, count>, senders + 1> {
    struct Call {
        PostedCalls* of = nullptr;
        int sender = 0, number = 0;
        plain<int> made{0};
    };

    BasicPosts<size, Orders> posts;
    Call calls[senders][count];
    bool accepted[senders][count] = {};
    plain<int> latest[senders];   // only the taker uses it
    atomic<int> still_sending{senders};

    void thread(unsigned index) {
        if (index == senders) return take();
        for (int i = 0; i < count; ++i) {
            Call& call = calls[index][i];
            call.of = this;
            call.sender = static_cast<int>(index);
            call.number = i + 1;
            call.made = 0;
            accepted[index][i] = posts.send(make, &call);
        }
        still_sending.fetch_sub(1);
    }

    static void make(void* argument) {
        Call& call = *static_cast<Call*>(argument);
        ++call.made;
        WEFT_ASSERT(call.of->latest[call.sender] < call.number);
        call.of->latest[call.sender] = call.number;
    }

    void take() {
        bool last = false;
        while (!last) {
            last = still_sending.load() == 0;
            if (posts.take_all() == 0) rl::yield(1, info(std::source_location::current()));
        }
    }

    void after() {
        int refused = 0;
        for (int sender = 0; sender < senders; ++sender) {
            for (int i = 0; i < count; ++i) {
                WEFT_ASSERT(calls[sender][i].made == (accepted[sender][i] ? 1 : 0));
                refused += accepted[sender][i] ? 0 : 1;
            }
        }
        WEFT_ASSERT(static_cast<std::size_t>(senders * count) > size || refused == 0);
    }
};

// No thread takes calls: the first `size` are accepted, and no more; and all of them are made.
template <class Orders>
struct Full : rl::test_suite<Full<Orders>, 2> {
    BasicPosts<2, Orders> posts;
    int made = 0;
    int accepted[2] = {};

    void thread(unsigned index) {
        for (int i = 0; i < 2; ++i)
            accepted[index] += posts.send([](void* self) { ++static_cast<Full*>(self)->made; }, this) ? 1 : 0;
    }
    void after() {
        WEFT_ASSERT(accepted[0] + accepted[1] == 2);
        WEFT_ASSERT(posts.take_all() == 2 && made == 2);
        WEFT_ASSERT(posts.send([](void*) {}, nullptr) && posts.take_all() == 1);
    }
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Strong = PostsOrders;
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 5 : 1;
    models.holds<PostedCalls<Strong, 2, 1, 1>>("one sender, one call", Preemptions{6 + more});
    models.holds<PostedCalls<Strong, 2, 1, 3>>("one sender, three calls", Preemptions{3 + more});
    models.holds<PostedCalls<Strong, 2, 2, 1>>("two senders, a call each", Preemptions{2 + more});
    models.holds<PostedCalls<Strong, 2, 2, 2>>("two senders, two calls each", Random{50'000 * times});
    models.holds<PostedCalls<Strong, 2, 2, 3>>("two senders, three calls each", Random{50'000 * times});
    models.holds<Full<Strong>>("two senders, and nobody takes", Preemptions{6 + more});

    models.fails<PostedCalls<WrongPublish, 2, 1, 1>>("a call that is published without order", Random{100'000});
    models.fails<PostedCalls<WrongLook, 2, 1, 1>>("a look that acquires nothing", Random{100'000});
}
