// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "members.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <weft/domain.h>
#include <weft/embed/hosted.h>
#include <weft/guest.h>
#include <weft/hart.h>
#include <weft/stream.h>
#include <weft/unit.h>

#include "bind.hpp"
#include "fatal.hpp"
#include "icv.hpp"
#include "lending.hpp"
#include "ready.hpp"
#include "team.hpp"
#include "unit_task.hpp"
#include "unit_thread.hpp"
#include "wait.hpp"

namespace weft_openmp {

// Exists from the first team on of a thread of that place, as does the domain, which only members
// and tasks that are units are in.
struct Members {
    Ready ready;
    weft_domain* domain = nullptr;
    weft_domain* parent = nullptr;   // null: the base
    weft_pool* pool = nullptr;
    const std::uint32_t* wanted = nullptr;   // Weft's words, as is the next
    const std::uint32_t* lacked = nullptr;
    std::atomic<bool> has_tasks{false};   // tasks that are units exist: a hart is requested for them
    Members* next = nullptr;              // in the list of all
    Members* older = nullptr;             // those of runtimes that have ended
};

unsigned this_hart() {
    std::size_t rank = 0;
    weft_stream_rank_get(weft_stream_self(), &rank);
    return static_cast<unsigned>(rank % Ready::most_harts);
}

namespace {

// All that there are, the newest first: those of one domain, and mostly there is no other. Made
// anew in the child of a fork, which touches nothing of the old ones.
std::atomic<Members*> all_members{nullptr};
SpinLock beginning;
Members* lost = nullptr;   // the latest whose runtime has ended; written by weft_finalize alone
// Members that no thread calls any more, and that have not ended. Other teams need the OS threads
// that they hold.
std::atomic<unsigned> leaving{0};

// The hart goes back, and the OS thread that carries it may run anywhere.
void go() {
    if (binding) [[unlikely]]
        leave_place();
    weft_domain_yield();
}

// relaxed: a hint, by the calls' contract
std::uint32_t read(const std::uint32_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

struct Member {
    void (*body)(void* argument);
    void* argument;
    TeamPool* team_pool;   // until it leaves that one; read while it is ready
    bool begun = false;
};

void be(void* raw) {
    auto& member = *static_cast<Member*>(raw);
    member.begun = true;
    member.body(member.argument);
}

// Null: the unit is the program's, spawned by a member, or it is a task that is a unit.
Member* member_of(const weft_unit* context) {
    const void* site = nullptr;
    void* data = nullptr;
    weft_unit_spawn_site_get(context, &site);
    if (site == reinterpret_cast<const void*>(be)) weft_unit_data_get(context, &data);
    return static_cast<Member*>(data);
}

// How often this hart has found nothing. Accessed by the carrier's thread pointer, too.
thread_local constinit unsigned looks [[gnu::tls_model("initial-exec")]] = 0;

void resume(weft_unit* context) {
    looks = 0;
    weft_context_resume(context);
}

// There is nothing to do now. Where a barrier is about to end, that changes soon, and to give the
// hart back first costs locks, a sleep and a wake-up. So the hart stays for a moment. False: the
// moment is over.
bool look_again() {
    constexpr unsigned most_looks = 200;   // some 20 us: what a wake-up by the kernel takes
    if (looks++ < most_looks) {
        relax();
        weft_domain_reenter();
        return true;
    }
    looks = 0;
    weft_hart_overdue();   // the harts that would have made a member ready may have lost their processors
    return false;
}

// A guest's OS thread has brought the hart, and is not to carry members. Where there is no other OS
// thread, it carries any ready member: a hart that went back would come to this thread again, or to
// none. A member that waits for that guest by other means than OpenMP's then waits forever.
void pass(Members& all) {
    if (!all.ready.any()) return go();
    if (weft_domain_pass() == WEFT_OK) {
        if (binding) [[unlikely]]
            leave_place();
        return;
    }
    weft_unit* const context = all.ready.pop(this_hart());
    if (context != nullptr) return resume(context);
    go();
}

// Runs only members that fit, and only before their barrier is over. The guest goes on as soon as
// it is.
void enter_on_guests_thread(Members& all) {
    // Members that fit may yield forever, until one has run that does not fit.
    if (all.ready.one_waits_in_vain(this_hart())) return pass(all);
    const TeamPool* const lent = lent_to();
    if (lent != nullptr && !is_over(*lent)) {
        weft_unit* const context = all.ready.pop_fitting(this_hart(), [lent](const weft_unit* one) {
            const Member* const member = member_of(one);
            return member != nullptr && member->team_pool != nullptr && fits(*member->team_pool, *lent);
        });
        // the hart that pops a member sees what happened before the member was pushed
        if (context != nullptr && !is_over(*lent)) {
            return resume(context);
        }
        if (context != nullptr) all.ready.push(context);
    }
    if (leaving.load(std::memory_order_relaxed) != 0) {   // relaxed: a hint
        weft_unit* const context = all.ready.pop_fitting(this_hart(), [](const weft_unit* one) {
            const Member* const member = member_of(one);
            // relaxed: a hint
            return member != nullptr && member->begun && member->team_pool != nullptr &&
                   member->team_pool->dismissed.load(std::memory_order_relaxed);
        });
        if (context != nullptr) return resume(context);
    }
    if (lent == nullptr || !look_again()) pass(all);
}

void enter(void* self) {
    auto& all = *static_cast<Members*>(self);
    if (read(all.wanted) != 0) return go();
    if (weft_guest_here() != nullptr) return enter_on_guests_thread(all);
    weft_unit* const context = all.ready.pop(this_hart());
    if (context != nullptr) return resume(context);
    if (read(all.lacked) != 0 || !look_again()) go();
}

void unblock(void* self, weft_unit* context) { static_cast<Members*>(self)->ready.push(context); }

// Whether the last region of its team pool is over, and the next has not begun.
bool is_idle(void*, const weft_unit* context) {
    const Member* const member = member_of(context);
    if (member == nullptr || member->team_pool == nullptr) return false;
    const Team& team = member->team_pool->team;
    // relaxed, both: they are no longer written
    return team.arrived.load(std::memory_order_relaxed) == team.size.load(std::memory_order_relaxed);
}

// Called at the member's end. The end comes at once where no OS thread could be had for the member:
// its region would then wait forever. A member that has not left its team pool ends with the
// runtime, in weft_finalize, which the primary unit calls.
void has_ended(void* raw) {
    const std::unique_ptr<Member> member(static_cast<Member*>(raw));
    if (member->team_pool == nullptr) return;
    // relaxed: it is no longer written; the member has had no turn to leave by itself
    if (member->team_pool->dismissed.load(std::memory_order_relaxed)) return leave(*member->team_pool);
    if (member->begun || weft_unit_self() != nullptr) return;
    static std::atomic<bool> told{false};   // several members may get here, and a process exits once
    if (!told.exchange(true)) fatal_no_thread(WEFT_SYSTEM);
}

// Called when the runtime ends, whether or not members are left: those that are left have ended.
void domain_has_ended(void* self) {
    auto* const all = static_cast<Members*>(self);
    all_members.store(nullptr);   // of all domains, which are told one after the other
    // the domain is gone; `all` stays, since an OS thread outside may still read it
    all->older = std::exchange(lost, all);
    forget_members();
    forget_members_of_units();
    leaving.store(0);
}

weft_status spawn_member(const Members& all, void (*body)(void*), void* argument, TeamPool& team_pool,
                         std::size_t stack_bytes) {
    weft_unit_options options{};
    options.size = sizeof options;
    options.kind = WEFT_KIND_HOSTED;
    options.stack_bytes = stack_bytes;
    options.name = "openmp";
    auto* const member = new Member{body, argument, &team_pool};
    options.data = member;
    options.release = has_ended;
    return weft_ult_spawn_at(all.pool, be, member, &options, reinterpret_cast<const void*>(be), nullptr);
}

Members& create_members(weft_domain* parent) {
    auto* const made = new Members;
    made->parent = parent;
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = enter;
    ops.unblock = unblock;
    ops.ended = domain_has_ended;
    ops.idle = is_idle;
    const weft_status status = weft_domain_create_in(parent, &ops, made, &made->domain);
    if (status != WEFT_OK) fatal_no_thread(status);
    weft_domain_pool_get(made->domain, &made->pool);
    made->wanted = weft_domain_wanted(made->domain);
    made->lacked = weft_domain_lacked(made->domain);
    return *made;
}

Members* find_members(const weft_domain* parent) {
    // acquire: pairs with the store in members_below
    Members* at = all_members.load(std::memory_order_acquire);
    while (at != nullptr && at->parent != parent) at = at->next;
    return at;
}

// The members below that domain, created if there are none.
Members& members_below(weft_domain* parent) {
    if (Members* const there = find_members(parent)) return *there;
    beginning.lock();
    Members* all = find_members(parent);
    if (all == nullptr) {
        all = &create_members(parent);
        all->next = all_members.load(std::memory_order_relaxed);   // relaxed: written under the lock
        all_members.store(all, std::memory_order_release);         // release: pairs with the loads of others
    }
    beginning.unlock();
    return *all;
}

// The nearest domain at or above that one that lasts; null: the base. A domain that a unit has
// registered ends before the members do, which serve other callers later.
weft_domain* lasting(weft_domain* domain) {
    bool lasts = false;
    while (domain != nullptr && (weft_domain_lasting_get(domain, &lasts), !lasts))
        weft_domain_parent_get(domain, &domain);
    return domain;
}

// Registered before any thread of this library can fork.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    all_members.store(nullptr);
    leaving.store(0);
    beginning.unlock();   // the thread that may have held it is gone
});

}   // namespace

