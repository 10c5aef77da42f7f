// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parker: an unpark is never lost, and the carrier that goes on sees what each waker wrote.
#include "hart/parker.hpp"
#include "test/model/model.hpp"

namespace weft::model {

// The carrier parks; the waker writes and unparks it, `rounds` times, each time after the carrier
// has released it.
template <class Orders, int rounds>
struct Rounds : rl::test_suite<Rounds<Orders, rounds>, 2> {
    BasicParker<Orders> there, back;
    plain<int> message{0};

    void thread(unsigned index) {
        for (int i = 1; i <= rounds; ++i) {
            if (index == 0) {
                message = i;
                there.unpark();
                WEFT_ASSERT(back.park());
            } else {
                WEFT_ASSERT(there.park());
                WEFT_ASSERT(message == i);
                back.unpark();
            }
        }
    }
};

// Two wakers, each with a message of its own, as two pools would have it: relaxed flags, so that
// only the parker can order them. The carrier takes the messages that it finds each time it is
// woken, and must find both.
template <class Orders>
struct TwoWakers : rl::test_suite<TwoWakers<Orders>, 3> {
    BasicParker<Orders> parker;
    atomic<int> messages[2];

    void thread(unsigned index) {
        if (index < 2) {
            messages[index].store(1, std::memory_order_relaxed);
            parker.unpark();
            return;
        }
        bool found[2] = {false, false};
        while (!found[0] || !found[1]) {   // a lost unpark is a deadlock here
            parker.park();
            for (int i = 0; i < 2; ++i) {
                if (messages[i].load(std::memory_order_relaxed) != 0) found[i] = true;
            }
        }
    }
};

// A park that may time out just when it is unparked: its return value says what has happened to the
// permit.
template <class Orders>
struct TimedWait : rl::test_suite<TimedWait<Orders>, 2> {
    BasicParker<Orders> parker;
    plain<int> message{0};

    void before() { os::model_clock = 0; }

    void thread(unsigned index) {
        if (index == 0) {
            message = 1;
            parker.unpark();
        } else {
            if (!parker.park(10)) WEFT_ASSERT(parker.park());
            WEFT_ASSERT(message == 1);
        }
    }
};

struct UnparkRelaxed : ParkerOrders {
    static constexpr std::memory_order unpark = std::memory_order_relaxed;
};
struct ParkRelaxed : ParkerOrders {
    static constexpr std::memory_order park = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 10 : 1;
    models.holds<Rounds<ParkerOrders, 1>>("one unpark each way", All{});
    models.holds<Rounds<ParkerOrders, 3>>("three unparks each way", Random{100'000 * times});
    models.holds<TwoWakers<ParkerOrders>>("two wakers", Preemptions{3 + more});
    models.holds<TwoWakers<ParkerOrders>>("two wakers", Random{100'000 * times});
    models.holds<TimedWait<ParkerOrders>>("a wait with a limit", Preemptions{4 + more});
    models.holds<TimedWait<ParkerOrders>>("a wait with a limit", Random{100'000 * times});
    models.fails<Rounds<UnparkRelaxed, 1>>("an unpark that releases nothing", Random{200'000});
    models.fails<Rounds<ParkRelaxed, 1>>("a park that acquires nothing", Random{200'000});
    models.fails<TwoWakers<UnparkRelaxed>>("two wakers that release nothing", Random{200'000});
}
