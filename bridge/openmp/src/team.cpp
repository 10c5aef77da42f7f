// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "team.hpp"

#include <pthread.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <weft/embed/hosted.h>
#include <weft/guest.h>
#include <weft/hart.h>
#include <weft/local.h>

#include "bind.hpp"
#include "fatal.hpp"
#include "lending.hpp"
#include "members.hpp"
#include "others.hpp"
#include "places.hpp"
#include "unit_thread.hpp"

// libweft_openblas, where it is loaded: members compete with an OpenBLAS' own threads from now on.
extern "C" [[gnu::weak, gnu::visibility("default")]] void weft_openblas_openmp_begins();

namespace weft_openmp {

namespace {

// The record of the OS thread or the hosted unit itself, whatever task runs there.
thread_local constinit Thread* own_thread [[gnu::tls_model("initial-exec")]] = nullptr;

// The key's destructor ends the record with the thread. A thread-local object would be destroyed
// before exit's handlers run and before the destructors of other keys, and both may have regions: a
// key's destructor runs once more where they do, and exit, which ends all threads, calls none.
pthread_key_t key_of_threads() {
    static const pthread_key_t made = [] {
        pthread_key_t key{};
        const int error = pthread_key_create(&key, [](void* thread) { delete static_cast<Thread*>(thread); });
        if (error != 0) fatal_error("pthread_key_create failed: %s", std::strerror(error));
        return key;
    }();
    return made;
}

// In the child the members no longer exist: the thread that is left begins as a new one.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    Shown::forget_all();
    for (Thread* const thread : {own_thread, thread_that_forked()}) {
        if (thread == nullptr) continue;
        thread->begin_alone();
        thread->shown.begin_anew();
    }
    // A hosted unit is native in the child, on what was its own OS thread: its words follow it from
    // its next call on.
    if (thread_that_forked() == nullptr) set_words(nullptr);
});

// A thread ends, and lets its members end.
void dismiss(TeamPool& team_pool) {
    dismiss_members(static_cast<unsigned>(team_pool.slots.size()) - 1);
    team_pool.dismissed.store(true);
    team_pool.team.helpers.wake();
    team_pool.spares.wake();
    leave(team_pool);
}

void reset(Task& task, Team& team, const Icv* icv) {
    task.implicit = true;
    task.said = 0;
    task.team = &team;
    task.icv = icv;
    // left over where the region was cancelled, or had reductions
    while (task.group != nullptr) delete std::exchange(task.group, task.group->outer);
    task.made = 0;
    task.family = false;
    // relaxed, and all that follow here: the region's begin publishes
    task.pending.store(Task::running, std::memory_order_relaxed);
    if (task.dependences != nullptr) forget_dependences(task);
}

void reset(Slot& slot, Team& team) {
    reset(slot.implicit, team, team.icv);
    slot.share = team.origin;
    slot.at.store(team.origin->number, std::memory_order_relaxed);
    slot.loop = {};
    slot.singles = slot.singles_taken = 0;
    slot.created.store(0, std::memory_order_relaxed);
    slot.ended.store(0, std::memory_order_relaxed);
}

// relaxed: the region's size; from the dock, a guess
bool are_many(const Team& team) { return team.helpers.makes_many(team.size.load(std::memory_order_relaxed)); }

// `count` more have arrived. Whether all are here now: then the caller is to let them go on.
inline bool completes(Team& team, unsigned count) {
    // relaxed: the region's size; the next one may begin once these have arrived
    const unsigned size = team.size.load(std::memory_order_relaxed);
    return count != 0 && team.arrived.fetch_add(count) + count == size;
}

// A thread arrives in that region, at a barrier or at its end; in_row: it then waits among the
// members. Whether all are here now.
inline bool arrive(Team& team, std::uint64_t region, bool in_row) {
    return completes(team, are_many(team) ? team.helpers.arrive_among_many(region, in_row) : 1);
}

