// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xstream.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "affinity.hpp"
#include "info.hpp"
#include "init.hpp"
#include "pool.hpp"
#include "record.hpp"

namespace weft::argobots {
namespace {

Lock list_lock;   // guards the list, which is sorted by rank
Xstream* all = nullptr;

// Requires the lock.
void put_in(Xstream& xstream, int rank) {
    Xstream** at = &all;
    while (*at != nullptr && (*at)->rank < rank) at = &(*at)->next;
    xstream.rank = rank;
    xstream.next = *at;
    *at = &xstream;
}

// Enters the list with a rank; if that is negative, with the smallest free one. False: the rank is
// taken.
bool enlist(Xstream& xstream, int rank) {
    const ListGuard guard;
    Xstream** at = &all;
    if (rank < 0) {
        for (rank = 0; *at != nullptr && (*at)->rank == rank; at = &(*at)->next) ++rank;
    } else {
        while (*at != nullptr && (*at)->rank < rank) at = &(*at)->next;
        if (*at != nullptr && (*at)->rank == rank) return false;
    }
    put_in(xstream, rank);
    return true;
}

// Requires the lock.
void take_out(const Xstream& xstream) {
    for (Xstream** at = &all; *at != nullptr; at = &(*at)->next) {
        if (*at != &xstream) continue;
        *at = xstream.next;
        return;
    }
}

void unlist(const Xstream& xstream) {
    const ListGuard guard;
    take_out(xstream);
}

// False: another stream has that rank.
bool move_in_list(Xstream& xstream, int rank) {
    const ListGuard guard;
    for (const Xstream* at = all; at != nullptr; at = at->next) {
        if (at->rank == rank) return false;
    }
    take_out(xstream);
    put_in(xstream, rank);
    return true;
}

int begin_stream(Xstream& xstream) {
    char name[16];
    std::snprintf(name, sizeof name, "ES/%d", xstream.rank);
    weft_stream_options how{};
    how.size = sizeof how;
    how.sched = xstream.sched->handle;
    how.name = name;
    how.data = &xstream;
    xstream.cancelled.store(false);
    xstream.sched->xstream = &xstream;
    weft_stream* stream = nullptr;
    const weft_status status = weft_stream_create(&how, &stream);
    if (status != WEFT_OK) return status == WEFT_BUSY ? ABT_ERR_INV_SCHED : from_weft(status);
    // Its scheduler already runs, and may have asked for its end before the stream was known here.
    // It may also have been replaced; the former scheduler is freed only after this lock has been
    // taken.
    bool ends = false, at_once = false;
    {
        const ListGuard guard;
        xstream.stream = stream;
        at_once = xstream.sched->exit.load();
        ends = at_once || xstream.sched->finish.load();
    }
    if (ends) ask_to_end(xstream, at_once);
    enter_dumps(stream);
    bind_as_asked(xstream);
    return ABT_SUCCESS;
}

// Creates a record and its stream, which owns this scheduler if the call succeeds.
int create(Sched& sched, int rank, ABT_xstream* made) {
    if (const int error = begin_use(sched, Sched::Use::main); error != ABT_SUCCESS) return error;
    auto* xstream = new (std::nothrow) Xstream;
    int error = xstream == nullptr ? ABT_ERR_MEM : ABT_SUCCESS;
    if (error == ABT_SUCCESS && !enlist(*xstream, rank)) {
        delete xstream;
        xstream = nullptr;
        error = ABT_ERR_INV_XSTREAM_RANK;
    }
    if (error == ABT_SUCCESS) {
        xstream->sched = &sched;
        error = begin_stream(*xstream);
    }
    if (error != ABT_SUCCESS) {
        if (xstream != nullptr) unlist(*xstream);
        delete xstream;
        end_use(sched);
        return error;
    }
    *made = xstream->abt();
    return ABT_SUCCESS;
}

// Uses the given scheduler, or a basic one with its own pool.
int create_with(ABT_sched given, int rank, ABT_xstream* made) {
    *made = ABT_XSTREAM_NULL;
    if (!is_null(given)) return create(*to_sched(given), rank, made);
    int error = ABT_SUCCESS;
    Sched* sched = create_predef(ABT_SCHED_DEFAULT, 0, nullptr, ABT_SCHED_CONFIG_NULL, &error);
    if (sched == nullptr) return error;
    error = create(*sched, rank, made);
    if (error != ABT_SUCCESS) discard_sched(*sched, nullptr);
    return error;
}

// ---- the end ------------------------------------------------------------------------------------

// The end waits for units that are suspended, or that wait in a pool which only this stream runs.
// They are not counted, since a count would cost each suspension an atomic addition.
bool units_left(const Sched& sched) {
    for (int i = 0; i < sched.count; ++i) {
        if (sched.pools[i]->scheds.load() == 1 && count_alive(*sched.pools[i]) != 0) return true;
    }
    return false;
}

void wait_for_units(Xstream& xstream) {
    constexpr std::uint64_t first_ns = 20'000, most_ns = 5'000'000;
    for (std::uint64_t pause_ns = first_ns;
         !xstream.cancelled.load() && !xstream.terminated() && units_left(*xstream.sched);) {
        weft_sleep_for(pause_ns);
        if (pause_ns < most_ns) pause_ns *= 2;
    }
}

void end_now(Xstream& xstream) {
    wait_for_units(xstream);
    {
        const ListGuard guard;
        xstream.freeing = true;
    }
    leave_dumps(xstream.stream);
    weft_stream_join_free(xstream.stream);
    const ListGuard guard;
    xstream.stream = nullptr;
    xstream.freeing = false;
}

int join(Xstream& xstream) {
    weft_mutex_lock(&xstream.joining);
    if (xstream.stream != nullptr) end_now(xstream);
    weft_mutex_unlock(&xstream.joining);
    return ABT_SUCCESS;
}

// A tasklet cannot suspend: its stream blocks meanwhile.
int join_by_thread(Xstream& xstream) {
    pthread_t thread;
    const auto body = [](void* raw) -> void* {
        join(*static_cast<Xstream*>(raw));
        return nullptr;
    };
    if (pthread_create(&thread, nullptr, body, &xstream) != 0) return ABT_ERR_SYS;
    pthread_join(thread, nullptr);
    return ABT_SUCCESS;
}

// A ULT of the ending stream itself waits while the stream ends, and resumes on another stream that
// draws from its pool.
struct Farewell {
    Xstream& xstream;
    weft_event over = WEFT_EVENT_INIT;
};

int join_own(Xstream& xstream) {
    Farewell farewell{xstream};
    pthread_t thread;
    const auto body = [](void* raw) -> void* {
        auto& of = *static_cast<Farewell*>(raw);
        join(of.xstream);
        weft_event_set(&of.over, nullptr);
        return nullptr;
    };
    if (pthread_create(&thread, nullptr, body, &farewell) != 0) return ABT_ERR_SYS;
    weft_event_wait(&farewell.over, nullptr);
    pthread_join(thread, nullptr);
    return ABT_SUCCESS;
}

// Whether a scheduler other than this stream's has the caller's pool.
bool others_run_caller() {
    const Pool* pool = pool_of(pool_of_unit(weft_unit_self()));
    return pool != nullptr && pool->scheds.load() > 1;
}

int may_end(ABT_xstream xstream) {
    return is_null(xstream) || to_xstream(xstream)->primary ? ABT_ERR_INV_XSTREAM : ABT_SUCCESS;
}

int join_from(Caller who, Xstream& xstream) {
    if (who == Caller::tasklet) return join_by_thread(xstream);
    return &xstream == this_xstream() ? join_own(xstream) : join(xstream);
}

void drop(Xstream* xstream) {
    unlist(*xstream);
    Sched& sched = *xstream->sched;
    end_use(sched);
    if (sched.automatic) free_sched(sched);
    delete xstream;
}

}   // namespace

ListGuard::ListGuard() { list_lock.lock(); }
ListGuard::~ListGuard() { list_lock.unlock(); }
Xstream* ListGuard::first() { return all; }

bool Xstream::terminated() const {
    if (this == this_xstream()) return false;
    const ListGuard guard;
    bool ended = stream == nullptr;
    if (!ended && !freeing) weft_stream_ended_get(stream, &ended);
    return ended;
}

Xstream* adopt_primary(weft_stream* stream, Sched& sched) {
    auto* xstream = new (std::nothrow) Xstream;
    if (xstream == nullptr) return nullptr;
    xstream->stream = stream;
    xstream->sched = &sched;
    xstream->primary = true;
    enter_dumps(stream);
    sched.xstream = xstream;
    weft_stream_data_set(stream, xstream);
    enlist(*xstream, 0);
    return xstream;
}

Xstream* primary_xstream() {
    const ListGuard guard;
    Xstream* at = all;
    while (at != nullptr && !at->primary) at = at->next;
    return at;
}

void ask_to_end(Xstream& xstream, bool at_once) {
    if (xstream.primary) return;
    if (at_once) xstream.cancelled.store(true);
    const ListGuard guard;
    // otherwise begin_stream() does it, or the stream has ended
    if (weft_stream* stream = xstream.now()) weft_stream_stop(stream, at_once);
}

int count_xstreams() {
    int count = 0;
    each_xstream([&](const Xstream&) { ++count; });
    return count;
}

namespace {

// The old scheduler first runs all units of the pools that the new scheduler does not have.
bool something_left(const Sched& old, const Sched& next) {
    for (int i = 0; i < old.count; ++i) {
        const Pool& pool = *old.pools[i];
        if (next.has(pool.handle) || pool.scheds.load() > 1) continue;
        if (pool.size() != 0) return true;
    }
    return false;
}

// Returns the former scheduler. A thread that traverses the list sees either one, and neither is
// freed meanwhile.
Sched* put_sched(Xstream& xstream, Sched& sched) {
    const ListGuard guard;
    return std::exchange(xstream.sched, &sched);
}

void retire(Sched& old) {
    while (end_use(old) == WEFT_BUSY) weft_unit_yield();   // its stream has not released it yet
    if (old.automatic) free_sched(old);
}

}   // namespace

int replace_sched(Xstream& xstream, Sched& sched) {
    if (const int error = begin_use(sched, Sched::Use::main); error != ABT_SUCCESS) return error;
    sched.xstream = &xstream;
    if (&xstream != this_xstream()) {   // it has ended
        retire(*put_sched(xstream, sched));
        return ABT_SUCCESS;
    }
    weft_unit* const self = weft_unit_self();
    while (something_left(*xstream.sched, sched)) weft_unit_yield();
    // There is no switch from here to the yield below, so that several units replace the scheduler
    // one after another.
    Sched* const old = xstream.sched;
    weft_pool* const mine = pool_of_unit(self);
    const bool moves = old->has(mine) && sched.count != 0 && !sched.has(mine);
    if (moves) {
        if (const int error = enter_pool(self, *sched.pools[0]); error != ABT_SUCCESS) {
            end_use(sched);
            return error;
        }
    }
    const weft_status status = weft_stream_sched_set(weft_stream_self(), sched.handle);
    if (status != WEFT_OK) {
        if (moves) enter_pool(self, *pool_of(mine));   // still has its unit handle if the other pool is built in
        end_use(sched);
        return status == WEFT_BUSY ? ABT_ERR_INV_SCHED : from_weft(status);
    }
    if (moves) settle_unit(self);
    put_sched(xstream, sched);
    weft_unit_yield();
    retire(*old);
    return ABT_SUCCESS;
}

void end_all_xstreams() {
    for (;;) {
        Xstream* left = nullptr;
        each_xstream([&](Xstream& xstream) {
            if (!xstream.primary) left = &xstream;
        });
        if (left == nullptr) return;
        ask_to_end(*left, true);
        join(*left);
        drop(left);
    }
}

void drop_primary() {
    Xstream* primary = primary_xstream();
    leave_dumps(primary->stream);
    unlist(*primary);
    delete primary;
}

}   // namespace weft::argobots

