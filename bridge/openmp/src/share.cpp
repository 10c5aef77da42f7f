// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "share.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fatal.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

constexpr std::uint64_t least_nodes = 16;   // nodes that a team has before it searches for passed ones

// As if no thread had used it.
void clean(Share& share) {
    if (share.extras) {
        if (share.doacross != nullptr) free_doacross(std::exchange(share.doacross, nullptr));
        if (share.memory != nullptr) std::free(std::exchange(share.memory, nullptr));
        // relaxed, and all that follow: the link publishes
        share.copied.store(nullptr, std::memory_order_relaxed);
        share.reductions = nullptr;
        share.extras = false;
    }
    share.state.store(Share::fresh, std::memory_order_relaxed);
    share.ordered = false;
}

}   // namespace

// Takes back the shares that all threads have passed; makes a new one where there are none.
Share* more_spares(Team& team, Slot& slot) {
    team.free_lock.lock();
    if (team.nodes >= least_nodes) {
        std::uint64_t passed = ~std::uint64_t{0};
        const unsigned size = team.size.load(std::memory_order_relaxed);   // relaxed: the region's size
        // acquire: pairs with advance_to
        for (unsigned i = 0; i < size; ++i)
            passed = std::min(passed, team.team_pool->slots[i]->at.load(std::memory_order_acquire));
        while (team.oldest != nullptr && team.oldest->number < passed) {
            Share* const share = team.oldest;
            // relaxed: read before by the threads that have passed it
            team.oldest = share->next.load(std::memory_order_relaxed);
            clean(*share);
            share->next.store(slot.spares, std::memory_order_relaxed);   // relaxed: the link publishes
            slot.spares = share;
        }
    }
    if (slot.spares == nullptr) {
        slot.spares = new Share;
        ++team.nodes;
    }
    team.free_lock.unlock();
    return slot.spares;
}

bool enter_share(Thread& me) {
    Slot& slot = *me.slot;
    Share* const before = slot.share;
    if (me.team->size.load(std::memory_order_relaxed) == 1) {   // relaxed: the region's size
        clean(*before);
        before->extras = true;
        slot.loop = {};
        return true;
    }
    Share* next = before->next.load(std::memory_order_acquire);   // acquire: pairs with the exchange in link
    if (next == nullptr) next = link(slot, *before, take_spare(*me.team, slot));
    advance_to(slot, *next);
    std::uint32_t seen = next->state.load(std::memory_order_acquire);   // acquire: pairs with share_made
    if (seen == Share::made) return false;
    if (seen == Share::fresh && next->state.compare_exchange_strong(seen, Share::being_made)) {
        next->extras = true;
        return true;
    }
    // acquire: pairs with share_made
    next->sleepers.wait([next] { return next->state.load(std::memory_order_acquire) == Share::made; });
    return false;
}

void share_made(Share& share) {
    share.state.store(Share::made);
    share.sleepers.wake();
}

void* memory_of(Team& team, Share& share, std::size_t bytes) {
    constexpr std::size_t line = 64;
    team.shares_hold_memory.store(true, std::memory_order_relaxed);   // relaxed: read behind the region's last barrier
    share.memory_bytes = (bytes + line - 1) / line * line;
    share.memory = std::aligned_alloc(line, share.memory_bytes);
    if (share.memory == nullptr) fatal_error("Out of memory allocating %zu bytes", bytes);
    std::memset(share.memory, 0, share.memory_bytes);
    return share.memory;
}

Share& begin_with_share(Team& team) {
    // relaxed, and all that follow: the region has no threads yet
    const unsigned size = team.size.load(std::memory_order_relaxed);
    if (size == 1) return *team.origin;
    Share& share = *take_spare(team, *team.team_pool->slots[0]);
    share.number = team.origin->number + 1;
    team.origin->next.store(&share, std::memory_order_relaxed);
    for (unsigned i = 0; i < size; ++i) advance_to(*team.team_pool->slots[i], share);
    return share;
}

void start_shares(Team& team) {
    if (team.origin != nullptr) return;
    team.origin = team.oldest = new Share;
    ++team.nodes;
}

void end_shares(Team& team) {
    // Where the region was cancelled, not all threads have come equally far. The next region begins
    // at the last share.
    Share* last = team.team_pool->slots[0]->share;
    // relaxed: behind the region's last barrier
    for (Share* next; (next = last->next.load(std::memory_order_relaxed)) != nullptr; last = next) {}
    if (team.shares_hold_memory.load(std::memory_order_relaxed)) [[unlikely]] {   // relaxed: behind the last barrier
        // relaxed: behind the region's last barrier; they are taken back when a thread needs one
        for (Share* share = team.oldest; share != last; share = share->next.load(std::memory_order_relaxed))
            clean(*share);
        team.shares_hold_memory.store(false, std::memory_order_relaxed);   // relaxed: the next region's begin publishes
    }
    clean(*last);
    team.origin = last;
}

void free_all_shares(Team& team) {
    const auto free_list = [](Share* share) {
        while (share != nullptr) {
            clean(*share);
            // relaxed: the caller is the last of its users
            delete std::exchange(share, share->next.load(std::memory_order_relaxed));
        }
    };
    free_list(team.oldest);
    for (auto& slot : team.team_pool->slots) free_list(slot->spares);
}

}   // namespace weft_openmp
