// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads, and the teams that they make for parallel regions.
//
// A thread that meets a parallel region is thread 0 of its team. The others are members: hosted
// units that stay with that thread, for regions at that depth, so thread i is the same context from
// region to region. Members wait at the dock between regions. The end of a region is a barrier that
// members pass through into the dock, and at which only thread 0 waits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "counts.hpp"
#include "deque.hpp"
#include "icv.hpp"
#include "lending.hpp"
#include "share.hpp"
#include "shown.hpp"
#include "task.hpp"
#include "thief.hpp"
#include "usual_threads.hpp"
#include "wait.hpp"

namespace weft_openmp {

struct Members;
struct TeamPool;
struct OfUnit;

// A thread's place in a team. What other threads read while a region runs has lines of its own.
struct alignas(128) Slot {
    Deque deque;   // of deferred tasks
    // deferred tasks, counted by this thread, which alone writes each count
    alignas(64) std::atomic<std::uint64_t> created{0}, ended{0};
    TeamPool* team_pool = nullptr;
    unsigned number = 0;
    unsigned next_victim = 0;
    unsigned size_shown = 0;   // the team's, when its affinity was shown
    int place_shown = -1;      // its thread's, at that time
    int place = -1;            // its thread's; -1: none (bind.hpp). Its partition follows
    unsigned first_place = 0, places = 0;

    std::uint64_t singles = 0;         // those that it has come to
    std::uint64_t singles_taken = 0;   // those that had a first thread, when it checked last
    Share* spares = nullptr;           // that it may use
    Share* share = nullptr;            // the worksharing construct that it is in, or was in last
    LoopPlace loop;                    // where it is in that
    Task implicit;
    std::atomic<std::uint64_t> at{0};       // that one's number: shows which ones all threads have passed
    std::atomic<std::uint64_t> region{0};   // the number of the region that it is to take part in
};

// Where a team is in a league of teams. Every team that its threads make has the same values.
struct League {
    unsigned number = 0, teams = 1;
};

// The team of a region. There is one for each team pool, used again and again.
struct alignas(128) Team {
    void (*body)(void* data) = nullptr;
    void* data = nullptr;
    League league;
    // threads in the dock read it while it changes: they take no part, or are called later
    std::atomic<unsigned> size{1};
    unsigned level = 0, active_level = 0;
    const Icv* icv = nullptr;   // of the implicit tasks, when they begin
    // how many threads the contention group has, its initial thread included, where there is a
    // limit
    std::atomic<unsigned>* group = nullptr;
    TeamPool* team_pool = nullptr;
    Team* outer = nullptr;   // where thread 0 was when it met the region
    Slot* outer_slot = nullptr;
    Task* outer_task = nullptr;
    const Task* outer_under = nullptr;
    // regions of other runtimes that thread 0 was in when it met this one (others.hpp)
    int levels_of_others = 0;
    // thread 0 is a guest for this region, or this is a unit's outermost region
    bool entered = false;
    bool counted = false;          // its threads are counted in `group`
    bool shows_affinity = false;   // in this region
    Share* origin = nullptr;       // before the first worksharing construct
    std::uintptr_t* reductions = nullptr;
    Bind bind = Bind::no;
    std::atomic<bool> tasked{false};   // a task has been deferred
    std::atomic<bool> cancelled{false};
    // The loop or the sections that the threads are in, until the barrier at their end. Not kept
    // with their share: a static loop has none, and is cancelled while other threads are in the
    // construct before.
    std::atomic<bool> construct_cancelled{false};