// Waits in the dock for a region later than `seen`. Returns its number; 0: the team pool is
// dismissed.
std::uint64_t dock(Thread& me, Slot& slot, std::uint64_t seen) {
    TeamPool& team_pool = *slot.team_pool;
    const auto called = [&] { return slot.region.load() != seen || team_pool.dismissed.load(); };
    const auto spare = [&] { return slot.number >= team_pool.awake.load(); };
    while (!called()) {
        if (spare()) {
            // It may have been next in a row whose members have arrived. It no longer belongs to
            // the team, so others of it are to add up the counts.
            if (are_many(team_pool.team)) team_pool.team.helpers.wake();
            team_pool.spares.wait([&] { return called() || !spare(); });
        } else if (!run_some_task(me, nullptr)) {
            team_pool.team.helpers.wait(
                are_many(team_pool.team) ? seen : 0, [&] { return called() || spare() || may_find_task(me, nullptr); },
                [&](unsigned count) {
                    if (completes(team_pool.team, count)) team_pool.team.closer.wake();
                    return true;
                });
        }
    }
    return team_pool.dismissed.load() ? 0 : slot.region.load();
}

// Whether a thread of the region is new, or has another place than before, or the team has another
// size: then all threads are shown.
[[gnu::noinline]] bool affinity_has_changed(TeamPool& team_pool, unsigned size) {
    bool changed = false;
    for (unsigned i = 0; i < size; ++i) {
        Slot& slot = *team_pool.slots[i];
        changed |= std::exchange(slot.size_shown, size) != size;
        changed |= std::exchange(slot.place_shown, slot.place) != slot.place;
    }
    return changed;
}

// For OMP_DISPLAY_AFFINITY.
[[gnu::noinline]] void show_affinity(const Slot& slot) {
    if (!slot.team_pool->team.shows_affinity) return;
    const std::string text = affinity_of_this_thread({}) + "\n";
    std::fputs(text.c_str(), stderr);
}

// Keeps a new thread's record until its key's destructor comes.
void keep(Thread* thread) {
    own_thread = thread;
    const int error = pthread_setspecific(key_of_threads(), own_thread);
    if (error != 0) fatal_error("pthread_setspecific failed: %s", std::strerror(error));
}

Thread& begin_member(Slot& slot) {
    if (own_thread == nullptr) keep(new Thread(slot));
    own_thread->members = slot.team_pool->members;
    if (!tasks_are_units) this_thread_or_null = own_thread;
    return *own_thread;
}

void be_member(void* raw) {
    Slot& slot = *static_cast<Slot*>(raw);
    Thread& me = begin_member(slot);
    Team& team = slot.team_pool->team;
    me.slot = &slot;
    me.team = &team;
    me.task = &slot.implicit;
    thread_in_region = this_thread_or_null;
    for (std::uint64_t region = 0; (region = dock(me, slot, region)) != 0;) {
        if (binding) [[unlikely]]
            take_place(me);
        if (environment().display_affinity) [[unlikely]]
            show_affinity(slot);
        go_on_in_loop(slot);
        go_on_behind(*slot.team_pool);
        team.body(team.data);
        if (arrive(team, region, true)) team.closer.wake();
    }
    thread_in_region = nullptr;
    me.stand_alone();
    if (others()) use_thread_up();
    leave_team_pool();
    leave(*slot.team_pool);
}

void close(Thread& me) {
    Team& team = *me.team;
    const auto over = [&team] {
        // relaxed: set by one of the threads that have arrived, or in a task of theirs
        return team.arrived.load() == team.size &&
               (!team.tasked.load(std::memory_order_relaxed) || all_tasks_ended(team));
    };
    while (!over()) {
        if (!run_some_task(me, nullptr)) team.closer.wait([&] { return over() || may_find_task(me, nullptr); });
    }
}

// Called by the thread that lets all others go on.
inline void end_cancelled_construct(Team& team) {
    // relaxed, both: the barrier's end publishes
    if (team.construct_cancelled.load(std::memory_order_relaxed)) [[unlikely]]
        team.construct_cancelled.store(false, std::memory_order_relaxed);
}

}   // namespace

Thread* thread_of_os_thread() { return own_thread; }

Thread& begin_this_thread() {
    if (Thread* const of_unit = thread_of_unit()) {
        set_words(of_unit);
        return *of_unit;
    }
    if (!weft_thread_local_own()) return thread_of_scheduler();
    if (own_thread == nullptr) keep(new Thread);
    let_follow_primary(*own_thread);
    set_words(own_thread);
    return *own_thread;
}

