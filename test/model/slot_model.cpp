// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value under a lasting key: threads that set and read it, and its two ends, that of the unit and
// that of the key.
#include "test/model/model.hpp"
#include "unit/slot.hpp"

namespace weft::model {

constexpr std::uint64_t mark = 1ull << 32, other_mark = 3ull << 32;

// What a value points to: written before it is set, and once more by the thread that releases it.
struct Pointed {
    plain<int> told{0};
    plain<int> released{0};
};

// Two threads try to set it, one after the other, as under the lock of the unit's extras; others
// read.
template <class Orders>
struct SetOnce : rl::test_suite<SetOnce<Orders>, 3> {
    BasicSlot<Orders> slot;
    Pointed first, second;
    atomic<int> lock{0};
    int set = 0;

    void before() { slot.clear(); }

    void thread(unsigned index) {
        if (index == 2) {
            auto* const found = static_cast<Pointed*>(slot.get(mark));
            WEFT_ASSERT(slot.get(other_mark) == nullptr);
            if (found != nullptr) WEFT_ASSERT(found->told == 1);
            return;
        }
        Pointed& mine = index == 0 ? first : second;
        mine.told = 1;
        if (lock.exchange(1, std::memory_order_acq_rel) != 0) return;   // a thread that waited would find it set
        if (!slot.has(mark)) {
            slot.put(mark, &mine);
            ++set;
        }
        lock.store(0, std::memory_order_release);
    }

    void after() {
        WEFT_ASSERT(set == 1);
        WEFT_ASSERT(static_cast<Pointed*>(slot.get(mark))->told == 1);
    }
};

// The unit is freed while its key is freed, too: the value is released once, and before the free of
// the key returns.
template <class Orders>
struct TwoEnds : rl::test_suite<TwoEnds<Orders>, 3> {
    BasicSlot<Orders> slot;
    Pointed pointed;
    int released = 0;     // in model time
    bool waits = false;   // the thread that frees the key would check again

    void before() {
        slot.clear();
        pointed.told = 1;
        slot.put(mark, &pointed);
    }

    void release(void* value) {
        WEFT_ASSERT(value == &pointed);
        pointed.released = 1;
        ++released;
    }

    void thread(unsigned index) {
        if (index == 0) end_unit();
        if (index == 1) free_key();
        if (index == 2) WEFT_ASSERT(slot.get(other_mark) == nullptr);
    }

    void end_unit() {
        if (!slot.has(mark)) return;
        void* const value = slot.take();
        if (value == nullptr) return;
        release(value);
        slot.done();
    }

    void free_key() {
        if (slot.has(mark)) {
            void* const value = slot.take();
            if (value == nullptr) {
                waits = true;
                return;
            }
            slot.done();
            release(value);
        }
        WEFT_ASSERT(pointed.released == 1);   // a race, if the other released it and nothing orders that
    }

    void after() {
        WEFT_ASSERT(released == 1);
        WEFT_ASSERT(slot.get(mark) == nullptr && slot.mark() == 0);
    }
};

struct PutRelaxed : SlotOrders {
    static constexpr std::memory_order put = std::memory_order_relaxed;
};
struct LookRelaxed : SlotOrders {
    static constexpr std::memory_order look = std::memory_order_relaxed;
};
struct DoneRelaxed : SlotOrders {
    static constexpr std::memory_order done = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    models.holds<SetOnce<SlotOrders>>("two set, one reads", All{});
    models.holds<SetOnce<SlotOrders>>("the same, with older values read", Random{models.full() ? 2'000'000u : 50'000u});
    models.holds<TwoEnds<SlotOrders>>("the unit and the key end at once", All{});
    models.holds<TwoEnds<SlotOrders>>("the same, with older values read", Random{models.full() ? 2'000'000u : 50'000u});
    models.fails<SetOnce<PutRelaxed>>("put relaxed", Random{100'000});
    models.fails<SetOnce<LookRelaxed>>("look relaxed", Random{100'000});
    models.fails<TwoEnds<DoneRelaxed>>("done relaxed", Random{100'000});
    models.fails<TwoEnds<LookRelaxed>>("look relaxed, at the ends", Random{100'000});
}
