// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A future counts the pointers that are set, and is ready when it has all of them and its callback
// has returned. Weft's own future cannot be reset.
#include <atomic>
#include <new>

#include "common.hpp"
#include "tool.hpp"

namespace weft::argobots {
namespace {

struct Future {
    weft_event ready = WEFT_EVENT_INIT;
    void (*const callback)(void** values);
    const std::uint32_t compartments;
    std::atomic<std::uint32_t> taken{0};    // compartments claimed by a setter
    std::atomic<std::uint32_t> filled{0};   // compartments that are filled

    void** values() { return reinterpret_cast<void**>(this + 1); }

    static std::size_t bytes(std::uint32_t compartments) {
        return sizeof(Future) + sizeof(void*) * std::size_t{compartments};
    }

    // False: all compartments are taken.
    bool take(std::uint32_t& index) {
        // relaxed, like the exchange: a compartment has one setter; `filled` orders the rest
        index = taken.load(std::memory_order_relaxed);
        do {
            if (index == compartments) return false;
        } while (!taken.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
        return true;
    }
};
static_assert(sizeof(Future) % alignof(void*) == 0, "the values lie behind it");

Future* to_future(ABT_future future) { return reinterpret_cast<Future*>(future); }

}   // namespace
}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_future_create(uint32_t num_compartments, void (*cb_func)(void** arg), ABT_future* newfuture) {
    void* memory = operator new(Future::bytes(num_compartments), std::nothrow);
    if (memory == nullptr) return ABT_ERR_MEM;
    auto* future = new (memory) Future{.callback = cb_func, .compartments = num_compartments};
    if (num_compartments == 0) weft_event_set(&future->ready, nullptr);
    *newfuture = reinterpret_cast<ABT_future>(future);
    return ABT_SUCCESS;
}

int ABT_future_free(ABT_future* future) {
    if (is_null_at(future)) return ABT_ERR_INV_FUTURE;
    operator delete(*future);
    *future = ABT_FUTURE_NULL;
    return ABT_SUCCESS;
}

int ABT_future_wait(ABT_future future) {
    if (is_null(future)) return ABT_ERR_INV_FUTURE;
    if (caller() == Caller::tasklet) return ABT_ERR_FUTURE;
    if (weft_event_test(&to_future(future)->ready, nullptr) == WEFT_OK) return ABT_SUCCESS;
    const WaitsAt at(ABT_SYNC_EVENT_TYPE_FUTURE, future);
    return weft_event_wait(&to_future(future)->ready, nullptr) == WEFT_OK ? ABT_SUCCESS : ABT_ERR_FUTURE;
}

int ABT_future_test(ABT_future future, ABT_bool* is_ready) {
    if (is_null(future)) return ABT_ERR_INV_FUTURE;
    *is_ready = to_bool(weft_event_test(&to_future(future)->ready, nullptr) == WEFT_OK);
    return ABT_SUCCESS;
}

int ABT_future_set(ABT_future future, void* value) {
    if (is_null(future)) return ABT_ERR_INV_FUTURE;
    Future& of = *to_future(future);
    std::uint32_t index = 0;
    if (!of.take(index)) return ABT_ERR_FUTURE;
    of.values()[index] = value;
    // unless this setter is the last, the future may be freed as soon as this setter is counted
    const std::uint32_t compartments = of.compartments;
    // acq_rel: pairs with itself; the setter that fills the last compartment observes all values.
    if (of.filled.fetch_add(1, std::memory_order_acq_rel) + 1 != compartments) return ABT_SUCCESS;
    if (of.callback != nullptr) of.callback(of.values());
    weft_event_set(&of.ready, nullptr);   // the waiters may free it
    return ABT_SUCCESS;
}

int ABT_future_reset(ABT_future future) {
    if (is_null(future)) return ABT_ERR_INV_FUTURE;
    Future& of = *to_future(future);
    if (of.compartments == 0) return ABT_SUCCESS;   // always ready
    // relaxed, both: no caller sets or waits at the same time; whatever lets later callers proceed
    // orders this store before their calls.
    of.taken.store(0, std::memory_order_relaxed);
    of.filled.store(0, std::memory_order_relaxed);
    weft_event_reset(&of.ready);
    return ABT_SUCCESS;
}

}   // extern "C"
