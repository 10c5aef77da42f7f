// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit_thread.hpp"

#include <pthread.h>
#include <algorithm>
#include <utility>

#include <weft/guest.h>
#include <weft/hart.h>
#include <weft/io.h>
#include <weft/local.h>
#include <weft/unit.h>

#include "fatal.hpp"
#include "members.hpp"
#include "records.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

Records<Thread> with_members, without;

// Units that are about to begin their outermost regions, and wait for members that other units have
// now. One of them checks whether those make progress.
struct Turnstile {
    Sleepers waiting;
    std::atomic<bool> looked_after{false};
    std::atomic<std::uint32_t> passed{0};   // changes while records with members come back, as regions end
    std::atomic<unsigned> members{0};       // members that native units have begun
    std::atomic<unsigned> room{0};          // members that they may begin, if more than room() says
};
Turnstile turnstile;

[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    with_members.forget_in_child();
    without.forget_in_child();
    forget_members_of_units();
});

unsigned members_of(const Thread& record) {
    return record.team_pools.size() == 1 ? 0 : static_cast<unsigned>(record.team_pools[1]->slots.size()) - 1;
}

Records<Thread>& list_for(const Thread& record) { return members_of(record) == 0 ? without : with_members; }

Thread& take_record() {
    if (Thread* const record = with_members.take()) return *record;
    if (Thread* const record = without.take()) return *record;
    auto* const made = new Thread;
    made->native = made->ends_early = true;
    made->foreign = false;
    return *made;
}

void give_record(Thread& record) {
    record.shown.belong_to_nobody();
    Records<Thread>& list = list_for(record);
    list.give(record);   // it may be another unit's from here on
    if (&list == &without) return;
    // relaxed, all: a hint, and a waiter that misses it checks once more
    turnstile.passed.store(turnstile.passed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    turnstile.waiting.wake_one();
}

// Takes the team pools of a record that no unit has, if it has more members. The caller's own go to
// that record.
bool takes_others_team_pools(Thread& me) {
    Thread* const other = with_members.take();
    if (other == nullptr) return false;
    const bool has_more = members_of(*other) > members_of(me);
    if (has_more) {
        me.team_pools.swap(other->team_pools);
        std::swap(me.team_pools[0], other->team_pools[0]);
    }
    list_for(*other).give(*other);
    return has_more;
}

// As many as keep the harts busy. More would only take threads of the system, and the time to start
// them. relaxed, as below: a number
unsigned room() {
    return std::max(
        {16U, 8 * static_cast<unsigned>(weft_hart_limit()), turnstile.room.load(std::memory_order_relaxed)});
}
bool has_room() { return turnstile.members.load(std::memory_order_relaxed) < room(); }

// Called by one of the waiting units. False: no region has ended for so long that their units may
// wait for what these units are to do in theirs.
bool others_get_on() {
    constexpr unsigned most_looks = 20, most_idle = 5;   // idle: no member waits for a hart
    constexpr std::uint64_t between_looks_ns = 1'000'000;
    const std::uint32_t before = turnstile.passed.load(std::memory_order_relaxed);
    for (unsigned looks = 0, idle = 0; looks < most_looks && idle < most_idle; ++looks) {
        if (weft_sleep_for(between_looks_ns) != WEFT_OK) return false;
        if (turnstile.passed.load(std::memory_order_relaxed) != before || has_room()) return true;
        idle = members_are_behind() ? 0 : idle + 1;
    }
    return false;
}

// Whether the record keeps nothing but control variables. A routine that waits outside of regions
// goes on with the record afterwards, so the record is not at rest then.
bool is_at_rest(const Thread& thread) {
    const Task& task = *thread.task;
    return thread.depth == 0 && thread.aparts_begun == 0 && &task == &thread.slot->implicit && task.group == nullptr &&
           task.dependences == nullptr && !thread.team->tasked.load(std::memory_order_relaxed) &&
           !thread.slot->loop.taken;   // relaxed: its own
}

Thread& attach(OfUnit& value) {
    Thread& record = take_record();
    record.stand_alone();
    record.team->icv = record.slot->implicit.icv = value.icv;
    record.stands = weft_unit_self_kind() == WEFT_KIND_RTC;
    record.shown.belong_to_this_unit();
    value.thread = &record;
    record.unit = &value;
    return record;
}

void detach(OfUnit& value) {
    value.icv = value.thread->slot->implicit.icv;
    give_record(*value.thread);
    value.thread = nullptr;
}

void leaves(void* raw) {
    set_words(nullptr);
    auto* const value = static_cast<OfUnit*>(raw);
    if (value != nullptr && value->what == OfUnit::What::native && value->thread != nullptr &&
        is_at_rest(*value->thread))
        detach(*value);
}

void returns(void* raw) {
    if (raw != nullptr) return set_words(static_cast<OfUnit*>(raw)->thread);
    Thread* const own = weft_thread_local_own() ? thread_of_os_thread() : nullptr;
    set_words(own);
    if (own != nullptr) let_follow_primary(*own);
}

// Its unit ends. After the primary unit the OS thread goes on.
void ends(void* raw) {
    auto* const value = static_cast<OfUnit*>(raw);
    if (value->what == OfUnit::What::native) {
        set_words(nullptr);
        if (value->thread != nullptr && is_at_rest(*value->thread)) detach(*value);
    }
    delete value;
}

std::atomic<const weft_key*> made_key{nullptr};   // for code that checks whether there is one

const weft_key* key() {
    static const weft_key* const made = [] {
        weft_key_options options{};
        options.size = sizeof options;
        options.destructor = ends;
        options.leaves = leaves;
        options.returns = returns;
        weft_key* one = nullptr;
        const weft_status status = weft_key_create_with(&options, &one);
        if (status != WEFT_OK) fatal("cannot tell units apart", status);
        made_key.store(one);
        return one;
    }();
    return made;
}

OfUnit* of_calling_unit() { return static_cast<OfUnit*>(weft_local_get(key())); }

}   // namespace