// Those of other domains count as well: a hart that this one gives up reaches them.
bool crowded() {
    // acquire: pairs with members_below
    const Members* const all = all_members.load(std::memory_order_acquire);
    if (all == nullptr) return false;
    for (const Members* at = all; at != nullptr; at = at->next) {
        if (at->ready.any() || read(at->wanted) != 0) return true;
    }
    return read(all->lacked) != 0 || weft_guest_awaited();   // the word is the same for all
}

bool members_are_behind() {
    // acquire: pairs with members_below
    const Members* at = all_members.load(std::memory_order_acquire);
    while (at != nullptr && !at->ready.any()) at = at->next;
    return at != nullptr;
}

Members& members_of_caller(const Thread& me) {
    // a record that serves native units goes from one to the other, wherever they run
    return members_below(me.native ? nullptr : lasting(weft_domain_self()));
}

bool among(const Members& members) { return weft_domain_self() == members.domain; }

weft_unit* next_member(const TeamPool& team_pool) {
    Members& all = *team_pool.members;
    if (read(all.wanted) != 0 || (weft_guest_here() != nullptr && is_behind_lent(team_pool))) return nullptr;
    return all.ready.next_of_row(this_hart(), team_pool);
}

void give_way() {
    if (!crowded() || weft_unit_yield() != WEFT_OK) syscall(SYS_sched_yield);   // the kernel's call, as in SpinLock
    come_back();
}