    alignas(64) std::atomic<std::uint32_t> arrived{0};      // at a barrier
    std::atomic<std::uint32_t> arrived_cancellably{0};      // at a barrier that is left when the region is cancelled
    alignas(64) std::atomic<std::uint64_t> generation{0};   // barriers that have ended
    std::atomic<std::uint64_t> ended_elsewhere{0};          // deferred tasks that no thread of the team has ended
    std::atomic<std::uint64_t> created_elsewhere{0};        // likewise, that none has created
    // tasks that are units: they have begun, or are to begin, and are not gone
    std::atomic<std::uint32_t> units{0};
    std::atomic<std::uint32_t> queued{0};   // tasks in `first`
    SpinLock queue_lock;
    Task* first = nullptr;   // with a priority, or queued by no thread of the team
    Task* last = nullptr;
    alignas(64) Helpers helpers;       // threads that wait at barriers and at the dock, and run any task
    Sleepers closer{Until::the_end};   // waits for the tasks' end when all threads are at the barrier
    Sleepers waiters;                  // threads that wait in tasks, for tasks that they have made
    SpinLock free_lock;
    Share* oldest = nullptr;                             // guarded by the lock: the list's first node
    std::atomic<bool> shares_hold_memory{false};         // to be given back at the region's end
    std::uint64_t nodes = 0;                             // guarded by the lock: nodes in the list and in the slots
    alignas(64) std::atomic<std::uint64_t> singles{0};   // those that have had a first thread
    std::vector<void*> free_at_end;                      // added under the lock; freed by thread 0
    const Icv* of_league = nullptr;                      // of the initial tasks of a league's teams in a target region
};

// The caller, one of the users of a team pool, gives it up. The last one deletes it.
void leave(TeamPool& team_pool);
struct LeavesTeamPool {
    void operator()(TeamPool* team_pool) const { leave(*team_pool); }
};

// The threads that make up one thread's teams at one depth.
struct TeamPool {
    // A copy for thieves, which may read it while the team pool grows; old copies stay.
    struct Table {
        std::unique_ptr<std::atomic<Slot*>[]> slots;   // null where there is none yet
        unsigned count = 0;
    };

    std::vector<std::unique_ptr<Slot>> slots;   // [0] is the thread that meets the regions
    std::vector<std::unique_ptr<Table>> tables;
    std::atomic<const Table*> table{nullptr};
    Team team;
    std::uint64_t regions = 0;
    std::atomic<bool> dismissed{false};
    std::atomic<unsigned> users{1};   // the thread, and the members; the last to leave deletes it
    // slots below take part in the region, or did in the last one; those above wait as spares
    std::atomic<unsigned> awake{1};
    Sleepers spares;
    alignas(64) Lent lent;        // read at each barrier
    Members* members = nullptr;   // its members are among these; null: none has been asked for
    // the team pool of the team around its teams, which lives as long. Null: there is none, or it
    // changes
    const std::unique_ptr<TeamPool, LeavesTeamPool> around;

    explicit TeamPool(TeamPool* around_it);
    ~TeamPool();
    void grow(unsigned size);
    void forget_members();   // the runtime has ended, and the members with it
};

// The members of all team pools have ended. No thread is in a region of several threads.
void forget_members();

// What OpenMP calls a thread, as long as it lives: members and all other threads.
struct alignas(64) Thread {
    Team* team = nullptr;   // outside of all regions its own team of one, at level 0
    Slot* slot = nullptr;
    Task* task = nullptr;   // runs now
    // a tied task that stands still on this thread's stack: tasks that begin there descend from it
    const Task* under = nullptr;
    Task* free_tasks = nullptr;
    Counts& counts = take_counts();
    unsigned free_count = 0;
    // it may not suspend, and has teams of one: for a tasklet, or a scheduler's code
    bool stands = false;
    Thief thief;
    // A team pool for each depth of regions of which it is thread 0; [0] is for outside of them:
    // null until the thread has been there.
    std::vector<std::unique_ptr<TeamPool>> team_pools;
    unsigned depth = 0;
    TeamPool* lends = nullptr;                       // whose members its OS thread carries, while it waits for them
    unsigned aparts_begun = 0;                       // how many of the next are in use
    std::vector<std::unique_ptr<TeamPool>> aparts;   // one for each Apart that is within another; they stay
    int place = -1;                                  // where it runs: its slot's, once it has taken part in the region
    std::atomic<unsigned> group{1};                  // of the contention group whose initial thread it is
    unsigned threads_of_team = 0;                    // thread_limit of the teams construct; 0: none
    // of a task that is a unit; its slot is another thread's, to be read only for its number and
    // its team pool (unit_task.hpp)
    bool of_unit = false;
    // a thread of the program that is not its first
    bool foreign = false;
    // set how many threads its regions have by default, by omp_set_num_threads
    bool has_chosen = false;
    bool member = false;   // of a team pool: a context of the members' domain
    // its teams' members are among these, as it is itself, if it is one; null: none has been asked
    // for
    Members* members = nullptr;
    // of a unit of the program that may be cancelled: not within a region, since members use what
    // lies on its stack
    bool ends_early = false;
    // serves native units, one after the other (unit_thread.hpp); what follows is theirs
    bool native = false;
    bool stays = false;                 // bound to its stream by weft_unit_bind
    weft_pool* former_pool = nullptr;   // the unit's pool before that
    Thread* next_record = nullptr;
    OfUnit* unit = nullptr;
    std::uint32_t old_number = 0;   // in locks of OpenMP 2.5; 0: none yet
    Told told;
    Shown shown{*this};

