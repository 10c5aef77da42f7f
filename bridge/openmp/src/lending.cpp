#include "lending.hpp"

#include <pthread.h>

#include <weft/guest.h>
#include <weft/unit.h>

#include "bind.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

// How many trees of teams there are: most often they are one thread's, which has this place for itself then.
class Trees {
public:
    // relaxed, all: what a root has written before it calls members is seen by whoever pops one of those
    // Returns whether it is the owner's, which end() is to be told.
    bool begin(const Thread& root) {
        const bool owners = owner_.load(std::memory_order_relaxed) == &root || take(root);
        if (owners) owners_.store(owners_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        else others_.fetch_add(1, std::memory_order_relaxed);
        return owners;
    }
    void end(bool owners) {
        if (owners) owners_.store(owners_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
        else others_.fetch_sub(1, std::memory_order_relaxed);
    }
    void forget(const Thread& root) {
        const Thread* expected = &root;
        owner_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed);
    }
    void clear() {
        owner_.store(nullptr, std::memory_order_relaxed);
        owners_.store(0, std::memory_order_relaxed);
        others_.store(0, std::memory_order_relaxed);
    }
    bool one() const { return others_.load(std::memory_order_relaxed) + owners_.load(std::memory_order_relaxed) == 1; }

private:
    bool take(const Thread& root) {
        const Thread* nobody = nullptr;
        return owner_.load(std::memory_order_relaxed) == nullptr && owner_.compare_exchange_strong(nobody, &root, std::memory_order_relaxed);
    }

    std::atomic<const Thread*> owner_{nullptr};   // stays while its root is in a tree
    std::atomic<unsigned> owners_{0};             // of that root, which alone writes it: one, or more with those of target regions within
    std::atomic<unsigned> others_{0};             // of other roots
};

alignas(64) constinit Trees trees;
alignas(64) std::atomic<weft_unit*> lender{nullptr};   // one at a time: its tree is the only one
std::atomic<bool> carries{false};                      // its OS thread, a member

// In the child nobody waits, and there is no tree.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    trees.clear();
    lender.store(nullptr);
    carries.store(false);
    thread_lent_at.store(nowhere);
});

}  // namespace

std::atomic<std::uint64_t> thread_lent_at{nowhere};

void begin_tree(const Thread& root) { root.team->owners_tree = trees.begin(root); }
void end_tree(const Thread& root) { trees.end(root.team->owners_tree); }
void forget_root(const Thread& root) { trees.forget(root); }

bool lend_thread() {
    const Thread& me = this_thread();
    if (me.slot->number != 0 || !trees.one() || !me.team->is_root()) return false;   // trees: looked at again in enter
    weft_unit* const guest = weft_carrier_guest();
    if (guest == nullptr || guest != weft_unit_self()) return false;
    lender.store(guest, std::memory_order_relaxed);   // relaxed, both: the list, whose lock is taken next, publishes; and who finds the thread lent runs on it
    thread_lent_at.store(me.team->generation.load(std::memory_order_relaxed), std::memory_order_relaxed);   // relaxed: where all have come already, it is not lent
    return true;
}

void keep_thread() { lender.store(nullptr, std::memory_order_relaxed); }              // relaxed: see lends_thread
void has_thread() {
    // relaxed, both: no member is on it
    thread_lent_at.store(nowhere, std::memory_order_relaxed);
    carries.store(false, std::memory_order_relaxed);
}

// Whoever has let all go on may be about to say so to the guest.
void leave_lent_thread(std::uint64_t barrier) {
    if (weft_unit_self_kind() != WEFT_KIND_HOSTED) return;
    while (thread_lent_at.load(std::memory_order_relaxed) == barrier && weft_carrier_guest() != nullptr) weft_unit_yield();   // relaxed: as in lend_thread
    come_back();
}

bool lends_thread(weft_unit* guest) { return lender.load(std::memory_order_relaxed) == guest && trees.one(); }   // relaxed: what is written before a member is pushed is seen by whoever has popped it
void carries_member(bool does) { carries.store(does, std::memory_order_relaxed); }                              // relaxed: a hint
bool thread_is_awaited() {
    return carries.load(std::memory_order_relaxed) && lender.load(std::memory_order_relaxed) == nullptr && thread_lent_at.load(std::memory_order_relaxed) != nowhere;   // relaxed: hints
}

}  // namespace weft_openmp