void make_ready(const TeamPool& team_pool, unsigned hart, const WaitingRow& row) {
    team_pool.members->ready.push_row(hart, row);
}

void ask_for_harts(const TeamPool& team_pool) { weft_domain_request(team_pool.members->domain, 0); }

// Members ask for a hart each, but a team of one has no members.
weft_pool* pool_for_tasks(Members& all) {
    // relaxed: a hint
    if (!all.has_tasks.load(std::memory_order_relaxed) && !all.has_tasks.exchange(true))
        weft_domain_request(all.domain, 1);
    return all.pool;
}

// relaxed, as below: a number
void dismiss_members(unsigned count) { leaving.fetch_add(count, std::memory_order_relaxed); }

void leave_team_pool() {
    static_cast<Member*>(weft_unit_self_data())->team_pool = nullptr;
    leaving.fetch_sub(1, std::memory_order_relaxed);
}

void add_members(void (*body)(void* argument), const std::vector<void*>& arguments, TeamPool& team_pool,
                 std::size_t stack_bytes) {
    const Members& all = *team_pool.members;
    // All threads are started before the first member begins. A member that began while they are
    // started would wait for its own thread, which is the last one started: two switches and a
    // wake-up by the kernel for each.
    if (const weft_status status = weft_hosted_prepare(arguments.size(), stack_bytes); status != WEFT_OK)
        fatal_no_thread(status);
    for (void* const argument : arguments) {
        const weft_status status = spawn_member(all, body, argument, team_pool, stack_bytes);
        if (status != WEFT_OK) fatal_no_thread(status);
    }
    // One hart for each member, however few harts there are: where the domain's harts block in the
    // kernel or spin, rescue lends more to a domain that could use more. A domain that finds
    // nothing to do gets no hart until one of its contexts can go on.
    weft_domain_request(all.domain, static_cast<std::ptrdiff_t>(arguments.size()));
}

}   // namespace weft_openmp
