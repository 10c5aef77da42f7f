// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sched.hpp"

#include <new>

#include "info.hpp"
#include "init.hpp"
#include "record.hpp"
#include "xstream.hpp"

namespace weft::argobots {
namespace {

Sched& of(void* self) { return *static_cast<Sched*>(self); }

// Takes a unit from the first non-empty pool, strictly: a less important pool is used only when all
// pools before it are empty.
weft_unit* pick_in_order(void* self, weft_sched*) {
    const Sched& sched = of(self);
    for (int i = 0; i < sched.count; ++i) {
        weft_unit* unit = nullptr;
        if (weft_pool_pop(sched.pools[i]->handle, &unit) == WEFT_OK && unit != nullptr) return unit;
    }
    return nullptr;
}

void run_custom(void* self, weft_sched*) {
    Sched& sched = of(self);
    if (Record* record = obtain_record(weft_unit_self())) record->sched = &sched;
    sched.def.run(sched.abt());
}

// A stacked scheduler has returned for the last time.
void stacked_ended(void* self) {
    Sched& sched = of(self);
    sched.handle = nullptr;
    sched.finish.store(false);
    sched.exit.store(false);
    sched.use.store(Sched::Use::none);
    if (sched.automatic) free_sched(sched);
}

weft_sched_kind built_in_kind(ABT_sched_predef predef) {
    switch (predef) {
    case ABT_SCHED_RANDWS: return WEFT_SCHED_RANDOM_STEAL;
    case ABT_SCHED_BASIC_WAIT: return WEFT_SCHED_BASIC_WAIT;
    default: return WEFT_SCHED_BASIC;
    }
}

weft_status make_handle(Sched& sched, Sched::Use use, weft_pool* const* pools, std::size_t count) {
    const bool ours = sched.custom || sched.predef == ABT_SCHED_PRIO || use == Sched::Use::stacked;
    if (!ours) return weft_sched_create(built_in_kind(sched.predef), pools, count, &sched.handle);
    weft_sched_ops ops{};
    ops.size = sizeof ops;
    if (sched.custom) {
        ops.run = run_custom;
    } else {
        ops.pick = pick_in_order;
    }
    if (use == Sched::Use::stacked) ops.destroy = stacked_ended;
    return weft_sched_create_user(&ops, &sched, pools, count, &sched.handle);
}

bool is_given(const ABT_pool* pools, int i) { return pools != nullptr && !is_null(pools[i]); }

// Makes a scheduler and its pools. Null: no memory.
Sched* make_sched(int count, const ABT_pool* pools) {
    auto* sched = new (std::nothrow) Sched;
    if (sched == nullptr) return nullptr;
    if (count > 0) {
        sched->pools = new (std::nothrow) Pool* [static_cast<std::size_t>(count)] {};
        if (sched->pools == nullptr) {
            delete sched;
            return nullptr;
        }
    }
    sched->count = count;
    for (int i = 0; i < count; ++i) {
        sched->pools[i] =
            is_given(pools, i) ? pool_of(pools[i]) : create_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, true);
        if (sched->pools[i] == nullptr) {
            discard_sched(*sched, pools);
            return nullptr;
        }
        claim_pool(*sched->pools[i]);
    }
    return sched;
}

bool automatic_by(ABT_sched_config config, bool standard) {
    int automatic = standard ? ABT_TRUE : ABT_FALSE;
    if (!is_null(config)) ABT_sched_config_get(config, ABT_sched_config_automatic.idx, nullptr, &automatic);
    return automatic != ABT_FALSE;
}

}   // namespace

bool Sched::nothing_left() const {
    for (int i = 0; i < count; ++i) {
        if (pools[i]->size() != 0) return false;
    }
    for (int i = 0; i < count; ++i) {
        if (pools[i]->scheds.load() == 1 && count_blocked(*pools[i]) != 0) return false;
    }
    return true;
}

bool is_predef(int number) { return number >= ABT_SCHED_DEFAULT && number <= ABT_SCHED_BASIC_WAIT; }

Sched* create_predef(ABT_sched_predef predef, int count, const ABT_pool* pools, ABT_sched_config config, int* error) {
    if (pools == nullptr) count = predef == ABT_SCHED_PRIO ? 3 : count == 0 ? 1 : count;
    Sched* sched = make_sched(count, pools);
    if (sched == nullptr) {
        *error = ABT_ERR_MEM;
        return nullptr;
    }
    sched->predef = predef == ABT_SCHED_DEFAULT ? ABT_SCHED_BASIC : predef;
    sched->automatic = automatic_by(config, true);
    return sched;
}

