// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between the opaque types of the C interface and the library's types, and the checks
// that every call makes.
#pragma once

#include "base/handles.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "process/stream.hpp"
#include "runtime/runtime.hpp"
#include "unit/handle.hpp"
#include "weft/sched.h"
#include "weft/stream.h"

namespace weft {

// `call`: the function of the C interface that was given the handle; by default, the calling one.
inline const Pool* to_pool(const weft_pool* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<const Pool>(handles::Thing::pool, handle, call);
}
inline Pool* to_pool(weft_pool* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<Pool>(handles::Thing::pool, handle, call);
}
inline weft_pool* to_handle(Pool* pool) { return handles::to_handle<weft_pool>(handles::Thing::pool, pool); }
inline Sched* to_sched(weft_sched* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<Sched>(handles::Thing::scheduler, handle, call);
}
inline const Sched* to_sched(const weft_sched* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<const Sched>(handles::Thing::scheduler, handle, call);
}
inline weft_sched* to_handle(Sched* sched) { return handles::to_handle<weft_sched>(handles::Thing::scheduler, sched); }
inline Stream* to_stream(weft_stream* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<Stream>(handles::Thing::stream, handle, call);
}
inline const Stream* to_stream(const weft_stream* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<const Stream>(handles::Thing::stream, handle, call);
}
inline weft_stream* to_handle(Stream* stream) {
    return handles::to_handle<weft_stream>(handles::Thing::stream, stream);
}

}   // namespace weft
