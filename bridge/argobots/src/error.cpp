// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of errors.
#include <cstring>
#include <iterator>

#include "common.hpp"

namespace {

constexpr const char* names[] = {
    "ABT_SUCCESS",
    "ABT_ERR_UNINITIALIZED",
    "ABT_ERR_MEM",
    "ABT_ERR_OTHER",
    "ABT_ERR_INV_XSTREAM",
    "ABT_ERR_INV_XSTREAM_RANK",
    "ABT_ERR_INV_XSTREAM_BARRIER",
    "ABT_ERR_INV_SCHED",
    "ABT_ERR_INV_SCHED_KIND",
    "ABT_ERR_INV_SCHED_PREDEF",
    "ABT_ERR_INV_SCHED_TYPE",
    "ABT_ERR_INV_SCHED_CONFIG",
    "ABT_ERR_INV_POOL",
    "ABT_ERR_INV_POOL_KIND",
    "ABT_ERR_INV_POOL_ACCESS",
    "ABT_ERR_INV_UNIT",
    "ABT_ERR_INV_THREAD",
    "ABT_ERR_INV_THREAD_ATTR",
    "ABT_ERR_INV_TASK",
    "ABT_ERR_INV_KEY",
    "ABT_ERR_INV_MUTEX",
    "ABT_ERR_INV_MUTEX_ATTR",
    "ABT_ERR_INV_COND",
    "ABT_ERR_INV_RWLOCK",
    "ABT_ERR_INV_EVENTUAL",
    "ABT_ERR_INV_FUTURE",
    "ABT_ERR_INV_BARRIER",
    "ABT_ERR_INV_TIMER",
    "ABT_ERR_INV_QUERY_KIND",
    "ABT_ERR_XSTREAM",
    "ABT_ERR_XSTREAM_STATE",
    "ABT_ERR_XSTREAM_BARRIER",
    "ABT_ERR_SCHED",
    "ABT_ERR_SCHED_CONFIG",
    "ABT_ERR_POOL",
    "ABT_ERR_UNIT",
    "ABT_ERR_THREAD",
    "ABT_ERR_TASK",
    "ABT_ERR_KEY",
    "ABT_ERR_MUTEX",
    "ABT_ERR_MUTEX_LOCKED",
    "ABT_ERR_COND",
    "ABT_ERR_COND_TIMEDOUT",
    "ABT_ERR_RWLOCK",
    "ABT_ERR_EVENTUAL",
    "ABT_ERR_FUTURE",
    "ABT_ERR_BARRIER",
    "ABT_ERR_TIMER",
    "ABT_ERR_MIGRATION_TARGET",
    "ABT_ERR_MIGRATION_NA",
    "ABT_ERR_MISSING_JOIN",
    "ABT_ERR_FEATURE_NA",
    "ABT_ERR_INV_TOOL_CONTEXT",
    "ABT_ERR_INV_ARG",
    "ABT_ERR_SYS",
    "ABT_ERR_CPUID",
    "ABT_ERR_INV_POOL_CONFIG",
    "ABT_ERR_INV_POOL_USER_DEF",
};
static_assert(std::size(names) == ABT_ERR_INV_POOL_USER_DEF + 1, "one for each number");

}   // namespace

extern "C" {

int ABT_error_get_str(int err, char* str, size_t* len) {
    if (err < ABT_SUCCESS || err > ABT_ERR_INV_POOL_USER_DEF) return ABT_ERR_OTHER;
    const size_t length = std::strlen(names[err]);
    if (str != nullptr) std::memcpy(str, names[err], length + 1);
    if (len != nullptr) *len = length;
    return ABT_SUCCESS;
}

}   // extern "C"
