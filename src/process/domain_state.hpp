// What a domain is, and what a unit that leaves asks of the one whose hart it has. domain.hpp has
// what is done with domains.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hart/base.hpp"
#include "os/lock.hpp"
#include "process/stream.hpp"
#include "weft/domain.h"

namespace weft {

struct Domain {
    hart::RootOf<Domain> root{*this};   // of a child of the base
    Process& of;
    Domain* parent;   // null: the base
    weft_domain_ops ops;
    void* self;
    Pool* pool = nullptr;     // its contexts': a push tells `unblock`
    Sched* sched = nullptr;   // in whose name they run; it picks nothing
    Jobs* jobs = nullptr;     // where others see what its contexts fork; null: nowhere

    // Of one with a parent: the harts in it and further down, and `closing`.
    static constexpr std::uint32_t closing = 1u << 31;
    atomic<std::uint32_t> harts{0};
    atomic<std::uint32_t> to_reclaim{0};
    atomic<std::uint32_t> reclaim_changes{0};   // as Root's, as is this
    atomic<bool> is_idle{false};
    atomic<std::uint64_t> kicks{0};   // how often it may have got something to do

    Unit* registrant = nullptr;            // null: it was created without one
    Pool* former = nullptr;                // where the registrant belongs otherwise
    bool entered = false;                  // the registrant has become a guest for it, and leaves afterwards
    Stream* registrant_stream = nullptr;   // which alone may run the registrant; null: any
    Domain* next_returned = nullptr;       // in Serving::returned: its registrant is to be run there

    os::Lock lock;   // guards what follows
    Domain* children = nullptr;
    // under the parent's lock, as is this; of those that were created so, under the runtime's
    Domain* sibling = nullptr;
    std::ptrdiff_t asked = 0;   // of a parent that lends by itself

    Domain(Process& process, Domain* above, const weft_domain_ops& table, void* given)
        : of(process), parent(above), ops(table), self(given) {}
    // On entry, under the lock.
    void check() const { WEFT_ASSERT(children == nullptr || children->parent == this); }
    // While nobody runs: `inside` streams have its harts, or those of domains below.
    void check_whole(std::size_t inside) const {
        std::size_t below = 0;
        for (const Domain* child = children; child != nullptr; child = child->sibling) {
            WEFT_ASSERT(child->parent == this && (child->registrant != nullptr) == (child->former != nullptr));
            below += child->present();
        }
        const std::size_t has = parent == nullptr ? root.held - root.coming : present();
        WEFT_ASSERT(below <= has && inside <= has);
    }
    std::uint32_t present() const { return harts.load() & ~closing; }
    atomic<std::uint32_t>& to_reclaim_word() { return parent == nullptr ? root.to_reclaim : to_reclaim; }
    atomic<std::uint32_t>& reclaim_changes_word() { return parent == nullptr ? root.reclaim_changes : reclaim_changes; }
    atomic<bool>& idle_word() { return parent == nullptr ? root.is_idle : is_idle; }
};

// The running unit, which may be a context of a domain that wants to know, is about to wait.
void tell_domain_of_wait(Unit& unit);

}   // namespace weft