using namespace weft::argobots;

namespace {

int main_sched_basic(int predef, int num_pools, ABT_pool* pools, ABT_sched_config config, Sched** made) {
    if (num_pools < 0) return ABT_ERR_INV_ARG;
    if (!is_predef(predef)) return ABT_ERR_INV_SCHED_PREDEF;
    int error = ABT_SUCCESS;
    *made = create_predef(static_cast<ABT_sched_predef>(predef), num_pools, pools, config, &error);
    return error;
}

// ABT_SUCCESS if the caller can replace the scheduler of this stream, else the error that says why
// not.
int may_replace(ABT_xstream xstream) {
    if (const int error = must_be_ult(); error != ABT_SUCCESS) return error;
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    const Xstream* of = to_xstream(xstream);
    return of == this_xstream() || of->terminated() ? ABT_SUCCESS : ABT_ERR_XSTREAM_STATE;
}

// A record that has ended without a join: its Weft stream is freed first.
int replace(ABT_xstream xstream, Sched& sched) {
    Xstream& of = *to_xstream(xstream);
    if (&of != this_xstream() && of.stream != nullptr) join(of);
    return replace_sched(of, sched);
}

}   // namespace

extern "C" {

int ABT_xstream_create(ABT_sched sched, ABT_xstream* newxstream) { return create_with(sched, -1, newxstream); }

int ABT_xstream_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool* pools, ABT_sched_config config,
                             ABT_xstream* newxstream) {
    *newxstream = ABT_XSTREAM_NULL;
    Sched* sched = nullptr;
    if (const int error = main_sched_basic(predef, num_pools, pools, config, &sched); error != ABT_SUCCESS)
        return error;
    const int error = create(*sched, -1, newxstream);
    if (error != ABT_SUCCESS) discard_sched(*sched, pools);
    return error;
}

