// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of a ULT on itself and on units that it names: yield, suspend, end, run other units as
// its children.
#include "common.hpp"
#include "pool.hpp"
#include "sched.hpp"
#include "thread.hpp"

using namespace weft::argobots;

namespace {

// Switches to a named unit by a Weft call. The caller must be a ULT and not a main scheduler, and
// so must the target.
int hand_off_to(ABT_thread thread, weft_hand_off_to to, weft_hand_off_by by) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    if (const int error = must_be_ult(); error != ABT_SUCCESS) return error;
    weft_unit* const self = weft_unit_self();
    weft_unit* const target = to_unit(thread);
    if (target == self || is_tasklet(target) || is_main_sched(self) || is_main_sched(target)) return ABT_ERR_INV_THREAD;
    if (by == WEFT_BY_EXIT && is_primary(self)) return ABT_ERR_INV_THREAD;
    switch (const weft_status status = weft_unit_hand_off(target, to, by)) {
    case WEFT_OK: return ABT_SUCCESS;
    case WEFT_WRONG_STATE: return ABT_ERR_INV_THREAD;   // not popped, or not suspended, as the call requires
    default: return from_weft(status);
    }
}

// Runs a popped unit; if a pool is named, first moves the unit there.
int run(weft_unit* unit, ABT_pool pool) {
    if (!is_null(pool) && to_weft(pool) != pool_of_unit(unit)) {
        if (const int error = set_pool(unit, *pool_of(pool)); error != ABT_SUCCESS) return error;
    }
    switch (const weft_status status = weft_unit_run(unit)) {
    case WEFT_OK: return ABT_SUCCESS;
    case WEFT_WRONG_STATE: return ABT_ERR_INV_THREAD;
    default: return from_weft(status);
    }
}

}   // namespace

extern "C" {

int ABT_self_yield(void) {
    if (weft_unit_yield() == WEFT_OK) [[likely]]
        return ABT_SUCCESS;
    return must_be_ult();
}

int ABT_self_suspend(void) {
    if (weft_unit_suspend(nullptr, nullptr) == WEFT_OK) [[likely]]
        return ABT_SUCCESS;
    return must_be_ult();
}

int ABT_self_exit(void) {
    if (const int error = must_be_ult(); error != ABT_SUCCESS) return error;
    return weft_unit_exit() == WEFT_OK ? ABT_SUCCESS : ABT_ERR_INV_THREAD;   // the primary ULT, or a scheduler
}

int ABT_self_yield_to(ABT_thread thread) { return hand_off_to(thread, WEFT_TO_POPPED, WEFT_BY_YIELD); }
int ABT_self_suspend_to(ABT_thread thread) { return hand_off_to(thread, WEFT_TO_POPPED, WEFT_BY_SUSPEND); }
int ABT_self_exit_to(ABT_thread thread) { return hand_off_to(thread, WEFT_TO_POPPED, WEFT_BY_EXIT); }
int ABT_self_resume_yield_to(ABT_thread thread) { return hand_off_to(thread, WEFT_TO_SUSPENDED, WEFT_BY_YIELD); }
int ABT_self_resume_suspend_to(ABT_thread thread) { return hand_off_to(thread, WEFT_TO_SUSPENDED, WEFT_BY_SUSPEND); }
int ABT_self_resume_exit_to(ABT_thread thread) { return hand_off_to(thread, WEFT_TO_SUSPENDED, WEFT_BY_EXIT); }

int ABT_self_schedule(ABT_thread thread, ABT_pool pool) {
    // This nearly always succeeds. If not, nothing has happened, and the code below finds the
    // reason.
    if (is_null(pool) && !is_null(thread) && weft_unit_run(to_unit(thread)) == WEFT_OK) [[likely]]
        return ABT_SUCCESS;
    if (const int error = must_be_ult(); error != ABT_SUCCESS) return error;
    return is_null(thread) ? ABT_ERR_INV_THREAD : run(to_unit(thread), pool);
}

int ABT_xstream_run_unit(ABT_unit unit, ABT_pool pool) {
    if (const int error = must_be_ult(); error != ABT_SUCCESS) return error;
    const ABT_thread thread = thread_handle(unit);
    if (is_null(thread)) return ABT_ERR_INV_UNIT;
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    return run(to_unit(thread), pool);
}

}   // extern "C"
