// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of a domain, and the call that a leaving unit makes to the domain that has its hart.
// domain.hpp has the operations on domains.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hart/base.hpp"
#include "os/lock.hpp"
#include "process/stream.hpp"
#include "weft/domain.h"

namespace weft {

struct Domain {
    hart::RootOf<Domain> root{*this};   // used by a child of the base
    Process& of;
    Domain* parent;   // null: the base
    weft_domain_ops ops;
    void* self;
    Pool* pool = nullptr;     // of the domain's contexts: a push calls `unblock`
    Sched* sched = nullptr;   // they run in its name; it picks nothing
    Jobs* jobs = nullptr;     // where the forks of its contexts are published; null: nowhere

    // For a domain with a parent: the number of harts in it and below it, and the bit `closing`.
    static constexpr std::uint32_t closing = 1u << 31;
    atomic<std::uint32_t> harts{0};
    atomic<std::uint32_t> to_reclaim{0};
    atomic<std::uint32_t> reclaim_changes{0};   // as in Root, and so is `is_idle`
    atomic<bool> is_idle{false};
    atomic<std::uint64_t> kicks{0};   // how often the domain may have got something to do

    // Declared by a domain without a registrant: others may be created below it. Never taken back.
    atomic<bool> lasts{false};
    Domain* next_created = nullptr;        // in Process::created, under the runtime's lock
    Unit* registrant = nullptr;            // null: the domain was created without one
    Pool* former = nullptr;                // the pool that the registrant belongs to otherwise
    bool entered = false;                  // the registrant has become a guest for the domain, and leaves afterwards
    Stream* registrant_stream = nullptr;   // the only stream that may run the registrant; null: any
    Domain* next_returned = nullptr;       // in Serving::returned: the registrant is to be run there

    os::Lock lock;   // guards what follows
    Domain* children = nullptr;
    Domain* sibling = nullptr;   // under the parent's lock, as is `asked`
    std::ptrdiff_t asked = 0;    // of a parent that lends by itself

    Domain(Process& process, Domain* above, const weft_domain_ops& table, void* given)
        : of(process), parent(above), ops(table), self(given) {}
    // On entry, under the lock.
    void check() const { WEFT_ASSERT(children == nullptr || children->parent == this); }
    // While no thread runs: `inside` streams have the harts of this domain, or of domains below it.
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

// The running unit is about to wait. It may be a context of a domain that wants to be notified of
// waits. Only waits whose end is reported as well are reported: neither the end of the registrant's
// stay nor a pause, which are the domain's own.
void tell_domain_of_wait(Unit& unit);

}   // namespace weft