int ABT_xstream_create_with_rank(ABT_sched sched, int rank, ABT_xstream* newxstream) {
    *newxstream = ABT_XSTREAM_NULL;
    if (rank < 0) return ABT_ERR_INV_XSTREAM_RANK;
    return create_with(sched, rank, newxstream);
}

int ABT_xstream_free(ABT_xstream* xstream) {
    if (xstream == nullptr) return ABT_ERR_INV_XSTREAM;
    if (const int error = may_end(*xstream); error != ABT_SUCCESS) return error;
    if (to_xstream(*xstream) == this_xstream()) return ABT_ERR_INV_XSTREAM;
    if (const int error = join_from(caller(), *to_xstream(*xstream)); error != ABT_SUCCESS) return error;
    drop(to_xstream(*xstream));
    *xstream = ABT_XSTREAM_NULL;
    return ABT_SUCCESS;
}

int ABT_xstream_join(ABT_xstream xstream) {
    if (const int error = may_end(xstream); error != ABT_SUCCESS) return error;
    Xstream& of = *to_xstream(xstream);
    const Caller who = caller();
    const bool waits_for_itself =
        &of == this_xstream() && (who == Caller::tasklet || running_sched() == of.sched || !others_run_caller());
    return waits_for_itself ? ABT_ERR_INV_XSTREAM : join_from(who, of);
}

