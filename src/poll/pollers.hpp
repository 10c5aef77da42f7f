// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pollers of the runtime: calls that every stream makes between units and when it is idle, each
// by one stream at a time.
//
// A poller lives in a place that is never freed while the runtime runs, so a stream may read it at
// any time. The holder of the place's busy flag runs the call, or fills or empties the place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/lock.hpp"

namespace weft {

struct Poller {
    // under busy; null: the place is free. Returns whether it has done something
    bool (*call)(void* argument) = nullptr;
    void* argument = nullptr;
    int descriptor = -1;   // the descriptor whose readiness wakes an idle stream; -1: none
    std::uint32_t events = 0;
    bool only_when_ready = false;   // not called before its descriptor is ready
    atomic<bool> live{false};       // a hint for streams that pass by
    // its descriptor has been reported, and is to be armed again before an idle stream sleeps
    atomic<bool> disarmed{false};
    atomic<bool> busy{false};
    atomic<void*> runner{nullptr};   // the stream that runs the call: a removal from within must not wait for itself
    bool doomed = false;             // removed from within; written and read by the runner
    std::uint32_t tag = 0;           // its number
};

class Pollers {
public:
    static constexpr std::size_t in_a_block = 32;

    Pollers() = default;
    ~Pollers();
    Pollers(const Pollers&) = delete;
    Pollers& operator=(const Pollers&) = delete;

    // Both are read without a lock, as hints. `blind`: those without a descriptor, for which an
    // idle stream must poll now and then.
    std::size_t live() const { return live_.load(); }
    std::size_t blind() const { return blind_.load(); }

    // Null: no memory.
    Poller* add(bool (*call)(void*), void* argument, int descriptor, std::uint32_t events, bool only_when_ready);

    // Returns when the call does not run and will not run again; from within the call itself, when
    // it will not run again.
    void remove(Poller& poller, void* self);

    // Makes all calls that no other stream makes at this moment. `self`: the stream. Returns how
    // many have done something.
    std::size_t run(void* self);

    // Calls arm(descriptor, events, tag) for those whose descriptor has been reported since they
    // were armed. Not for one that runs: the stream that runs it gets here, too, before it sleeps.
    template <class Arm>
    void arm_all(Arm&& arm) {
        each([&](Poller& poller) {
            // relaxed: hints; both are checked again under busy.
            if (!poller.live.load(std::memory_order_relaxed) || !poller.disarmed.load(std::memory_order_relaxed) ||
                !take(poller))
                return;
            if (poller.call != nullptr && poller.descriptor >= 0 && poller.disarmed.exchange(false)) {
                arm(poller.descriptor, poller.events, poller.tag);
            }
            let_go(poller);
        });
    }

    // The poller of that number, or null.
    Poller* at(std::uint32_t tag);

    // Calls visit(poller) for each.
    template <class Visit>
    void each(Visit&& visit) {
        // acquire: pairs with the release in add(), so that the block is seen filled.
        for (Block* block = first_.load(std::memory_order_acquire); block != nullptr; block = block->next) {
            for (Poller& poller : block->pollers) visit(poller);
        }
    }

    // While no thread runs: the counts agree with the live pollers.
    void check_whole() {
        std::size_t live = 0, blind = 0;
        each([&](const Poller& poller) {
            WEFT_ASSERT(poller.tag < numbers_ && poller.live.load() == (poller.call != nullptr));
            WEFT_ASSERT(poller.runner.load() == nullptr || poller.busy.load());
            if (!poller.live.load()) return;
            ++live;
            blind += poller.descriptor < 0 ? 1 : 0;
        });
        WEFT_ASSERT(live == live_.load() && blind == blind_.load());
    }

private:
    struct Block {
        Poller pollers[in_a_block];
        Block* next = nullptr;
    };

    // On entry, for a place that is busy: it is free, or a counted poller has it.
    void check(const Poller& poller) const {
        WEFT_ASSERT(poller.call == nullptr || (poller.busy.load() && live() != 0));
    }
    static bool take(Poller& poller);
    static void let_go(Poller& poller);
    void clear(Poller& poller);
    bool run_one(Poller& poller, void* self);

    os::Lock lock_;   // for adding pollers
    atomic<Block*> first_{nullptr};
    std::uint32_t numbers_ = 0;
    atomic<std::size_t> live_{0};
    atomic<std::size_t> blind_{0};
};

}   // namespace weft
