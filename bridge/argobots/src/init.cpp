// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "init.hpp"

#include <pthread.h>
#include <time.h>

#include <atomic>

#include "affinity.hpp"
#include "environment.hpp"
#include "info.hpp"
#include "key_table.hpp"
#include "pool.hpp"
#include "record.hpp"
#include "sched.hpp"
#include "thread.hpp"
#include "tool.hpp"
#include "unit_map.hpp"
#include "xstream.hpp"

namespace weft::argobots {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;   // guards `count`; held while it changes from 0 to 1 and back
int count = 0;
std::atomic<weft_unit*> primary{nullptr};
// Set if the runtime was started before ABT_init, by the program or by libgomp. It then runs on
// after ABT_finalize, and the first stream resumes its former work for others.
bool shares_runtime = false;
weft_pool* first_pool = nullptr;   // the first stream's main pool at that time

weft_settings settings_of(const Environment& from) {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 1;
    settings.pool = WEFT_POOL_SHARED;   // strictly first in, first out: programs rely on it
    settings.scheduler = WEFT_SCHED_BASIC;
    settings.kind = from.kind;
    settings.own_stacks = true;        // a program may ask a ULT for its stack
    settings.roaming_primary = true;   // the primary ULT waits in the pool with the others
    // a program knows all its streams by number, and a unit runs on one of these
    settings.rescue = WEFT_RESCUE_IGNORE;
    settings.stack_bytes = stack_bytes_for_weft(from.thread_stack_bytes);
    constexpr std::size_t least_scheduler_bytes = 32768;
    settings.scheduler_stack_bytes =
        from.sched_stack_bytes < least_scheduler_bytes ? least_scheduler_bytes : from.sched_stack_bytes;
    // Guard pages set by mprotect, if the environment asks for them by name: programs look for
    // them. Otherwise the guard that costs nothing.
    if (from.guards_asked()) settings.guard = WEFT_GUARD_MPROTECT;
    if (from.overflow_check_set && !from.guards_asked()) settings.guard = WEFT_GUARD_NONE;
    if (from.mem_max_num_stacks_set) settings.idle_memory_bytes = from.mem_max_num_stacks * from.thread_stack_bytes;
    return settings;
}

// A Weft scheduler has done this record's work, and its pool is Weft's.
void drop_first_sched(Sched* sched) {
    delete[] sched->pools;
    delete sched;
}

// Makes the records of stream 0 and of the scheduler and pool that Weft has made with it.
int adopt() {
    weft_stream* stream = weft_stream_self();
    weft_pool* main_pool = nullptr;
    weft_stream_pool_get(stream, &main_pool);
    first_pool = main_pool;
    Pool* pool = adopt_pool(main_pool);
    if (pool == nullptr) return ABT_ERR_MEM;
    pool->access = ABT_POOL_ACCESS_MPMC;
    const ABT_pool handle = pool->abt();
    int error = ABT_SUCCESS;
    Sched* sched = create_predef(ABT_SCHED_DEFAULT, 1, &handle, ABT_SCHED_CONFIG_NULL, &error);
    if (sched == nullptr) return error;
    sched->use.store(Sched::Use::main);   // Weft's scheduler does its work; it has no handle of its own
    if (adopt_primary(stream, *sched) != nullptr) return ABT_SUCCESS;
    drop_first_sched(sched);
    return ABT_ERR_MEM;
}

// Frees everything that was made.
void undo() {
    end_tools();
    if (Xstream* first = primary_xstream()) {
        Sched* sched = first->sched;
        drop_primary();
        drop_first_sched(sched);
    }
    end_records();
    free_all_pools(shares_runtime ? first_pool : nullptr);
    primary.store(nullptr);
    weft_finalize();
}

int begin() {
    const Environment now = Environment::read();
    const weft_settings settings = settings_of(now);
    shares_runtime = weft_initialized();
    if (const weft_status status = weft_init(&settings); status != WEFT_OK) {
        std::fprintf(stderr, "ABT_init: %s\n", weft_error_text());
        return status == WEFT_NO_MEMORY ? ABT_ERR_MEM : ABT_ERR_SYS;
    }
    KeyTable::first_room = now.key_table_size;
    note_process_cpus();
    primary.store(weft_unit_self());
    if (!begin_records()) {
        undo();
        return ABT_ERR_MEM;
    }
    reset_pool_ids();
    reset_ids();
    int error = adopt();
    if (error == ABT_SUCCESS) error = begin_tools(now.preserve_fpu);
    if (error != ABT_SUCCESS) {
        undo();
        return error;
    }
    bind_as_asked(*primary_xstream());
    begin_dumps();
    if (now.print_config) ABT_info_print_config(stdout);
    return ABT_SUCCESS;
}

// Runs the units that are left in the pools of the primary stream.
void run_out(const Sched& main) {
    constexpr std::uint64_t pause_ns = 100'000;
    for (;;) {
        weft_unit_yield();
        std::size_t waiting = 0;
        bool blocked = false;
        for (int i = 0; i < main.count; ++i) {
            const Pool& pool = *main.pools[i];
            waiting += pool.size();
            // The primary ULT itself belongs to one of these pools.
            const std::size_t mine = pool.handle == pool_of_unit(weft_unit_self()) ? 1 : 0;
            // units of others may wait there indefinitely
            const bool others = shares_runtime && pool.handle == first_pool;
            blocked = blocked || (!others && pool.scheds.load() == 1 && count_alive(pool) > mine);
        }
        if (waiting == 0 && !blocked) return;
        if (waiting == 0) weft_sleep_for(pause_ns);
    }
}

// weft_finalize binds the primary ULT to its stream, which needs a pool the first time. The pool is
// made now, while nothing has ended yet and a lack of memory can be reported.
weft_status prepare_end_of_runtime() {
    if (shares_runtime) return WEFT_OK;
    weft_pool* former = nullptr;
    const weft_status status = weft_unit_bind(&former);
    if (status == WEFT_OK) weft_unit_unbind(former);
    return status == WEFT_NO_MEMORY ? status : WEFT_OK;
}

// Replaces the program's scheduler by a basic one over a pool of Weft, so that the program's pools
// can be freed.
weft_status leave_programs_sched(Xstream& first) {
    if (shares_runtime && first.sched->handle == nullptr) return WEFT_OK;   // the first scheduler was never replaced
    weft_pool* pool = shares_runtime ? first_pool : nullptr;
    weft_sched* sched = nullptr;
    weft_status status = shares_runtime ? WEFT_OK : weft_pool_create(WEFT_POOL_SHARED, &pool);
    if (status == WEFT_OK) status = weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched);
    if (status == WEFT_OK && pool_of_unit(weft_unit_self()) != pool)
        status = weft_unit_pool_set(weft_unit_self(), pool);
    // it is bound: in a runtime that others have started, the primary ULT does not roam, and stays
    // in its pool
    if (status == WEFT_WRONG_STATE) status = WEFT_OK;
    if (status == WEFT_OK) status = weft_stream_sched_set(first.stream, sched);
    if (status == WEFT_OK) weft_unit_yield();
    return status;
}