int begin_use(Sched& sched, Sched::Use use) {
    Sched::Use none = Sched::Use::none;
    if (!sched.use.compare_exchange_strong(none, use)) return ABT_ERR_INV_SCHED;
    sched.finish.store(false);
    sched.exit.store(false);
    weft_status status = WEFT_OK;
    weft_pool* few[8];
    weft_pool** list = few;
    const auto count = static_cast<std::size_t>(sched.count);
    if (count > 8) list = new (std::nothrow) weft_pool*[count];
    if (list == nullptr) status = WEFT_NO_MEMORY;
    if (status == WEFT_OK && count == 0) {
        status = weft_pool_create(WEFT_POOL_SHARED, &sched.stand_in);
        few[0] = sched.stand_in;
    }
    if (status == WEFT_OK) {
        for (std::size_t i = 0; i < count; ++i) list[i] = sched.pools[i]->handle;
        status = make_handle(sched, use, list, count == 0 ? 1 : count);
    }
    if (list != few) delete[] list;
    // A main scheduler is given back when its use ends, and end_use() frees it; a stacked one ends
    // by itself.
    if (status == WEFT_OK && use == Sched::Use::main) weft_sched_owned_set(sched.handle, false);
    if (status == WEFT_OK) return ABT_SUCCESS;
    if (sched.stand_in != nullptr) weft_pool_free(sched.stand_in);
    sched.stand_in = nullptr;
    sched.handle = nullptr;
    sched.use.store(Sched::Use::none);
    return from_weft(status);
}

weft_status end_use(Sched& sched) {
    if (sched.handle != nullptr) {
        if (const weft_status status = weft_sched_free(sched.handle); status != WEFT_OK) return status;
    }
    sched.handle = nullptr;
    if (sched.stand_in != nullptr) weft_pool_free(sched.stand_in);
    sched.stand_in = nullptr;
    sched.xstream = nullptr;
    sched.use.store(Sched::Use::none);
    return WEFT_OK;
}

int free_sched(Sched& sched) {
    int error = ABT_SUCCESS;
    if (sched.custom && sched.def.free != nullptr) error = sched.def.free(sched.abt());
    for (int i = 0; i < sched.count; ++i) unclaim_pool(*sched.pools[i]);
    delete[] sched.pools;
    delete &sched;
    return error;
}

void discard_sched(Sched& sched, const ABT_pool* given) {
    for (int i = 0; i < sched.count && sched.pools[i] != nullptr; ++i) {   // null: the pool that could not be made
        if (is_given(given, i)) {
            forgo_pool(*sched.pools[i]);
        } else {
            unclaim_pool(*sched.pools[i]);
        }
    }
    delete[] sched.pools;
    delete &sched;
}

Sched* running_sched() {
    const weft_unit* self = weft_unit_self();
    const Record* record = self == nullptr ? nullptr : record_of(self);
    return record == nullptr ? nullptr : record->sched;
}

bool is_main_sched(const weft_unit* unit) {
    const Record* record = record_of(unit);
    return record != nullptr && record->sched != nullptr && record->sched->use.load() == Sched::Use::main;
}

Pool* migration_pool(Sched& sched) {
    if (sched.custom && sched.def.get_migr_pool != nullptr) {
        const ABT_pool pool = sched.def.get_migr_pool(sched.abt());
        if (!is_null(pool)) return pool_of(pool);
    }
    return sched.count == 0 ? nullptr : sched.pools[0];
}

}   // namespace weft::argobots

using namespace weft::argobots;

namespace {

// The sum of `each` over the pools; ABT_ERR_POOL: a pool has no size function.
int sum(const Sched& sched, std::size_t (*each)(const Pool& pool), size_t* size) {
    std::size_t total = 0;
    *size = 0;
    for (int i = 0; i < sched.count; ++i) {
        if (!sched.pools[i]->has_size()) return ABT_ERR_POOL;
        total += each(*sched.pools[i]);
    }
    *size = total;
    return ABT_SUCCESS;
}

}   // namespace

extern "C" {

int ABT_sched_create(ABT_sched_def* def, int num_pools, ABT_pool* pools, ABT_sched_config config, ABT_sched* newsched) {
    if (newsched == nullptr) return ABT_ERR_SCHED;
    *newsched = ABT_SCHED_NULL;
    if (num_pools < 0 || def == nullptr) return ABT_ERR_INV_ARG;
    Sched* sched = make_sched(num_pools, pools);
    if (sched == nullptr) return ABT_ERR_MEM;
    sched->custom = true;
    sched->def = *def;
    sched->automatic = automatic_by(config, false);
    if (def->init != nullptr) {
        if (const int error = def->init(sched->abt(), config); error != ABT_SUCCESS) {
            discard_sched(*sched, pools);
            return error;
        }
    }
    *newsched = sched->abt();
    return ABT_SUCCESS;
}

int ABT_sched_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool* pools, ABT_sched_config config,
                           ABT_sched* newsched) {
    *newsched = ABT_SCHED_NULL;
    if (num_pools < 0) return ABT_ERR_INV_ARG;
    if (!is_predef(predef)) return ABT_ERR_INV_SCHED_PREDEF;
    int error = ABT_SUCCESS;
    Sched* sched = create_predef(predef, num_pools, pools, config, &error);
    if (sched != nullptr) *newsched = sched->abt();
    return error;
}

