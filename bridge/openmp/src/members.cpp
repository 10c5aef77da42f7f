#include "members.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/domain.h>
#include <weft/hart.h>
#include <weft/unit.h>

#include "bind.hpp"
#include "fatal.hpp"
#include "icv.hpp"
#include "ready.hpp"
#include "unit_task.hpp"
#include "wait.hpp"

namespace weft_openmp {

namespace {

// Whoever carries a hart, by a small number that several may have. Callbacks run by the carrier's thread pointer.
unsigned this_hart() {
    static std::atomic<unsigned> next{0};
    thread_local constinit unsigned number [[gnu::tls_model("initial-exec")]] = Ready::most_harts;
    if (number == Ready::most_harts) number = next.fetch_add(1, std::memory_order_relaxed) % Ready::most_harts;   // relaxed: a number
    return number;
}

struct Order {
    void (*body)(void* argument);
    void* argument;
    std::size_t stack_bytes;
    Order* next = nullptr;
    weft_status status = WEFT_OK;
    std::atomic<bool> done{false};
};

// A guest that waits lends its OS thread, which may carry a hart of the members when the guest can go on. A hart that is asked for is the guest's then: if another one than its thread's is
// given, that lies idle until the member on the thread has switched, and the thread's own goes to another OS thread after that. So the others leave it to the thread to give its one.
class Homes {
public:
    void goes(unsigned home) {
        coming_[home].fetch_add(1, std::memory_order_relaxed);   // relaxed, as all here: hints about which hart is to be given, and every hart is when it finds no member
        all_coming_.fetch_add(1, std::memory_order_relaxed);
    }
    void has_come(unsigned home) {
        carries_[home].store(false, std::memory_order_relaxed);
        coming_[home].fetch_sub(1, std::memory_order_relaxed);
        all_coming_.fetch_sub(1, std::memory_order_relaxed);
    }
    void carries(unsigned hart) {
        if (!carries_[hart].load(std::memory_order_relaxed)) carries_[hart].store(true, std::memory_order_relaxed);
    }
    void carries_no_more(unsigned hart) { carries_[hart].store(false, std::memory_order_relaxed); }
    // Whether all of the `wanted` harts are for guests whose OS threads are in the domain, this one not being among them.
    // Not more often in succession than members that take turns need: where they yield for ever, each of them waiting for the guest, its thread may have gone elsewhere.
    bool others_give(unsigned hart, std::uint32_t wanted) {
        const bool left = leave_it(hart, wanted) && left_[hart].load(std::memory_order_relaxed) < most_left;
        left_[hart].store(left ? left_[hart].load(std::memory_order_relaxed) + 1 : 0, std::memory_order_relaxed);
        return left;
    }

private:
    static constexpr unsigned most_left = 64;

    bool leave_it(unsigned hart, std::uint32_t wanted) const {
        const unsigned all = all_coming_.load(std::memory_order_relaxed);
        if (all < wanted || coming_[hart].load(std::memory_order_relaxed) != 0) return false;
        unsigned found = 0;
        for (unsigned home = 0; home < Ready::most_harts && found < all; ++home) {
            const unsigned here = coming_[home].load(std::memory_order_relaxed);
            if (here != 0 && !carries_[home].load(std::memory_order_relaxed)) return false;
            found += here;
        }
        return true;
    }

