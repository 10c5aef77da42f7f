// Between the opaque types of the C interface and ours, and the checks that every call makes.
#pragma once

#include "stream/error.hpp"
#include "stream/runtime.hpp"
#include "stream/stream.hpp"
#include "unit/handle.hpp"
#include "weft/sched.h"
#include "weft/stream.h"

namespace weft {

inline const Pool* to_pool(const weft_pool* handle) {
    const auto* pool = reinterpret_cast<const Pool*>(handle);
    if constexpr (config::checked) {
        if (pool != nullptr && pool->freed) fatal("stale handle %p: its pool has been freed", static_cast<const void*>(handle));
    }
    return pool;
}
inline Pool* to_pool(weft_pool* handle) { return const_cast<Pool*>(to_pool(const_cast<const weft_pool*>(handle))); }
inline weft_pool* to_handle(Pool* pool) { return reinterpret_cast<weft_pool*>(pool); }
inline Sched* to_sched(weft_sched* handle) { return reinterpret_cast<Sched*>(handle); }
inline const Sched* to_sched(const weft_sched* handle) { return reinterpret_cast<const Sched*>(handle); }
inline weft_sched* to_handle(Sched* sched) { return reinterpret_cast<weft_sched*>(sched); }
inline Stream* to_stream(weft_stream* handle) { return reinterpret_cast<Stream*>(handle); }
inline const Stream* to_stream(const weft_stream* handle) { return reinterpret_cast<const Stream*>(handle); }
inline weft_stream* to_handle(Stream* stream) { return reinterpret_cast<weft_stream*>(stream); }

[[gnu::cold]] inline weft_status is_null(const char* what) { return fail(WEFT_INVALID, "%s is null; it is required", what); }

[[gnu::cold]] inline weft_status not_initialized() {
    return fail(WEFT_NOT_INITIALIZED, "the runtime does not run; call weft_init first");
}

}  // namespace weft