int ABT_xstream_revive(ABT_xstream xstream) {
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    Xstream& of = *to_xstream(xstream);
    if (!of.terminated()) return ABT_ERR_INV_XSTREAM;
    weft_mutex_lock(&of.joining);
    int error = ABT_ERR_INV_XSTREAM;
    if (of.terminated()) {
        if (of.stream != nullptr) end_now(of);   // it was cancelled, and never joined
        of.sched->finish.store(false);
        of.sched->exit.store(false);
        error = begin_stream(of);
    }
    weft_mutex_unlock(&of.joining);
    return error;
}

int ABT_xstream_exit(void) {
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    if (const int error = must_be_ult(); error != ABT_SUCCESS) return error;
    Xstream* const self = this_xstream();
    if (self == nullptr || self->primary) return ABT_ERR_INV_XSTREAM;   // null: not a stream of the bridge
    Xstream& of = *self;
    ABT_bool is_primary = ABT_FALSE;
    ABT_thread_is_primary(to_thread(weft_unit_self()), &is_primary);
    if (is_primary == ABT_TRUE) return ABT_ERR_INV_THREAD;
    of.sched->exit.store(true);
    ask_to_end(of, true);
    return weft_unit_exit() == WEFT_OK ? ABT_SUCCESS : ABT_ERR_INV_THREAD;
}

int ABT_xstream_cancel(ABT_xstream xstream) {
    if (is_null(xstream) || to_xstream(xstream)->primary) return ABT_ERR_INV_XSTREAM;
    to_xstream(xstream)->sched->exit.store(true);
    ask_to_end(*to_xstream(xstream), true);
    return ABT_SUCCESS;
}

