// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by all files of the bridge: NULL handles, and Argobots' error for a Weft status.
#pragma once

#include <cstddef>
#include <cstdint>

#include <abt.h>
#include <weft/weft.h>
#include <weft/embed/here.hpp>

namespace weft::argobots {

// The NULL handles are small integers, one for each type; that of pool definitions is the largest.
// A C null pointer, which no caller should pass, is treated as one of them.
template <class Handle>
[[gnu::always_inline]] inline bool is_null(Handle handle) {
    return reinterpret_cast<std::uintptr_t>(handle) <= reinterpret_cast<std::uintptr_t>(ABT_POOL_USER_DEF_NULL);
}

// For a call that gets the address of a handle to free.
template <class Handle>
inline bool is_null_at(const Handle* place) {
    return place == nullptr || is_null(*place);
}

inline ABT_bool to_bool(bool value) { return value ? ABT_TRUE : ABT_FALSE; }

inline weft_unit* to_unit(ABT_thread thread) { return reinterpret_cast<weft_unit*>(thread); }
inline ABT_thread to_thread(weft_unit* unit) {
    return unit == nullptr ? ABT_THREAD_NULL : reinterpret_cast<ABT_thread>(unit);
}

// The statuses that have the same meaning in every call.
inline int from_weft(weft_status status) {
    switch (status) {
    case WEFT_OK: return ABT_SUCCESS;
    case WEFT_NO_MEMORY: return ABT_ERR_MEM;
    case WEFT_NOT_INITIALIZED: return ABT_ERR_UNINITIALIZED;
    case WEFT_SYSTEM: return ABT_ERR_SYS;
    case WEFT_UNSUPPORTED: return ABT_ERR_FEATURE_NA;
    case WEFT_INVALID: return ABT_ERR_INV_ARG;
    case WEFT_TIMED_OUT: return ABT_ERR_COND_TIMEDOUT;
    default: return ABT_ERR_OTHER;
    }
}

// Argobots accepts any stack size; Weft refuses a size that is too small for any unit.
inline std::size_t stack_bytes_for_weft(std::size_t asked) {
    return asked < WEFT_STACK_LEAST ? WEFT_STACK_LEAST : asked;
}

// The type of the caller.
enum class Caller : unsigned char { external, ult, tasklet };
inline Caller caller() {
    switch (here::kind()) {
    case WEFT_KIND_DEFAULT: return Caller::external;
    case WEFT_KIND_TASKLET: return Caller::tasklet;
    default: return Caller::ult;
    }
}

// ABT_SUCCESS if the caller is a ULT, else the error that says why not.
inline int must_be_ult() {
    switch (caller()) {
    case Caller::external: return ABT_ERR_INV_XSTREAM;
    case Caller::tasklet: return ABT_ERR_INV_THREAD;
    case Caller::ult: break;
    }
    return ABT_SUCCESS;
}

}   // namespace weft::argobots
