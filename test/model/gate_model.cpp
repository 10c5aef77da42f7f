// The gate: an opening is never lost, and whoever is let through sees what each opener wrote.
#include "hart/gate.hpp"
#include "test/model/model.hpp"

namespace weft::model {

// The carrier waits; the opener writes and opens, `rounds` times, told by the carrier that it may go on.
template <class Orders, int rounds>
struct Rounds : rl::test_suite<Rounds<Orders, rounds>, 2> {
    BasicGate<Orders> there, back;
    plain<int> message{0};

    void thread(unsigned index) {
        for (int i = 1; i <= rounds; ++i) {
            if (index == 0) {
                message = i;
                there.open();
                WEFT_ASSERT(back.wait());
            } else {
                WEFT_ASSERT(there.wait());
                WEFT_ASSERT(message == i);
                back.open();
            }
        }
    }
};

// Two openers, each with mail of its own, as two pools would have it: relaxed flags, so that only the gate can
// order them. The carrier takes what it finds each time it is let through, and must find both.
template <class Orders>
struct TwoOpeners : rl::test_suite<TwoOpeners<Orders>, 3> {
    BasicGate<Orders> gate;
    atomic<int> mail[2];

    void thread(unsigned index) {
        if (index < 2) {
            mail[index].store(1, std::memory_order_relaxed);
            gate.open();
            return;
        }
        bool found[2] = {false, false};
        while (!found[0] || !found[1]) {   // a lost opening is a deadlock here
            gate.wait();
            for (int i = 0; i < 2; ++i) {
                if (mail[i].load(std::memory_order_relaxed) != 0) found[i] = true;
            }
        }
    }
};

// A wait that may time out just when the gate is opened: what it answers is what has become of the opening.
template <class Orders>
struct TimedWait : rl::test_suite<TimedWait<Orders>, 2> {
    BasicGate<Orders> gate;
    plain<int> message{0};

    void before() { os::model_clock = 0; }

    void thread(unsigned index) {
        if (index == 0) {
            message = 1;
            gate.open();
        } else {
            if (!gate.wait(10)) WEFT_ASSERT(gate.wait());
            WEFT_ASSERT(message == 1);
        }
    }
};

struct OpenRelaxed : GateOrders {
    static constexpr std::memory_order open = std::memory_order_relaxed;
};
struct PassRelaxed : GateOrders {
    static constexpr std::memory_order pass = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 10 : 1;
    models.holds<Rounds<GateOrders, 1>>("one opening each way", All{});
    models.holds<Rounds<GateOrders, 3>>("three openings each way", Random{100'000 * times});
    models.holds<TwoOpeners<GateOrders>>("two openers", Preemptions{3 + more});
    models.holds<TwoOpeners<GateOrders>>("two openers", Random{100'000 * times});
    models.holds<TimedWait<GateOrders>>("a wait with a limit", Preemptions{4 + more});
    models.holds<TimedWait<GateOrders>>("a wait with a limit", Random{100'000 * times});
    models.fails<Rounds<OpenRelaxed, 1>>("an opening that releases nothing", Random{200'000});
    models.fails<Rounds<PassRelaxed, 1>>("a passing that acquires nothing", Random{200'000});
    models.fails<TwoOpeners<OpenRelaxed>>("two openers that release nothing", Random{200'000});
}
