// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An owner that declines requests, a stream that watches it, and one that goes to sleep meanwhile
// (src/pool/README.md, "Units too short to be stolen"). The owner comes to its deque, which is
// empty, once, then keeps or publishes a unit, and does not come again. Afterwards some stream must
// be awake, or be about to look again.
#include "pool/restraint.hpp"

#include "os/biased_lock.hpp"
#include "test/model/model.hpp"

namespace weft::model {

// `leaves`: the stream that watches finds other work, instead of going to sleep as well. `expired`:
// the time of the decline is over at once.
template <class Steps, bool leaves, bool expired, bool wakes = true, bool looks_once_more = true, bool insists = false>
struct Declining : rl::test_suite<Declining<Steps, leaves, expired, wakes, looks_once_more, insists>, 3> {
    static constexpr std::uint32_t requested = 2;
    struct Units {
        atomic<int> kept{0};
    };
    os::BiasedLock<Units> own;
    BasicRestraint<Steps> restraint;
    atomic<int> published{0}, listed{0}, woken{0};
    bool looks_again[3] = {}, awake[3] = {};

    void before() {
        own.set(requested);
        restraint.set_active(true);
        restraint.watch(this);
    }

    void thread(unsigned index) {
        if (index == 0) return own_pool();
        if (index == 1 && leaves) {
            if (restraint.stop_watching(this) && wakes) wake();
            return;
        }
        if (index == 2 && insists) return sleep_insistently();
        sleep(index, index == 1 ? static_cast<void*>(this) : &listed);
    }

    void own_pool() {
        if ((own.enter() & requested) != 0 && restraint.allowed()) decline();
        own.leave();
        const bool asked = (own.enter() & requested) != 0;
        own.data().kept.store(1, std::memory_order_relaxed);   // relaxed: as GrowingRing's indices
        const bool publishes = asked && !holds_back();
        if (publishes) {
            own.clear(requested);
            published.store(1);
            own.data().kept.store(0, std::memory_order_relaxed);
        }
        own.leave();
        if (publishes) wake();
    }

    void decline() {
        own.clear(requested);
        if (!restraint.decline(expired ? 0 : 1)) own.set(requested);
    }

    // The owner has not weighed the request for long enough.
    bool holds_back() {
        if (!restraint.allowed()) return false;
        if (looks_once_more) own.set(requested);
        return restraint.allowed();
    }

    void wake() {
        if (listed.load() != 0) woken.store(1);
    }

    // The steps of src/hart/README.md.
    void sleep(unsigned index, void* self) {
        listed.fetch_add(1);
        const bool asked = restraint.request(
            self, [] { return expired ? BasicRestraint<Steps>::longest_ns : std::uint64_t{1}; },
            [&] { own.set(requested); });
        if (asked) os::process_barrier();
        awake[index] = published.load() != 0 || (!restraint.declined() && !keeps_none());
        if (awake[index]) return;
        const std::uint64_t until_ns = restraint.keep_watching(self, [&] {
            own.set(requested);
            return keeps_none() && published.load() == 0;
        });
        looks_again[index] = until_ns != restraint.forever;
    }

    void sleep_insistently() {
        restraint.insist();
        listed.fetch_add(1);
        restraint.request_insistently([&] { own.set(requested); });
        os::process_barrier();
        awake[2] = published.load() != 0 || (!restraint.declined() && !keeps_none());
    }

    // relaxed: as GrowingRing's indices
    bool keeps_none() const { return !own.inside() && own.data().kept.load(std::memory_order_relaxed) == 0; }

    void after() {
        const bool somebody = awake[1] || awake[2] || looks_again[1] || looks_again[2];
        WEFT_ASSERT(somebody || woken.load() != 0);
    }
};

struct NoLookForAWatcher : RestraintSteps {
    static constexpr bool decline_looks = false;
};
struct NoLookForADecline : RestraintSteps {
    static constexpr bool end_looks = false;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Steps = RestraintSteps;
    const unsigned most = models.full() ? 4 : 3;
    models.holds<Declining<Steps, true, false>>("a watcher that leaves", Preemptions{most});
    models.holds<Declining<Steps, true, true>>("a watcher that leaves, a short decline", Preemptions{most});
    models.holds<Declining<Steps, false, false>>("a watcher that goes to sleep", Preemptions{most});
    models.holds<Declining<Steps, false, true>>("a watcher that goes to sleep, a short decline", Preemptions{most});
    models.holds<Declining<Steps, true, false>>("a watcher that leaves, other values",
                                                Random{models.full() ? 1'000'000u : 100'000u});
    models.holds<Declining<Steps, false, true>>("a watcher that goes to sleep, other values",
                                                Random{models.full() ? 1'000'000u : 100'000u});
    models.holds<Declining<Steps, true, false, false, true, true>>("a sleeper that insists", Preemptions{most});
    models.fails<Declining<Steps, true, false, false>>("a watcher that leaves and wakes nobody", Random{1'000'000});
    models.fails<Declining<Steps, false, true, true, false>>("an owner that weighs and does not look once more",
                                                             Random{1'000'000});
    models.fails<Declining<NoLookForAWatcher, false, false>>("a decline without a look for a watcher",
                                                             Random{1'000'000});
    models.fails<Declining<NoLookForADecline, false, false>>("an end of watching without a look for a decline",
                                                             Random{1'000'000});
}
