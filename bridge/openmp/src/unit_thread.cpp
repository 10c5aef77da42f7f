#include "unit_thread.hpp"

#include <pthread.h>
#include <utility>

#include <weft/guest.h>
#include <weft/local.h>
#include <weft/unit.h>

#include "fatal.hpp"
#include "records.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

Records<Thread> records;

[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { records.forget_in_child(); });

Thread& take_record() {
    if (Thread* const record = records.take()) return *record;
    auto* const made = new Thread;
    made->native = true;
    made->foreign = false;
    return *made;
}

void give_record(Thread& record) {
    record.shown.belong_to_nobody();
    records.give(record);
}

// Whether nothing is kept there but control variables: a routine that waits outside of regions, and goes on with the record then, is not among those.
bool is_at_rest(const Thread& thread) {
    const Task& task = *thread.task;
    return thread.depth == 0 && thread.aparts_begun == 0 && &task == &thread.slot->implicit && task.group == nullptr && task.dependences == nullptr &&
           !thread.team->tasked.load(std::memory_order_relaxed) && !thread.slot->loop.taken;   // relaxed: its own
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
    if (value != nullptr && value->what == OfUnit::What::native && value->thread != nullptr && is_at_rest(*value->thread)) detach(*value);
}

void returns(void* raw) {
    if (raw != nullptr) return set_words(static_cast<OfUnit*>(raw)->thread);
    Thread* const own = weft_thread_local_own() ? thread_of_os_thread() : nullptr;
    set_words(own);
    if (own != nullptr) let_follow_primary(*own);
}

// Its unit ends. The primary unit's OS thread goes on.
void ends(void* raw) {
    auto* const value = static_cast<OfUnit*>(raw);
    if (value->what == OfUnit::What::native) {
        set_words(nullptr);
        if (value->thread != nullptr && is_at_rest(*value->thread)) detach(*value);
    }
    delete value;
}

std::atomic<const weft_key*> made_key{nullptr};   // for those who look whether there is one

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

}  // namespace

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
    if (self == nullptr || self == weft_carrier_guest() || of_os_thread.member || weft_unit_self_kind() == WEFT_KIND_HOSTED || of_calling_unit() != nullptr) return;
    be_of_unit(new OfUnit{OfUnit::What::os_thread, &of_os_thread});
}

namespace {

// Goes with the process: schedulers that meet OpenMP are few.
thread_local constinit Thread* scheduler_here [[gnu::tls_model("initial-exec")]] = nullptr;

}  // namespace

Thread& thread_of_scheduler() {
    if (scheduler_here == nullptr) {
        scheduler_here = new Thread;
        scheduler_here->foreign = false;
        scheduler_here->stands = true;
    }
    return *scheduler_here;
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
    if (std::exchange(me.stays, false)) weft_unit_unbind(me.former_pool);   // which may let others run, and they use this record
}

}  // namespace weft_openmp
