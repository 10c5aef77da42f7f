#include "share.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "fatal.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

Share* take_free(Team& team) {
    team.free_lock.lock();
    Share* const share = team.free_shares;
    if (share != nullptr) team.free_shares = share->next.load(std::memory_order_relaxed);   // relaxed: under the lock
    team.free_lock.unlock();
    if (share == nullptr) return new Share;
    share->next.store(nullptr, std::memory_order_relaxed);   // relaxed: whoever links it publishes
    return share;
}

void give_back(Team& team, Share* share) {
    if (share->doacross != nullptr) free_doacross(std::exchange(share->doacross, nullptr));
    if (share->memory != nullptr) std::free(std::exchange(share->memory, nullptr));
    // relaxed: the lock publishes
    share->left.store(0, std::memory_order_relaxed);
    share->state.store(Share::fresh, std::memory_order_relaxed);
    share->cancelled.store(false, std::memory_order_relaxed);
    share->copied.store(nullptr, std::memory_order_relaxed);
    share->reductions = nullptr;
    share->ordered = false;
    team.free_lock.lock();
    share->next.store(team.free_shares, std::memory_order_relaxed);
    team.free_shares = share;
    team.free_lock.unlock();
}

// All threads leave shares in their order, so the last to leave one finds it the oldest.
void leave(Team& team, Share* share, Share* next) {
    if (share->left.fetch_add(1, std::memory_order_acq_rel) + 1 != team.size) return;   // acq_rel: what all have done in it comes before its reuse
    team.oldest.store(next, std::memory_order_relaxed);   // relaxed: read at the region's end, behind its barrier
    give_back(team, share);
}

Share* advance(Thread& me) {
    Team& team = *me.team;
    Share* const before = me.slot->share;
    Share* next = before->next.load(std::memory_order_acquire);   // acquire: pairs with the exchange below
    if (next == nullptr) {
        Share* const mine = take_free(team);
        if (before->next.compare_exchange_strong(next, mine)) next = mine;
        else give_back(team, mine);
    }
    me.slot->share = next;
    me.slot->loop = {};
    leave(team, before, next);
    return next;
}

}  // namespace

bool enter_share(Thread& me) {
    Share& share = *advance(me);
    std::uint32_t seen = share.state.load(std::memory_order_acquire);   // acquire: pairs with share_made
    if (seen == Share::made) return false;
    if (seen == Share::fresh && share.state.compare_exchange_strong(seen, Share::being_made)) return true;
    share.sleepers.wait([&share] { return share.state.load(std::memory_order_acquire) == Share::made; });   // acquire: as above
    return false;
}

bool enter_share_first(Thread& me) {
    Share& share = *advance(me);
    std::uint32_t seen = share.state.load(std::memory_order_relaxed);   // relaxed: who is not first needs nothing of the first
    return seen == Share::fresh && share.state.compare_exchange_strong(seen, Share::made);
}

void share_made(Share& share) {
    share.state.store(Share::made);
    share.sleepers.wake();
}

void* memory_of(Share& share, std::size_t bytes) {
    constexpr std::size_t line = 64;
    share.memory_bytes = (bytes + line - 1) / line * line;
    share.memory = std::aligned_alloc(line, share.memory_bytes);
    if (share.memory == nullptr) fatal_error("Out of memory allocating %zu bytes", bytes);
    std::memset(share.memory, 0, share.memory_bytes);
    return share.memory;
}

void skip_to_first_share(Slot& slot, Team& team) {
    Share* first = team.origin->next.load(std::memory_order_relaxed);   // relaxed: the region has no threads yet
    if (first == nullptr) {
        first = take_free(team);
        team.origin->next.store(first, std::memory_order_relaxed);
    }
    slot.share = first;
    slot.loop = {};
    leave(team, team.origin, first);
}

void start_shares(Team& team) {
    if (team.origin == nullptr) team.origin = take_free(team);
    team.oldest.store(team.origin, std::memory_order_relaxed);   // relaxed: the region's begin publishes
}

void gather_shares(Team& team) {
    Share* share = team.oldest.load(std::memory_order_relaxed);   // relaxed: behind the region's last barrier
    if (share == team.origin && share->next.load(std::memory_order_relaxed) == nullptr) return;   // no construct at all
    while (share != nullptr) {
        Share* const next = share->next.load(std::memory_order_relaxed);
        give_back(team, share);
        share = next;
    }
    team.origin = nullptr;
}

void free_all_shares(Team& team) {
    // Outside of regions, where nobody gathers, the last one is still being used; within, all have been given back but a first one.
    Share* share = team.oldest.load(std::memory_order_relaxed);   // relaxed: the last one of its users
    if (team.origin != nullptr) {
        while (share != nullptr) {
            Share* const next = share->next.load(std::memory_order_relaxed);   // relaxed: as above
            give_back(team, share);
            share = next;
        }
    }
    while (team.free_shares != nullptr) {
        Share* const next = team.free_shares->next.load(std::memory_order_relaxed);   // relaxed: as above
        delete team.free_shares;
        team.free_shares = next;
    }
}

}  // namespace weft_openmp