void leave(TeamPool& team_pool) {
    if (team_pool.users.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete &team_pool;   // acq_rel: all others have left it
}

TeamPool::TeamPool(TeamPool* around_it) : around(around_it) {
    // relaxed: the caller is one of its users
    if (around_it != nullptr) around_it->users.fetch_add(1, std::memory_order_relaxed);
    team.team_pool = this;
    grow(1);
}

TeamPool::~TeamPool() {
    for (auto& slot : slots) {
        while (slot->implicit.group != nullptr) delete std::exchange(slot->implicit.group, slot->implicit.group->outer);
        if (slot->implicit.dependences != nullptr) forget_dependences(slot->implicit);
    }
    free_all_shares(team);
}

void TeamPool::grow(unsigned size) {
    const auto before = static_cast<unsigned>(slots.size());
    if (size <= before) return;
    if (before == 0 || size > tables.back()->count) {
        auto larger = std::make_unique<Table>();
        larger->count = std::max(size, before * 2);
        larger->slots = std::make_unique<std::atomic<Slot*>[]>(larger->count);
        // relaxed: published with the table
        for (unsigned i = 0; i < before; ++i) larger->slots[i].store(slots[i].get(), std::memory_order_relaxed);
        tables.push_back(std::move(larger));
    }
    for (unsigned number = before; number < size; ++number) {
        auto slot = std::make_unique<Slot>();
        slot->team_pool = this;
        slot->number = number;
        reset(slot->implicit, team, nullptr);
        // release: pairs with the thieves' load
        tables.back()->slots[number].store(slot.get(), std::memory_order_release);
        slots.push_back(std::move(slot));
    }
    table.store(tables.back().get(), std::memory_order_release);   // release: pairs with the thieves' load
    std::vector<void*> added;
    for (unsigned number = std::max(1U, before); number < size; ++number) added.push_back(slots[number].get());
    if (added.empty()) return;
    if (weft_openblas_openmp_begins != nullptr) weft_openblas_openmp_begins();
    team.helpers.have_members(*this);
    users.fetch_add(static_cast<unsigned>(added.size()), std::memory_order_relaxed);   // relaxed: only a user adds
    add_members(be_member, added, *this, environment().unit_stack_bytes());
    count_members(static_cast<unsigned>(added.size()));
}

// Their memory stays: thieves may have read it, and a thread that waited there has left its wait
// node on a stack that is gone.
void TeamPool::forget_members() {
    members = nullptr;
    if (slots.size() == 1) return;
    users.fetch_sub(static_cast<unsigned>(slots.size()) - 1, std::memory_order_relaxed);   // relaxed: as in grow
    static auto& kept =
        *new std::vector<std::unique_ptr<Slot>>;   // under the lock of the caller, which calls all team pools
    for (std::size_t i = 1; i < slots.size(); ++i) kept.push_back(std::move(slots[i]));
    slots.resize(1);
    awake.store(1);
    spares.forget();
    team.helpers.forget();
}

void forget_members() {
    Shown::each([](Thread& thread) {
        thread.members = nullptr;
        for (auto* const of_depths_or_apart : {&thread.team_pools, &thread.aparts}) {
            for (auto& team_pool : *of_depths_or_apart) {
                if (team_pool != nullptr) team_pool->forget_members();
            }
        }
    });
}

Thread::Thread() { begin_alone(); }

Thread::Thread(Slot& of_member)
    : team(&of_member.team_pool->team), slot(&of_member), task(&of_member.implicit), member(true) {
    team_pools.push_back(nullptr);
}

void Thread::begin_alone() {
    for (auto& team_pool : team_pools)
        static_cast<void>(team_pool.release());   // in the child of a fork: their members no longer exist
    team_pools.clear();
    team_pools.push_back(nullptr);
    ends_early = weft_hosted();
    foreign = environment().follows_load && getpid() != gettid() && !ends_early;
    told.forget();
    members = nullptr;
    has_chosen = stays = member = false;
    thread_in_region = nullptr;
    stand_alone();
}

namespace {

void begin_team_of_one(TeamPool& team_pool, const Icv* icv, std::atomic<unsigned>& group) {
    Team& team = team_pool.team;
    team.icv = icv;
    team.group = &group;
    // relaxed, all: no other thread is there
    team.tasked.store(false, std::memory_order_relaxed);
    team.cancelled.store(false, std::memory_order_relaxed);
    team.construct_cancelled.store(false, std::memory_order_relaxed);
    team.ended_elsewhere.store(0, std::memory_order_relaxed);
    team.created_elsewhere.store(0, std::memory_order_relaxed);
    start_shares(team);
    reset(*team_pool.slots[0], team);
}

}   // namespace

// For a thread outside of all regions. A member is there only after its last one, so the thousands
// of a large team need no such pool.
void Thread::make_team_pool_of_one() {
    team_pools[0] = std::make_unique<TeamPool>(nullptr);
    TeamPool& alone = *team_pools[0];
    group.store(1, std::memory_order_relaxed);   // relaxed: no other thread is there
    begin_team_of_one(alone, environment().initial, group);
    place_alone(*alone.slots[0]);
}

void Thread::stand_alone() {
    if (team_pools[0] == nullptr) make_team_pool_of_one();
    TeamPool& alone = *team_pools[0];
    team = &alone.team;
    slot = alone.slots[0].get();
    task = &slot->implicit;
    under = nullptr;
    depth = 0;
}

Thread::~Thread() {
    thread_in_region = this_thread_or_null = own_thread = nullptr;
    shown.hide();
    give_back(counts);
    for (auto* const of_depths_or_apart : {&team_pools, &aparts}) {
        for (auto& team_pool : *of_depths_or_apart) {
            if (team_pool != nullptr) dismiss(*team_pool.release());
        }
    }
    give_tasks_back(*this);
}

namespace {

[[gnu::noinline]] const Icv& inherited_from_explicit(const Icv& of_task, const Icv& of_implicit) {
    if (of_task.allocator == of_implicit.allocator) return of_task;
    Icv changed = of_task;
    changed.allocator = of_implicit.allocator;
    return *interned(changed);
}

// What a region begins with: its task's values, except for the variable that only implicit tasks
// have (OpenMP 5.1, table 2.3).
inline const Icv& inherited(const Thread& me) {
    const Task& implicit = me.slot->implicit;
    if (me.task == &implicit) [[likely]]
        return *implicit.icv;
    return inherited_from_explicit(*me.task->icv, *implicit.icv);
}

}   // namespace

namespace {

// A unit's outermost region begins. For a native unit, what is done here may wait: the unit keeps
// its record now that it is in a region.
[[gnu::noinline]] void begin_as_unit(Thread& me, unsigned size) {
    weft_unit_end_disable();
    if (!me.native) return;
    if (me.team_pools[1]->slots.size() < size) come_by_members(me, size);
    begin_to_stay(me);
}

// A unit's outermost region ends. The words are written anew: compiled code may have kept their
// addresses, and a unit that could not stay may be elsewhere.
[[gnu::noinline]] void leave_as_unit(Thread& me) {
    if (me.native) {
        set_words(&me);
        end_stay(me);
    }
    weft_unit_end_enable();
}

// In the child of a fork that a scheduler's code has made: that code is no unit there.
[[gnu::noinline]] void be_of_os_thread(Thread& me) {
    me.native = me.ends_early = false;
    me.unit = nullptr;
    keep(&me);
}

}   // namespace

namespace {

// Where the team pool's members are, and its tasks that are units.
inline void have_members(Thread& me, TeamPool& team_pool) {
    if (team_pool.members != nullptr) [[likely]]
        return;
    if (me.members == nullptr) me.members = &members_of_caller(me);
    team_pool.members = me.members;
}

}   // namespace

void begin_region(Thread& me, void (*body)(void* data), void* data, unsigned size, Bind bind,
                  std::uintptr_t* reductions, void (*prepare)(Team& team, void* argument), void* argument) {
    Team& outer = *me.team;
    const bool entered = (size > 1 || tasks_are_units) && weft_unit_self() == nullptr;
    if (entered) {
        if (me.native) [[unlikely]]
            be_of_os_thread(me);
        const weft_status status = weft_guest_enter();
        if (status != WEFT_OK) fatal_no_thread(status);
    }
    count(me.counts.regions);
    if (++me.depth == me.team_pools.size())
        me.team_pools.push_back(std::make_unique<TeamPool>(me.of_unit ? nullptr : me.slot->team_pool));
    const bool of_unit = me.ends_early && me.depth == 1;
    if (of_unit) [[unlikely]]
        begin_as_unit(me, size);
    TeamPool& team_pool = *me.team_pools[me.depth];
    if (size > 1 || tasks_are_units) have_members(me, team_pool);
    team_pool.grow(size);
    Team& team = team_pool.team;
    const Icv& from = inherited(me);
    team.level = outer.level + 1;
    team.active_level = outer.active_level + (size > 1 ? 1 : 0);
    team.icv = &from;
    const Environment& said = environment();
    if (team.level < said.threads.size() || team.level < said.bind.size()) {
        Icv next = from;
        if (team.level < said.threads.size()) next.threads = said.threads[team.level];
        if (team.level < said.bind.size()) next.bind = said.bind[team.level];
        team.icv = interned(next);
    }
    team.body = body;
    team.data = data;
    team.league = outer.league;
    team.size.store(size, std::memory_order_relaxed);   // relaxed: as below
    team.bind = bind;
    team.outer = &outer;
    team.outer_slot = me.slot;
    team.outer_task = me.task;
    team.outer_under = me.under;
    // once others work they do so forever: before, it is 0
    if (others()) [[unlikely]]
        team.levels_of_others = levels_of_others();
    team.entered = entered || of_unit;
    team.group = outer.group;
    team.counted = from.thread_limit != ~0U && size > 1;
    team.reductions = reductions;
    // relaxed: the numbers of the region, which the members check, publish all this
    team.arrived.store(0, std::memory_order_relaxed);
    team.arrived_cancellably.store(0, std::memory_order_relaxed);
    team.tasked.store(false, std::memory_order_relaxed);
    team.cancelled.store(false, std::memory_order_relaxed);
    team.construct_cancelled.store(false, std::memory_order_relaxed);
    team.ended_elsewhere.store(0, std::memory_order_relaxed);
    team.created_elsewhere.store(0, std::memory_order_relaxed);
    team.singles.store(0, std::memory_order_relaxed);
    start_shares(team);
    for (unsigned i = 0; i < size; ++i) reset(*team_pool.slots[i], team);
    if (prepare != nullptr) prepare(team, argument);
    if (binding) [[unlikely]] {
        place_team(team, *team.outer_slot, bind == Bind::no || from.bind == Bind::no ? from.bind : bind);
        take_place(me);
    }
    me.team = &team;
    me.slot = team_pool.slots[0].get();
    me.task = &me.slot->implicit;
    me.under = nullptr;
    thread_in_region = this_thread_or_null;
    go_on_in_loop(*me.slot);
    const unsigned before = team_pool.awake.exchange(size);
    if (size == 1) return;
    if (said.display_affinity) [[unlikely]] {
        team.shows_affinity = affinity_has_changed(team_pool, size);
        show_affinity(*me.slot);
    }
    ++team_pool.regions;
    for (unsigned i = 1; i < size; ++i) team_pool.slots[i]->region.store(team_pool.regions);
    team.helpers.wake();
    if (size > before) team_pool.spares.wake();
}

void end_region(Thread& me) {
    Team& team = *me.team;
    arrive(team, team.team_pool->regions, false);
    close(me);
    if (team.counted) team.group->fetch_sub(team.size - 1, std::memory_order_relaxed);   // relaxed: a number
    end_shares(team);
    for (void* const memory : team.free_at_end) std::free(memory);
    team.free_at_end.clear();
    --me.depth;
    me.team = team.outer;
    me.slot = team.outer_slot;
    me.task = team.outer_task;
    me.under = team.outer_under;
    if (me.depth == 0 && !me.member) thread_in_region = nullptr;   // a member's own region goes on
    go_on_in_loop(*me.slot);
    if (team.entered) [[unlikely]] {
        if (me.ends_early) leave_as_unit(me);
        else weft_guest_leave();
    }
}

Apart::Apart(const Icv* icv, League league)
    : me_(this_thread()), team_(me_.team), slot_(me_.slot), task_(me_.task), under_(me_.under), of_unit_(me_.of_unit) {
    if (me_.aparts_begun == me_.aparts.size()) me_.aparts.push_back(std::make_unique<TeamPool>(nullptr));
    TeamPool& team_pool = *me_.aparts[me_.aparts_begun++];
    Team& team = team_pool.team;
    begin_team_of_one(team_pool, icv, group_);
    team.league = league;
    if (binding) [[unlikely]]
        place_apart(*team_pool.slots[0], *slot_);
    me_.team = &team;
    me_.slot = team_pool.slots[0].get();
    me_.task = &me_.slot->implicit;
    me_.under = nullptr;
    me_.of_unit = false;   // the slot is its own
    go_on_in_loop(*me_.slot);
}

Apart::~Apart() {
    Team& team = *me_.team;
    meet(me_);
    end_shares(team);
    for (void* const memory : std::exchange(team.free_at_end, {})) std::free(memory);
    --me_.aparts_begun;
    me_.team = team_;
    me_.slot = slot_;
    me_.task = task_;
    me_.under = under_;
    me_.of_unit = of_unit_;
    go_on_in_loop(*me_.slot);
}

namespace {

// The caller has found that all are here.
inline void end_barrier(Thread& me, Team& team, std::uint64_t generation) {
    close(me);
    end_cancelled_construct(team);
    team.arrived.store(0, std::memory_order_relaxed);   // relaxed: the generation publishes
    team.generation.store(generation + 1);
    team.helpers.wake();
}

// For a team whose members are many: kept apart, since in other teams each instruction here counts.
[[gnu::noinline]] void meet_among_many(Thread& me, Team& team) {
    const std::uint64_t generation = team.generation.load(std::memory_order_relaxed);   // relaxed: as in meet
    const std::uint64_t region = team.team_pool->regions;
    bool last = arrive(team, region, Helpers::is_member());
    while (!last && team.generation.load(std::memory_order_acquire) == generation) {   // acquire: as in meet
        if (run_some_task(me, nullptr)) continue;
        // acquire: pairs with the store in end_barrier
        last = team.helpers.wait(
            region,
            [&] { return team.generation.load(std::memory_order_acquire) != generation || may_find_task(me, nullptr); },
            [&team](unsigned count) { return completes(team, count); });
    }
    if (last) end_barrier(me, team, generation);
    go_on_behind(*team.team_pool);
}

}   // namespace

void meet(Thread& me) {
    Team& team = *me.team;
    if (are_many(team)) return meet_among_many(me, team);
    if (team.size == 1) {
        // relaxed: its own
        if (team.tasked.load(std::memory_order_relaxed)) wait_in_task(me, [&team] { return all_tasks_ended(team); });
        end_cancelled_construct(team);
        return;
    }
    // relaxed: it does not change before this thread has arrived
    const std::uint64_t generation = team.generation.load(std::memory_order_relaxed);
    if (team.arrived.fetch_add(1) + 1 == team.size) {
        end_barrier(me, team, generation);
        return go_on_behind(*team.team_pool);
    }
    while (team.generation.load(std::memory_order_acquire) == generation) {   // acquire: pairs with the store above
        if (run_some_task(me, nullptr)) continue;
        // acquire: pairs with the store in end_barrier
        team.helpers.wait([&] {
            return team.generation.load(std::memory_order_acquire) != generation || may_find_task(me, nullptr);
        });
    }
    go_on_behind(*team.team_pool);
}

bool meet_or_leave(Thread& me) {
    Team& team = *me.team;
    const std::uint64_t generation = team.generation.load(std::memory_order_relaxed);   // relaxed: as in meet
    if (team.cancelled.load()) return true;
    const auto cancelled = [&team] { return team.cancelled.load(); };
    if (team.arrived_cancellably.fetch_add(1) + 1 == team.size) {
        while (!cancelled() && !all_tasks_ended(team)) {
            if (!run_some_task(me, nullptr))
                team.closer.wait([&] { return cancelled() || all_tasks_ended(team) || may_find_task(me, nullptr); });
        }
        if (cancelled()) return true;
        end_cancelled_construct(team);
        team.arrived_cancellably.store(0, std::memory_order_relaxed);   // relaxed: as in meet
        team.generation.store(generation + 1);
        team.helpers.wake();
        go_on_behind(*team.team_pool);
        return false;
    }
    while (team.generation.load(std::memory_order_acquire) == generation) {   // acquire: as in meet
        if (cancelled()) {
            go_on_behind(*team.team_pool);
            return true;
        }
        if (run_some_task(me, nullptr)) continue;
        team.helpers.wait([&] {
            return cancelled() || team.generation.load(std::memory_order_acquire) != generation ||
                   may_find_task(me, nullptr);
        });
    }
    go_on_behind(*team.team_pool);
    return false;
}

void cancel_region(Team& team) {
    team.cancelled.store(true);
    team.helpers.wake();
    team.closer.wake();
    team.waiters.wake();
}

}   // namespace weft_openmp
