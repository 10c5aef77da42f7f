// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit leaves a private pool while another unit joins it: the joiner announces itself by the
// rules of the pool that the unit is in, or was in when the joiner read it.
#include "test/model/model.hpp"
#include "unit/join_state.hpp"
#include "unit/owner_pool.hpp"

namespace weft::model {

struct Unit {
    alignas(8) int unused = 0;
};
struct Pool {
    int unused = 0;
};

constexpr std::uint8_t local = 1;

enum class Reads : unsigned char { pool_first, flags_first };

// Thread 0 is the stream of the pool that the unit is local to: it runs a remote call if there is
// one, and sends the unit to the pool of thread 1, where the unit ends. Thread 2 joins. Exactly one
// of two things happens: the end wakes the joiner, or the joiner finds the end.
template <class Orders, Reads reads = Reads::pool_first>
struct MoveAndJoin : rl::test_suite<MoveAndJoin<Orders, reads>, 3> {
    using JoinState = BasicJoinState<Unit>;
    JoinState join_state;
    Unit joiner;
    Pool home, away;
    atomic<std::uint8_t> flags{local};
    atomic<Pool*> pool{nullptr};
    atomic<int> remote_call{0}, sent{0};
    plain<int> result{0}, context{0}, record{0};
    int woken = 0, found = 0;

    void before() { pool.store(&home, std::memory_order_relaxed); }

    // What announce() in core/join.cpp does.
    void announce() {
        const auto answer = (flags.load(std::memory_order_relaxed) & local) != 0 ? join_state.announce_local(&joiner)
                                                                                 : join_state.announce_shared(&joiner);
        if (answer == JoinState::Announced::waiting) return;
        WEFT_ASSERT(answer == JoinState::Announced::done);
        WEFT_ASSERT(result == 1);
        ++found;
    }

    void serve() {
        if (remote_call.exchange(0, std::memory_order_acquire) != 0) announce();
    }

    void thread(unsigned index) {
        if (index == 0) {
            serve();
            // of a waiter with a deadline: the mover reads it while the unit is local
            WEFT_ASSERT(record == 0);
            change_owner_pool(flags, 0, pool, &away, Orders{});
            sent.store(1, std::memory_order_release);
            serve();
        } else if (index == 1) {
            if (sent.load(std::memory_order_acquire) == 0) return;   // it comes later: after()
            finish();
        } else {
            context = 1;
            Pool* const seen = look();
            if (seen == nullptr) {
                record = 1;   // which the joiner may release if the unit is not local
                return announce();
            }
            WEFT_ASSERT(seen == &home);
            remote_call.store(1, std::memory_order_release);
        }
    }

    Pool* look() {
        if (reads == Reads::pool_first) return local_to(flags, local, pool, Orders{});
        const bool is_local = (flags.load(Orders::flags_read) & local) != 0;
        Pool* const seen = pool.load(Orders::pool_read);
        return is_local ? seen : nullptr;
    }

    void finish() {
        result = 1;
        const auto waiter = join_state.finish_shared();
        if (waiter.none()) return;
        WEFT_ASSERT(context == 1);
        ++woken;
    }

    // The remaining steps: the remote call runs on the stream that it was sent to, and the unit
    // ends.
    void after() {
        serve();
        if (!join_state.done()) finish();
        WEFT_ASSERT(woken + found == 1);
    }
};

struct RelaxedPool : OwnerPoolOrders {
    static constexpr std::memory_order pool = std::memory_order_relaxed;
};
struct RelaxedFlags : OwnerPoolOrders {
    static constexpr std::memory_order flags = std::memory_order_relaxed;
};
struct RelaxedFlagsRead : OwnerPoolOrders {
    static constexpr std::memory_order flags_read = std::memory_order_relaxed;
};
struct RelaxedPoolRead : OwnerPoolOrders {
    static constexpr std::memory_order pool_read = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    models.holds<MoveAndJoin<OwnerPoolOrders>>("a unit leaves a private pool and is joined",
                                               Preemptions{models.full() ? 4u : 2u});
    models.holds<MoveAndJoin<OwnerPoolOrders>>("the same, with older values read",
                                               Random{models.full() ? 2'000'000u : 200'000u});
    models.fails<MoveAndJoin<RelaxedPool>>("the new pool relaxed", Random{200'000});
    models.fails<MoveAndJoin<RelaxedPoolRead>>("the pool read relaxed", Random{200'000});
    models.fails<MoveAndJoin<RelaxedFlags>>("the flags relaxed", Random{200'000});
    models.fails<MoveAndJoin<RelaxedFlagsRead>>("the flags read relaxed", Random{200'000});
    models.fails<MoveAndJoin<OwnerPoolOrders, Reads::flags_first>>("the flags read before the pool", Preemptions{2});
}