    Thread();
    explicit Thread(Slot& of_member);
    ~Thread();

    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

    const Icv& icv() const { return *task->icv; }
    void set_icv(const Icv& values) { task->icv = interned(values); }
    void begin_alone();   // as a new thread, and in the child of a fork
    void stand_alone();   // outside of all regions
    void make_team_pool_of_one();
};

// The calling thread. A hosted unit has its own thread-local memory, and keeps it wherever it goes
// on.
Thread& begin_this_thread();
// The record of the OS thread, or the hosted unit, itself, even within a task that is a unit; in
// `enter`, of the guest on whose OS thread a hart is brought. Null: there is none yet.
Thread* thread_of_os_thread();
// The record of the unit that runs here (unit_thread.hpp). Null: the unit has met no OpenMP yet, or
// has left its record; a scheduler runs; or tasks are units. A reader then calls begin_this_thread,
// which asks the unit first.
inline thread_local constinit Thread* this_thread_or_null [[gnu::tls_model("initial-exec")]] = nullptr;
inline Thread& this_thread() {
    Thread* const known = this_thread_or_null;
    return known != nullptr ? *known : begin_this_thread();
}

// The calling thread, in a region of ours; null outside of all regions, and where tasks are units.
// It spares a routine that is called in a region the question whether it is.
inline thread_local constinit Thread* thread_in_region [[gnu::tls_model("initial-exec")]] = nullptr;

inline Task* new_task(Thread& me) {
    Task* const task = me.free_tasks != nullptr ? me.free_tasks : first_free_task(me);
    Task* const next = task->next;
    me.free_tasks = next;
    --me.free_count;
    // A thread that has made many tasks needs it next, and another thread may have run and freed
    // it.
    __builtin_prefetch(next, 1);
    if (next != nullptr) __builtin_prefetch(&next->pending, 1);
    return task;
}

inline void free_task(Thread& me, Task* task) {
    if (task->holds_memory || task->dependences != nullptr) [[unlikely]]
        empty_task(*task);
    if (task->implicit) [[unlikely]]
        return;   // it lies in a slot
    task->next = me.free_tasks;
    me.free_tasks = task;
    if (++me.free_count >= most_free) [[unlikely]]
        give_surplus(me);
}

// Called by the task's thread, which then may read `pending`.
inline void count_children(Task& task) {
    if (task.made == 0) return;
    // relaxed: a count
    task.pending.fetch_add(static_cast<std::uint64_t>(std::int64_t{task.made}), std::memory_order_relaxed);
    task.made = 0;
}
// At the task's end: whether no child needs it any more.
inline bool has_left_none(Task& task) {
    if (!task.family) return true;
    task.family = false;
    count_children(task);
    return task.pending.load(std::memory_order_acquire) == Task::running;   // acquire: its children's last acts
}
inline void end_undeferred(Thread& me, Task& task) {
    if (has_left_none(task)) [[likely]]
        free_task(me, &task);
    else outlive(me, task);
}
// Runs an undeferred task on the stack of the task that has made it, which goes on when the body
// has ended. The task has just been made, so the region was not cancelled.
inline void run_undeferred(Thread& me, Task& task, void (*body)(void*)) {
    Task* const before = me.task;
    const Task* const under_before = me.under;
    if (!task.tied() && before->tied()) me.under = before;   // a tied task is its own `under`
    me.task = &task;
    body(task.data);
    me.task = before;
    me.under = under_before;
    end_undeferred(me, task);
}

// The simple loop (LoopPlace) that the calling thread is in, where its next chunk is found with the
// fewest loads: between two additions to a cursor that other threads add to as well, each load
// counts. Null: the thread is in none, or its loop is over.
inline thread_local constinit Share* simple_loop [[gnu::tls_model("initial-exec")]] = nullptr;

// A region: `size` threads run body(data). begin_region leaves the caller in it, as thread 0, while
// the other threads run body; end_region ends the region.
void begin_region(Thread& me, void (*body)(void* data), void* data, unsigned size, Bind bind,
                  std::uintptr_t* reductions = nullptr, void (*prepare)(Team& team, void* argument) = nullptr,
                  void* argument = nullptr);
void end_region(Thread& me);

// Code that begins with an initial thread, as if it were met outside of all regions: a target
// region, and each team of a league. The calling thread runs it in a team of one of its own. What
// the thread is in the middle of in other teams, the one at level 0 included, it finds again
// unchanged.
class Apart {
public:
    explicit Apart(const Icv* icv, League league = {});   // the values of its initial task
    ~Apart();                                             // once all tasks that it has made have ended
    Apart(const Apart&) = delete;
    Apart& operator=(const Apart&) = delete;

private:
    Thread& me_;
    Team* const team_;
    Slot* const slot_;
    Task* const task_;
    const Task* const under_;
    const bool of_unit_;
    std::atomic<unsigned> group_{1};   // a contention group of its own
};

// All threads of the team meet: none goes on before all are here and all tasks have ended.
void meet(Thread& me);
// As meet(), unless the region is cancelled: then all threads leave. Returns whether it was.
bool meet_or_leave(Thread& me);
// All threads leave such barriers.
void cancel_region(Team& team);

// The rest is about worksharing constructs (share.hpp).

// A spare of the slot, which stays its first.
Share* more_spares(Team& team, Slot& slot);

inline Share* take_spare(Team& team, Slot& slot) {
    Share* const share = slot.spares != nullptr ? slot.spares : more_spares(team, slot);
    slot.spares = share->next.load(std::memory_order_relaxed);   // relaxed, and below: the link publishes
    share->next.store(nullptr, std::memory_order_relaxed);
    return share;
}

// Links `mine` behind `before`, unless another thread has been faster: then `mine` is a spare
// again.
inline Share* link(Slot& slot, Share& before, Share* mine) {
    mine->number = before.number + 1;
    Share* next = nullptr;
    // release, acquire: its contents
    if (before.next.compare_exchange_strong(next, mine, std::memory_order_acq_rel, std::memory_order_acquire))
        return mine;
    mine->next.store(slot.spares, std::memory_order_relaxed);   // relaxed: no other thread has seen it
    slot.spares = mine;
    return next;
}

inline void advance_to(Slot& slot, Share& share) {
    slot.share = &share;
    slot.loop = {};
    simple_loop = nullptr;
    // release: what it has done in earlier shares comes before their reuse (more_spares)
    slot.at.store(share.number, std::memory_order_release);
}

template <class Fill>
bool enter_filled_share(Thread& me, Fill fill) {
    Slot& slot = *me.slot;
    Share* const before = slot.share;
    if (me.team->size.load(std::memory_order_relaxed) == 1) {   // relaxed: the region's size
        // No other thread is ever in it.
        slot.loop = {};
        fill(*before);
        return true;
    }
    Share* next = before->next.load(std::memory_order_acquire);   // acquire: pairs with the exchange in link
    Share* mine = nullptr;
    if (next == nullptr) {
        mine = take_spare(*me.team, slot);
        fill(*mine);
        next = link(slot, *before, mine);
    }
    advance_to(slot, *next);
    return next == mine;
}

// The calling thread, whose slot it is, goes on in its loop: where a region begins, or has ended
// within a loop.
inline void go_on_in_loop(const Slot& slot) { simple_loop = slot.loop.simple ? slot.share : nullptr; }

// The thread begins with the loop that it has entered. Whether that is a simple one.
inline bool begin_simple_loop(Slot& slot) {
    slot.loop.simple = slot.share->simple;
    go_on_in_loop(slot);
    return slot.loop.simple;
}

inline bool first_at_single(Thread& me) {
    Team& team = *me.team;
    if (team.size.load(std::memory_order_relaxed) == 1) return true;   // relaxed: the region's size
    Slot& slot = *me.slot;
    const std::uint64_t mine = slot.singles++;
    if (mine < slot.singles_taken) return false;   // a thread that lags behind need not touch the others' line
    std::uint64_t taken = mine;
    // relaxed: a thread that is not first needs nothing of the first. No load before, which would
    // fetch the line twice
    if (team.singles.compare_exchange_strong(taken, mine + 1, std::memory_order_relaxed)) return true;
    slot.singles_taken = taken;
    return false;
}

// Waits in a task until holds(), and meanwhile runs tasks that may run there.
template <class Holds>
void wait_in_task(Thread& me, const Holds& holds) {
    const Task* const under = me.task->tied() ? me.task : me.under;
    while (!holds()) {
        if (run_some_task(me, under)) continue;
        count_children(*me.task);   // the thread that ends the last one has to see that it is
        me.team->waiters.wait([&] { return holds() || may_find_task(me, under); });
    }
}

}   // namespace weft_openmp