int ABT_self_get_xstream(ABT_xstream* xstream) {
    Xstream* self = this_xstream();
    if (self == nullptr) return ABT_ERR_INV_XSTREAM;
    *xstream = self->abt();
    return ABT_SUCCESS;
}

int ABT_self_get_xstream_rank(int* rank) {
    const Xstream* self = this_xstream();
    if (self == nullptr) return ABT_ERR_INV_XSTREAM;
    *rank = self->rank;
    return ABT_SUCCESS;
}

int ABT_xstream_self(ABT_xstream* xstream) {
    *xstream = ABT_XSTREAM_NULL;
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    return ABT_self_get_xstream(xstream);
}

int ABT_xstream_self_rank(int* rank) {
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    return ABT_self_get_xstream_rank(rank);
}

int ABT_xstream_set_rank(ABT_xstream xstream, int rank) {
    if (is_null(xstream) || to_xstream(xstream)->primary) return ABT_ERR_INV_XSTREAM;
    if (rank < 0) return ABT_ERR_INV_XSTREAM_RANK;
    Xstream& of = *to_xstream(xstream);
    if (of.rank == rank) return ABT_SUCCESS;
    if (!move_in_list(of, rank)) return ABT_ERR_INV_XSTREAM_RANK;
    if (of.stream != nullptr) bind_as_asked(of);
    return ABT_SUCCESS;
}

int ABT_xstream_get_rank(ABT_xstream xstream, int* rank) {
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    *rank = to_xstream(xstream)->rank;
    return ABT_SUCCESS;
}

int ABT_xstream_set_main_sched(ABT_xstream xstream, ABT_sched sched) {
    if (const int error = may_replace(xstream); error != ABT_SUCCESS) return error;
    if (!is_null(sched)) return replace(xstream, *to_sched(sched));
    Sched* made = nullptr;
    if (const int error = main_sched_basic(ABT_SCHED_DEFAULT, 0, nullptr, ABT_SCHED_CONFIG_NULL, &made);
        error != ABT_SUCCESS)
        return error;
    const int error = replace(xstream, *made);
    if (error != ABT_SUCCESS) discard_sched(*made, nullptr);
    return error;
}

int ABT_xstream_set_main_sched_basic(ABT_xstream xstream, ABT_sched_predef predef, int num_pools, ABT_pool* pools) {
    if (const int error = may_replace(xstream); error != ABT_SUCCESS) return error;
    Sched* made = nullptr;
    if (const int error = main_sched_basic(predef, num_pools, pools, ABT_SCHED_CONFIG_NULL, &made);
        error != ABT_SUCCESS)
        return error;
    const int error = replace(xstream, *made);
    if (error != ABT_SUCCESS) discard_sched(*made, pools);
    return error;
}

int ABT_xstream_get_main_sched(ABT_xstream xstream, ABT_sched* sched) {
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    *sched = to_xstream(xstream)->sched->abt();
    return ABT_SUCCESS;
}

int ABT_xstream_get_main_pools(ABT_xstream xstream, int max_pools, ABT_pool* pools) {
    if (max_pools < 0) return ABT_ERR_INV_ARG;
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    const Sched& sched = *to_xstream(xstream)->sched;
    for (int i = 0; i < max_pools && i < sched.count; ++i) pools[i] = sched.pools[i]->abt();
    return ABT_SUCCESS;
}

int ABT_xstream_get_state(ABT_xstream xstream, ABT_xstream_state* state) {
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    *state = to_xstream(xstream)->terminated() ? ABT_XSTREAM_STATE_TERMINATED : ABT_XSTREAM_STATE_RUNNING;
    return ABT_SUCCESS;
}

int ABT_xstream_equal(ABT_xstream xstream1, ABT_xstream xstream2, ABT_bool* result) {
    *result = to_bool(xstream1 == xstream2);
    return ABT_SUCCESS;
}

int ABT_xstream_get_num(int* num_xstreams) {
    *num_xstreams = 0;
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    *num_xstreams = count_xstreams();
    return ABT_SUCCESS;
}

int ABT_xstream_is_primary(ABT_xstream xstream, ABT_bool* is_primary) {
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    *is_primary = to_bool(to_xstream(xstream)->primary);
    return ABT_SUCCESS;
}

}   // extern "C"
