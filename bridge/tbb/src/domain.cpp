// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "domain.hpp"

#include <pthread.h>

#include <atomic>

#include <weft/domain.h>
#include <weft/guest.h>
#include <weft/unit.h>

#include "../../common/spin_lock.hpp"
#include "server.hpp"

namespace weft_tbb {

namespace {

using weft_bridge::SpinLock;

// The workers that are ready, and the domains below, which have the harts that workers have left to
// their teams. While a worker is ready these are asked to give harts back: a member of a team that
// only polls for its next region then makes room.
class Ready {
public:
    void add_child(weft_domain* child) {
        lock_.lock();
        if (children_ < most_children) child_[children_++] = child;
        lock_.unlock();
    }
    // First in, first out: a worker that yields comes after all others. The list needs no memory.
    void push(weft_unit* context) {
        *weft_unit_link(context) = nullptr;
        lock_.lock();
        // relaxed, as below: changed under the lock
        if (first_.load(std::memory_order_relaxed) == nullptr) {
            first_.store(context, std::memory_order_relaxed);
            ask_children_for(1);
        } else {
            *weft_unit_link(last_) = context;
        }
        last_ = context;
        lock_.unlock();
    }
    weft_unit* pop() {
        if (!any()) return nullptr;
        lock_.lock();
        weft_unit* const context = first_.load(std::memory_order_relaxed);
        if (context != nullptr) {
            auto* const next = static_cast<weft_unit*>(*weft_unit_link(context));
            first_.store(next, std::memory_order_relaxed);
            if (next == nullptr) ask_children_for(0);
        }
        lock_.unlock();
        return context;
    }
    // relaxed: a hint; a hart that comes too early is called again by the kick that follows each
    // push
    bool any() const { return first_.load(std::memory_order_relaxed) != nullptr; }

private:
    // One for each library that workers call.
    static constexpr unsigned most_children = 8;

    void ask_children_for(std::uint32_t harts) {
        for (unsigned i = 0; i < children_; ++i) weft_domain_ask_back(child_[i], harts);
    }

    SpinLock lock_;   // guards what follows
    std::atomic<weft_unit*> first_{nullptr};
    weft_unit* last_ = nullptr;
    weft_domain* child_[most_children] = {};
    unsigned children_ = 0;
};

struct Workers {
    Ready ready;
    weft_domain* domain = nullptr;
    weft_pool* pool = nullptr;
    const std::uint32_t* wanted = nullptr;   // Weft's word
};

// Made anew in the child of a fork, and in the next runtime; the old one stays, since threads
// outside may be about to read it.
std::atomic<Workers*> workers{nullptr};
SpinLock beginning;

// relaxed: a hint, by the calls' contract
std::uint32_t read(const std::uint32_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

// A worker may compute, or block, until the guest has gone on whose OS thread has brought the hart,
// and that thread alone can continue the guest. Where there is no other OS thread the worker runs
// here: otherwise none would.
bool pass(Workers& all) { return weft_guest_here() != nullptr && all.ready.any() && weft_domain_pass() == WEFT_OK; }

void enter(void* self) {
    auto& all = *static_cast<Workers*>(self);
    if (read(all.wanted) != 0 || pass(all)) return;
    if (weft_unit* const context = all.ready.pop()) weft_context_resume(context);
}

void unblock(void* self, weft_unit* context) { static_cast<Workers*>(self)->ready.push(context); }

// The runtime ends, and has ended all contexts.
void has_ended(void*) {
    workers.store(nullptr);
    forget_workers();
}

// The caller is inside.
Workers* create() {
    auto* const made = new Workers;
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = enter;
    ops.unblock = unblock;
    ops.child_registered = [](void* self, weft_domain* child) { static_cast<Workers*>(self)->ready.add_child(child); };
    ops.ended = has_ended;
    ops.idle = [](void*, const weft_unit* context) { return is_idle_worker(context); };
    if (weft_domain_create(&ops, made, &made->domain) != WEFT_OK) {
        delete made;
        return nullptr;
    }
    // Registered after libweft's own handler, and so called before that one holds back the streams.
    [[maybe_unused]] static const int before_forks = pthread_atfork(settle_for_fork, nullptr, nullptr);
    weft_domain_lasting_set(made->domain);
    weft_domain_pool_get(made->domain, &made->pool);
    made->wanted = weft_domain_wanted(made->domain);
    return made;
}

// Registered before any thread of this library can fork.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    workers.store(nullptr);
    beginning.unlock();   // the thread that may have held it is gone
    forget_workers_in_child();
});

}   // namespace

weft_pool* pool_of_workers() {
    if (const Workers* const there = workers.load()) return there->pool;
    // the first guest starts the runtime, if there is none
    if (weft_guest_enter() != WEFT_OK) return nullptr;
    beginning.lock();
    Workers* all = workers.load();
    if (all == nullptr) workers.store(all = create());
    beginning.unlock();
    weft_guest_leave();
    return all == nullptr ? nullptr : all->pool;
}

void request_harts(std::ptrdiff_t delta) {
    const Workers* const all = workers.load();
    if (all != nullptr && delta != 0) weft_domain_request(all->domain, delta);
}

}   // namespace weft_tbb
