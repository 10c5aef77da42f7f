// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "depend.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "team.hpp"

namespace weft_openmp {

// A task in the graph of dependences. Its dependants wait for its end before they may run.
struct DependNode {
    std::atomic<std::uint32_t> owners{1};
    std::atomic<std::uint32_t> awaited{1};   // nodes to be completed first, and 1 while they are counted
    SpinLock lock;
    bool completed = false;   // guarded by the lock, as is `dependants`
    std::vector<DependNode*> dependants;
    Task* task = nullptr;   // null: a waiter in the team
    Team* team = nullptr;

    void release() {
        // acq_rel: the last owner deletes what all have written
        if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
};

namespace {

// How a task uses an address. Tasks that follow each other with the same use run concurrently,
// where that use allows it.
enum class Use : std::uint8_t { in, out, inoutset };

class DependNodes {
public:
    DependNodes() = default;
    DependNodes(const DependNodes&) = delete;
    DependNodes& operator=(const DependNodes&) = delete;
    ~DependNodes() { clear(); }

    void add(DependNode& node) {
        if (all_.size() == all_.capacity()) drop_completed();   // before it grows
        node.owners.fetch_add(1, std::memory_order_relaxed);    // relaxed: the caller owns it
        all_.push_back(&node);
    }
    void take(DependNodes& other) {
        clear();
        all_.swap(other.all_);
    }
    const std::vector<DependNode*>& all() const { return all_; }

private:
    void clear() {
        for (DependNode* node : all_) node->release();
        all_.clear();
    }
    void drop_completed() {
        std::erase_if(all_, [](DependNode* node) {
            node->lock.lock();
            const bool completed = node->completed;
            node->lock.unlock();
            if (completed) node->release();
            return completed;
        });
    }

    std::vector<DependNode*> all_;
};

struct Address {
    Use use = Use::out;
    DependNodes last, before;   // the tasks with the latest use; and those that came before them
};

// Visits each item of the depend clause.
template <class Visit>
void each_use(void** depend, Visit visit) {
    const auto number = [depend](std::size_t i) { return reinterpret_cast<std::uintptr_t>(depend[i]); };
    if (number(0) != 0) {
        const std::size_t all = number(0), outs = number(1);
        for (std::size_t i = 0; i < all; ++i) visit(depend[2 + i], i < outs ? Use::out : Use::in);
        return;
    }
    // mutexinoutset: one after the other, in any order. The order in which the tasks were made is
    // one.
    const std::size_t all = number(1), outs = number(2) + number(3), plain = outs + number(4);
    for (std::size_t i = 0; i < all; ++i) {
        void* const what = depend[5 + i];
        if (i < plain) {
            visit(what, i < outs ? Use::out : Use::in);
            continue;
        }
        constexpr std::uintptr_t type_in = 1, type_inoutset = 5;
        auto* const object = static_cast<void**>(what);   // an omp_depend_t: an address, and its use
        const auto type = reinterpret_cast<std::uintptr_t>(object[1]);
        visit(object[0], type == type_in ? Use::in : type == type_inoutset ? Use::inoutset : Use::out);
    }
}

void await(DependNode& self, const DependNodes& others) {
    for (DependNode* other : others.all()) {
        if (other == &self) continue;
        other->lock.lock();
        if (!other->completed) {
            self.owners.fetch_add(1, std::memory_order_relaxed);    // relaxed: the caller owns it
            self.awaited.fetch_add(1, std::memory_order_relaxed);   // relaxed: 1 stays until all are counted
            other->dependants.push_back(&self);
        }
        other->lock.unlock();
    }
}

// acq_rel: what the awaited tasks have done comes before this one runs
bool all_counted(DependNode& self) { return self.awaited.fetch_sub(1, std::memory_order_acq_rel) == 1; }

}   // namespace

struct Dependences {
    std::unordered_map<void*, Address> addresses;
};

bool depend(Thread& me, Task& task, void** depend) {
    auto*& dependences = me.task->dependences;
    if (dependences == nullptr) dependences = new Dependences;
    auto* const self = new DependNode;   // the task's, until it has ended
    self->task = &task;
    self->team = me.team;
    task.node = self;
    each_use(depend, [&](void* where, Use use) {
        Address& address = dependences->addresses[where];
        if (use == Use::out || use != address.use) {
            address.before.take(address.last);
            address.use = use;
        }
        await(*self, address.before);
        address.last.add(*self);
    });
    return all_counted(*self);
}

void wait_for_depended(Thread& me, void** depend) {
    if (me.task->dependences == nullptr) return;
    auto* const self = new DependNode;
    self->team = me.team;
    each_use(depend, [&](void* where, Use use) {
        const auto found = me.task->dependences->addresses.find(where);
        if (found == me.task->dependences->addresses.end()) return;
        if (use == Use::out || use != found->second.use) await(*self, found->second.last);
        else await(*self, found->second.before);
    });
    all_counted(*self);
    // acquire: pairs with the completion of the last one
    wait_in_task(me, [self] { return self->awaited.load(std::memory_order_acquire) == 0; });
    self->release();
}

void complete_node(Task& task) {
    DependNode* const self = std::exchange(task.node, nullptr);
    self->lock.lock();
    self->completed = true;
    std::vector<DependNode*> dependants;
    dependants.swap(self->dependants);
    self->lock.unlock();
    for (DependNode* next : dependants) {
        Task* const released = next->task;
        Team* const team = next->team;
        if (next->awaited.fetch_sub(1) == 1) {
            if (released != nullptr) enqueue(*released);
            else team->waiters.wake();
        }
        next->release();
    }
    self->release();
}

void forget_dependences(Task& task) { delete std::exchange(task.dependences, nullptr); }

}   // namespace weft_openmp
