// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "poll/pollers.hpp"

#include <mutex>

#include "base/handles.hpp"
#include "os/memory.hpp"
#include "os/spin.hpp"

namespace weft {

Pollers::~Pollers() {
    for (Block* block = first_.load(); block != nullptr;) {
        Block* next = block->next;
        for (const Poller& poller : block->pollers) handles::freed(&poller);
        os::destroy(block);
        block = next;
    }
}

// acquire and release: pair with each other, so that the next runner sees what the last one left
// behind.
bool Pollers::take(Poller& poller) { return !poller.busy.exchange(true, std::memory_order_acquire); }
void Pollers::let_go(Poller& poller) { poller.busy.store(false, std::memory_order_release); }

Poller* Pollers::add(bool (*call)(void*), void* argument, int descriptor, std::uint32_t events, bool only_when_ready) {
    std::lock_guard guard(lock_);
    Poller* place = nullptr;
    each([&](Poller& poller) {
        if (place == nullptr && !poller.live.load() && take(poller)) place = &poller;
    });
    if (place == nullptr) {
        auto* block = os::make<Block>();
        if (block == nullptr) return nullptr;
        for (Poller& poller : block->pollers) poller.tag = numbers_++;
        place = &block->pollers[0];
        place->busy.store(true);
        block->next = first_.load();
        first_.store(block);
    }
    check(*place);
    WEFT_ASSERT(place->call == nullptr);
    place->call = call;
    place->argument = argument;
    place->descriptor = descriptor;
    place->events = events;
    place->only_when_ready = only_when_ready;
    place->disarmed.store(false);
    place->doomed = false;
    if (descriptor < 0) blind_.fetch_add(1);
    live_.fetch_add(1);
    place->live.store(true);
    let_go(*place);
    return place;
}

void Pollers::clear(Poller& poller) {
    check(poller);
    WEFT_ASSERT(poller.call != nullptr);
    poller.call = nullptr;
    poller.live.store(false);
    if (poller.descriptor < 0) blind_.fetch_sub(1);
    live_.fetch_sub(1);
}

void Pollers::remove(Poller& poller, void* self) {
    if (self != nullptr && poller.runner.load() == self) {
        poller.doomed = true;
        return;
    }
    os::Backoff backoff;
    while (!take(poller)) backoff.wait();
    clear(poller);
    let_go(poller);
}

bool Pollers::run_one(Poller& poller, void* self) {
    // relaxed: a hint; both are checked again under busy.
    if (!poller.live.load(std::memory_order_relaxed) || poller.busy.load(std::memory_order_relaxed) || !take(poller))
        return false;
    bool done = false;
    const bool unready = poller.only_when_ready && !poller.disarmed.load();
    if (poller.call != nullptr && !unready) {
        poller.runner.store(self);
        done = poller.call(poller.argument);
        poller.runner.store(nullptr);
        if (poller.doomed) clear(poller);
    }
    let_go(poller);
    return done;
}

std::size_t Pollers::run(void* self) {
    std::size_t done = 0;
    each([&](Poller& poller) { done += run_one(poller, self) ? 1 : 0; });
    return done;
}

Poller* Pollers::at(std::uint32_t tag) {
    Poller* found = nullptr;
    each([&](Poller& poller) {
        if (poller.tag == tag) found = &poller;
    });
    return found;
}

}   // namespace weft