bool is_on_primary() {
    const Xstream* const here = this_xstream();   // null: a thread of libgomp, or a stand-in
    return here != nullptr && here->primary;
}

// Runs the ready units, without the lock: other callers can still count uses of the runtime.
void finish_work() {
    run_out(*primary_xstream()->sched);
    // The primary ULT may have last run on another stream that draws from its pool, or on a
    // stand-in.
    constexpr std::uint64_t pause_ns = 50'000;
    for (int tries = 0; tries < 1000 && !is_on_primary(); ++tries) weft_sleep_for(pause_ns);
}

int end() {
    Xstream& first = *this_xstream();
    Sched* main = first.sched;
    end_dumps();   // while all streams still exist
    // from here on only this stream runs this ULT
    if (prepare_end_of_runtime() != WEFT_OK || leave_programs_sched(first) != WEFT_OK) {
        begin_dumps();
        return ABT_ERR_MEM;
    }
    end_all_xstreams();
    abandon_units(shares_runtime ? first_pool : nullptr);
    settle_unit(weft_unit_self());
    // The destructors of the primary ULT's values run in the primary ULT. Those of units that have
    // not ended are not called, and the program is not notified.
    if (Record* record = record_of(weft_unit_self())) record->keys.destroy_values();
    end_tools();   // needs the record of the stream
    end_records();
    drop_primary();
    while (end_use(*main) == WEFT_BUSY) weft_unit_yield();
    // All pools of the primary scheduler are freed, also those that are not automatic.
    for (int i = 0; i < main->count; ++i) main->pools[i]->automatic = true;
    free_sched(*main);
    free_all_pools(shares_runtime ? first_pool : nullptr);
    primary.store(nullptr);
    weft_finalize();
    unit_map::clear();
    return ABT_SUCCESS;
}

}   // namespace

// relaxed, in both functions: the program itself orders ABT_init before the caller
bool initialized() { return primary.load(std::memory_order_relaxed) != nullptr; }
weft_unit* primary_unit() { return primary.load(std::memory_order_relaxed); }   // only compared, never dereferenced

void block_for(std::uint64_t duration_ns) {
    const timespec time{static_cast<time_t>(duration_ns / 1'000'000'000),
                        static_cast<long>(duration_ns % 1'000'000'000)};
    nanosleep(&time, nullptr);
}

}   // namespace weft::argobots

using namespace weft::argobots;

namespace {

struct CountGuard {
    CountGuard() { pthread_mutex_lock(&lock); }
    ~CountGuard() { pthread_mutex_unlock(&lock); }
    CountGuard(const CountGuard&) = delete;

    void without(void (*call)()) const {
        pthread_mutex_unlock(&lock);
        call();
        pthread_mutex_lock(&lock);
    }
};

int begin_or_count() {
    const CountGuard guard;
    if (count == 0) {
        if (const int error = begin(); error != ABT_SUCCESS) return error;
    }
    ++count;
    return ABT_SUCCESS;
}

// ABT_SUCCESS if the caller may end the library, else the error that says why not. A primary ULT
// that a stand-in runs returns to its stream while the work is finished.
int may_end(bool finished) {
    const weft_unit* const self = weft_unit_self();
    const bool is_primary = self != nullptr && self == primary_unit();
    if (self == nullptr || (!is_on_primary() && (finished || !is_primary || this_xstream() != nullptr)))
        return ABT_ERR_INV_XSTREAM;
    return is_primary ? ABT_SUCCESS : ABT_ERR_INV_THREAD;
}

}   // namespace

extern "C" {

int ABT_init(int, char**) { return begin_or_count(); }

int ABT_finalize(void) {
    bool finished = false;
    for (;;) {
        const CountGuard guard;
        if (count == 0) return ABT_ERR_UNINITIALIZED;
        if (count > 1) {
            --count;
            return ABT_SUCCESS;
        }
        if (const int error = may_end(finished); error != ABT_SUCCESS) return error;
        if (finished) {
            const int error = end();
            if (error == ABT_SUCCESS) count = 0;
            return error;
        }
        finished = true;
        guard.without(finish_work);   // its units may count uses, too
    }
}

int ABT_initialized(void) { return initialized() ? ABT_SUCCESS : ABT_ERR_UNINITIALIZED; }

}   // extern "C"