int ABT_sched_free(ABT_sched* sched) {
    if (is_null_at(sched)) return ABT_ERR_INV_SCHED;
    Sched& of = *to_sched(*sched);
    if (of.use.load() != Sched::Use::none) return ABT_ERR_SCHED;
    free_sched(of);
    *sched = ABT_SCHED_NULL;
    return ABT_SUCCESS;
}

int ABT_sched_set_data(ABT_sched sched, void* data) {
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    to_sched(sched)->data = data;
    return ABT_SUCCESS;
}

int ABT_sched_get_data(ABT_sched sched, void** data) {
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    *data = to_sched(sched)->data;
    return ABT_SUCCESS;
}

int ABT_sched_get_num_pools(ABT_sched sched, int* num_pools) {
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    *num_pools = to_sched(sched)->count;
    return ABT_SUCCESS;
}

int ABT_sched_get_pools(ABT_sched sched, int max_pools, int idx, ABT_pool* pools) {
    if (max_pools < 0 || idx < 0) return ABT_ERR_INV_ARG;
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    const Sched& of = *to_sched(sched);
    if (max_pools > of.count - idx) return ABT_ERR_SCHED;
    for (int i = 0; i < max_pools; ++i) pools[i] = of.pools[idx + i]->abt();
    return ABT_SUCCESS;
}

int ABT_sched_get_size(ABT_sched sched, size_t* size) {
    if (is_null(sched)) {
        *size = 0;
        return ABT_ERR_INV_SCHED;
    }
    return sum(
        *to_sched(sched), [](const Pool& pool) { return pool.size(); }, size);
}

int ABT_sched_get_total_size(ABT_sched sched, size_t* size) {
    if (is_null(sched)) {
        *size = 0;
        return ABT_ERR_INV_SCHED;
    }
    return sum(
        *to_sched(sched), [](const Pool& pool) { return pool.size() + count_blocked(pool); }, size);
}

int ABT_sched_finish(ABT_sched sched) {
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    Sched& of = *to_sched(sched);
    of.finish.store(true);
    if (of.use.load() == Sched::Use::main) ask_to_end(*of.xstream, false);
    return ABT_SUCCESS;
}

int ABT_sched_exit(ABT_sched sched) {
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    Sched& of = *to_sched(sched);
    of.exit.store(true);
    if (of.use.load() == Sched::Use::main) ask_to_end(*of.xstream, true);
    return ABT_SUCCESS;
}

int ABT_sched_has_to_stop(ABT_sched sched, ABT_bool* stop) {
    *stop = ABT_FALSE;
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    if (weft_unit_self() == nullptr) return ABT_ERR_INV_XSTREAM;
    Sched& of = *to_sched(sched);
    const bool here = running_sched() == &of;
    if (here) {
        serve_dump_request();
        const bool should = weft_sched_check_stop(of.handle);
        // A stream that is asked to end tells its scheduler to stop. A scheduler that returned
        // earlier would be called again.
        if (should || (of.use.load() == Sched::Use::main && !of.xstream->primary)) {
            *stop = to_bool(should);
            return ABT_SUCCESS;
        }
    }
    *stop = to_bool(of.exit.load() || (of.finish.load() && of.nothing_left()));
    return ABT_SUCCESS;
}

int ABT_xstream_check_events(ABT_sched sched) {
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    if (weft_unit_self() == nullptr) return ABT_ERR_INV_XSTREAM;
    if (running_sched() != to_sched(sched)) return ABT_ERR_INV_THREAD;
    serve_dump_request();
    weft_sched_check_stop(to_sched(sched)->handle);   // serves the requests to the stream
    return ABT_SUCCESS;
}

int ABT_pool_add_sched(ABT_pool pool, ABT_sched sched) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    Sched& of = *to_sched(sched);
    if (const int error = begin_use(of, Sched::Use::stacked); error != ABT_SUCCESS) return error;
    weft_sched_push_options how{};
    how.size = sizeof how;
    how.turn = SIZE_MAX;   // until its pools are empty: units behind it in the pool wait that long
    const weft_status status = weft_sched_push(of.handle, to_weft(pool), &how, nullptr);
    if (status == WEFT_OK) return ABT_SUCCESS;
    const bool automatic = of.automatic;
    of.automatic = false;
    end_use(of);
    of.automatic = automatic;
    return status == WEFT_BUSY ? ABT_ERR_INV_SCHED : from_weft(status);
}

}   // extern "C"
