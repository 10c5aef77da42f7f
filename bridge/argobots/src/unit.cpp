// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unit handles: how pools represent work units.
#include "pool.hpp"

using namespace weft::argobots;

extern "C" {

int ABT_unit_get_thread(ABT_unit unit, ABT_thread* thread) {
    const ABT_thread found = thread_handle(unit);
    if (is_null(found)) return ABT_ERR_INV_UNIT;
    *thread = found;
    return ABT_SUCCESS;
}

int ABT_unit_set_associated_pool(ABT_unit unit, ABT_pool pool) {
    if (is_null(unit)) return ABT_ERR_INV_UNIT;
    return is_null(pool) ? ABT_ERR_INV_POOL : ABT_SUCCESS;
}

}   // extern "C"