    std::atomic<unsigned> all_coming_{0};
    std::atomic<unsigned> coming_[Ready::most_harts] = {};
    std::atomic<bool> carries_[Ready::most_harts] = {};
    std::atomic<unsigned> left_[Ready::most_harts] = {};   // so often in succession, by the hart
};

// Exists from the first team on. The domain's keeper is a unit of the runtime's that has registered it; whoever wants a member asks the
// keeper, since a unit that is spawned by a context without a pool being named is a context as well.
struct Members {
    Ready ready;
    Homes homes;
    weft_domain* domain = nullptr;
    weft_pool* pool = nullptr;
    std::atomic<const std::uint32_t*> wanted{nullptr};
    weft_status status = WEFT_OK;
    std::atomic<bool> begun{false};
    Sleepers beginners;   // wait for that
    std::atomic<Order*> newest{nullptr};
    Sleepers keeper;
    Sleepers waiting;     // for their orders
};

// Made anew in the child of a fork: nothing of the old is touched there.
std::atomic<Members*> members{nullptr};

// The hart goes back, and the OS thread that carries it may be anywhere.
void go(Members& all, unsigned hart) {
    all.homes.carries_no_more(hart);
    if (binding) [[unlikely]] leave_place();
    weft_domain_yield();
}

void enter(void* self) {
    auto& all = *static_cast<Members*>(self);
    const unsigned hart = this_hart();
    const std::uint32_t* const word = all.wanted.load(std::memory_order_acquire);   // acquire: pairs with keep
    const std::uint32_t wanted = word == nullptr ? 0 : __atomic_load_n(word, __ATOMIC_RELAXED);   // relaxed: a hint, by the call's contract
    if (wanted != 0 && !all.homes.others_give(hart, wanted)) return go(all, hart);
    weft_unit* const context = all.ready.pop(hart);
    if (context == nullptr) return go(all, hart);
    all.homes.carries(hart);
    weft_context_resume(context);
}

void unblock(void* self, weft_unit* context) { static_cast<Members*>(self)->ready.push(context); }

struct Member {
    void (*body)(void* argument);
    void* argument;
    bool begun = false;
};

void be(void* raw) {
    auto& member = *static_cast<Member*>(raw);
    member.begun = true;
    member.body(member.argument);
}

// At its end, which comes at once where there was no OS thread to be had for it: then the region that it is of would wait for ever.
void has_ended(void* raw) {
    const std::unique_ptr<Member> member(static_cast<Member*>(raw));
    static std::atomic<bool> told{false};   // several may, and a process exits once
    if (!member->begun && !told.exchange(true)) fatal_no_thread(WEFT_SYSTEM);
}

void keep(void* raw) {
    auto& all = *static_cast<Members*>(raw);
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = enter;
    ops.unblock = unblock;
    all.status = weft_domain_register(&ops, &all, &all.domain);
    if (all.status == WEFT_OK) all.status = weft_unit_pool(weft_unit_self(), &all.pool);
    if (all.status == WEFT_OK) {
        all.wanted.store(weft_domain_wanted(all.domain), std::memory_order_release);   // release: pairs with the loads of others
    }
    all.begun.store(true);
    all.beginners.wake();
    if (all.status != WEFT_OK) return;
    for (;;) {
        all.keeper.sleep([&all] { return all.newest.load() != nullptr; });
        Order* order = all.newest.exchange(nullptr);
        while (order != nullptr) {
            Order* const next = order->next;   // it goes with whoever waits for it
            weft_unit_options options{};
            options.size = sizeof options;
            options.kind = WEFT_KIND_HOSTED;
            options.stack_bytes = order->stack_bytes;
            options.name = "openmp";
            auto* const member = new Member{order->body, order->argument};
            options.data = member;
            options.release = has_ended;
            order->status = weft_ult_spawn(nullptr, be, member, &options, nullptr);
            // One for each member, the keeper's being the one that the domain was registered with, however few harts there are: where those that it has stand in the kernel or spin,
            // rescue lends more to a domain that could use more. One that finds nothing to do is left alone until a context of it can go on.
            if (order->status == WEFT_OK) weft_domain_request(all.domain, 1);
            order->done.store(true);
            order = next;
        }
        all.waiting.wake();
    }
}

// The members of this process, begun if there are none.
Members& begin_members() {
    Members* all = members.load(std::memory_order_acquire);   // acquire: pairs with the exchange below
    if (all == nullptr) {
        auto* const made = new Members;
        if (members.compare_exchange_strong(all, made)) {
            all = made;
            // Below the base, and not below the domain that the caller may be in: a team's members serve others after it.
            weft_pool* pool = nullptr;
            weft_status status = weft_stream_pool(weft_stream_at(0), &pool);
            if (status == WEFT_OK) status = weft_ult_spawn(pool, keep, all, nullptr, nullptr);
            if (status != WEFT_OK) fatal_no_thread(status);
        } else {
            delete made;
        }
    }
    all->beginners.wait([all] { return all->begun.load(); });
    if (all->status != WEFT_OK) fatal_no_thread(all->status);
    return *all;
}

// Before any thread of this library's can fork.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { members.store(nullptr); });

}  // namespace

bool crowded() {
    const Members* const all = members.load(std::memory_order_acquire);   // acquire: pairs with begin_members
    if (all == nullptr) return false;
    const std::uint32_t* const wanted = all->wanted.load(std::memory_order_acquire);   // acquire: as in enter
    return all->ready.any() || (wanted != nullptr && __atomic_load_n(wanted, __ATOMIC_RELAXED) != 0);
}

unsigned home_of_this_unit() { return members.load(std::memory_order_relaxed) == nullptr || weft_unit_self_kind() == WEFT_KIND_HOSTED || (tasks_are_units && thread_of_task() != nullptr) ? no_home : this_hart(); }   // relaxed: looked at only

void goes_home(unsigned home) {
    if (Members* const all = members.load(std::memory_order_acquire); all != nullptr) all->homes.goes(home);   // acquire: pairs with begin_members
}

void is_home(unsigned home) {
    if (Members* const all = members.load(std::memory_order_acquire); all != nullptr) all->homes.has_come(home);   // acquire: as above
}

void give_way() {
    if (!crowded() || weft_unit_yield() != WEFT_OK) syscall(SYS_sched_yield);   // as in SpinLock::wait
    come_back();
}

weft_pool* pool_of_members() { return begin_members().pool; }

void add_member(void (*body)(void* argument), void* argument, std::size_t stack_bytes) {
    Members& all = begin_members();
    Order order{body, argument, stack_bytes};
    order.next = all.newest.load(std::memory_order_relaxed);   // relaxed: the exchange publishes
    while (!all.newest.compare_exchange_weak(order.next, &order)) {}
    all.keeper.wake();
    all.waiting.wait([&order] { return order.done.load(); });
    if (order.status != WEFT_OK) fatal_no_thread(order.status);
}

}  // namespace weft_openmp