void be_of_unit(OfUnit* value) {
    const weft_status status = weft_local_set(key(), value);
    if (status != WEFT_OK) fatal("Thread creation failed", status);
}

Thread* thread_that_forked() {
    const weft_key* const made = made_key.load();
    const auto* const value = made == nullptr ? nullptr : static_cast<OfUnit*>(weft_local_get(made));
    return value != nullptr && value->what == OfUnit::What::native ? value->thread : nullptr;
}

Thread* thread_of_unit() {
    OfUnit* value = of_calling_unit();
    if (value == nullptr) {
        if (weft_thread_local_own() || weft_unit_self() == nullptr) return nullptr;
        value = new OfUnit;
        value->icv = environment().initial;
        be_of_unit(value);
    }
    return value->thread != nullptr ? value->thread : &attach(*value);
}

void let_follow_primary(Thread& of_os_thread) {
    const weft_unit* const self = weft_unit_self();
    if (self == nullptr || self == weft_guest_here() || of_os_thread.member ||
        weft_unit_self_kind() == WEFT_KIND_HOSTED || of_calling_unit() != nullptr)
        return;
    be_of_unit(new OfUnit{OfUnit::What::os_thread, &of_os_thread});
}

namespace {

// Goes with the process: few schedulers meet OpenMP.
thread_local constinit Thread* scheduler_here [[gnu::tls_model("initial-exec")]] = nullptr;

}   // namespace

Thread& thread_of_scheduler() {
    if (scheduler_here == nullptr) {
        scheduler_here = new Thread;
        scheduler_here->foreign = false;
        scheduler_here->stands = true;
    }
    return *scheduler_here;
}

void come_by_members(Thread& me, unsigned size) {
    // A unit that has some members gives none back while it waits, so it goes on.
    while (!takes_others_team_pools(me) && members_of(me) == 0 && !has_room()) {
        if (turnstile.looked_after.exchange(true)) {
            turnstile.waiting.sleep([] { return !turnstile.looked_after.load() || with_members.any() || has_room(); });
            continue;
        }
        if (!others_get_on()) {
            turnstile.room.store(2 * room(), std::memory_order_relaxed);
            turnstile.waiting.wake();
        }
        turnstile.looked_after.store(false);
    }
    turnstile.waiting.wake_one();   // another unit checks on the others now
    // relaxed: a number
    if (const unsigned members = members_of(me); members < size - 1)
        turnstile.members.fetch_add(size - 1 - members, std::memory_order_relaxed);
}

void forget_members_of_units() {
    turnstile.waiting.forget();
    turnstile.looked_after.store(false);
    turnstile.members.store(0);
    turnstile.room.store(0);
}

void set_words(Thread* thread) {
    if (tasks_are_units) return;   // they stay empty; and a member's slot may be another region's at this moment
    this_thread_or_null = thread;
    thread_in_region = thread != nullptr && (thread->depth != 0 || thread->of_unit) ? this_thread_or_null : nullptr;
    if (thread != nullptr && !thread->of_unit) go_on_in_loop(*thread->slot);
    else simple_loop = nullptr;
}

void begin_to_stay(Thread& me) {
    count(me.counts.of_units);
    if (me.stands || weft_unit_bind(&me.former_pool) != WEFT_OK) return;
    me.stays = true;
}

void end_stay(Thread& me) {
    // unbind may let other units run, and they use this record
    if (std::exchange(me.stays, false)) weft_unit_unbind(me.former_pool);
}

}   // namespace weft_openmp
