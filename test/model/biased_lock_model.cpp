// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The biased lock: its owner against threads that revoke it, and against a thread that requests
// something and then checks that nothing is left.
#include "os/biased_lock.hpp"

#include "test/model/model.hpp"

namespace weft::model {

struct Counter {
    plain<int> value{0};
};

// The owner enters `times` times, and each other thread revokes once: what the lock guards is never
// touched by two at once, and no addition is lost.
template <class Orders, int others, int times>
struct OwnerAndOthers : rl::test_suite<OwnerAndOthers<Orders, others, times>, 1 + others> {
    os::BiasedLock<Counter, Orders> lock;
    int expected[1 + others] = {};

    void thread(unsigned index) {
        if (index == 0) {
            for (int i = 0; i < times; ++i) {
                if ((lock.enter() & lock.revoked) == 0) add(index);
                lock.leave();
            }
        } else if (lock.revoke()) {
            add(index);
            lock.restore();
        }
    }

    void add(unsigned index) {
        lock.data().value = lock.data().value + 1;
        ++expected[index];
    }

    void after() {
        int sum = 0;
        for (int one : expected) sum += one;
        WEFT_ASSERT(lock.data().value == sum);
    }
};

// The owner puts something in, and looks whether it was requested; the other thread requests, calls
// the barrier, and looks whether something is there. It must not happen that both miss the other.
template <class Orders>
struct LastLook : rl::test_suite<LastLook<Orders>, 2> {
    static constexpr std::uint32_t requested = 2;
    struct Length {
        atomic<int> value{0};
    };
    os::BiasedLock<Length, Orders> lock;
    bool seen_by_owner = false, seen_by_other = false;

    void thread(unsigned index) {
        if (index == 0) {
            seen_by_owner = (lock.enter() & requested) != 0;
            lock.data().value.store(1, std::memory_order_relaxed);
            lock.leave();
        } else {
            lock.set(requested);
            if (Orders::fences) os::process_barrier();
            seen_by_other = lock.inside() || lock.data().value.load(std::memory_order_relaxed) != 0;
        }
    }

    void after() { WEFT_ASSERT(seen_by_owner || seen_by_other); }
};

struct NoFence : os::BiasedLockOrders {   // the owner's store and load change places
    static constexpr bool fences = false;
};
struct LookRelaxed : os::BiasedLockOrders {
    static constexpr std::memory_order look = std::memory_order_relaxed;
};
struct RestoreRelaxed : os::BiasedLockOrders {
    static constexpr std::memory_order restore = std::memory_order_relaxed;
};
struct LeaveRelaxed : os::BiasedLockOrders {
    static constexpr std::memory_order leave = std::memory_order_relaxed;
};
struct LookInsideRelaxed : os::BiasedLockOrders {
    static constexpr std::memory_order look_inside = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    const unsigned more = models.full() ? 1 : 0;
    using Orders = os::BiasedLockOrders;
    models.holds<OwnerAndOthers<Orders, 1, 1>>("an owner and a thread that revokes", All{});
    models.holds<OwnerAndOthers<Orders, 1, 2>>("an owner that enters twice", Preemptions{4 + more});
    models.holds<OwnerAndOthers<Orders, 2, 2>>("an owner and two threads",
                                               Random{models.full() ? 1'000'000u : 100'000u});
    models.holds<LastLook<Orders>>("a request before the last look", All{});
    models.fails<OwnerAndOthers<NoFence, 1, 2>>("an owner without the light fence", Random{1'000'000});
    models.fails<LastLook<NoFence>>("a request without the light fence", Random{1'000'000});
    models.fails<OwnerAndOthers<LookRelaxed, 1, 2>>("an owner that acquires nothing", Random{1'000'000});
    models.fails<OwnerAndOthers<RestoreRelaxed, 1, 2>>("a restored lock that releases nothing", Random{1'000'000});
    models.fails<OwnerAndOthers<LeaveRelaxed, 1, 2>>("an owner that releases nothing", Random{1'000'000});
    models.fails<OwnerAndOthers<LookInsideRelaxed, 1, 2>>("a thread that acquires nothing", Random{1'000'000});
}
