// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The observers of work units: the program's tool, and, if ABT_PRESERVE_FPU is set, the code that
// preserves the units' floating-point modes.
#pragma once

#include "common.hpp"

namespace weft::argobots {

// Called once Weft runs, and before it ends. ABT_ERR_FEATURE_NA: `preserve_fpu` is set, and Weft
// was built without observers.
int begin_tools(bool preserve_fpu);
void end_tools();

// While it exists, the caller is about to wait at this object, for which Weft has another name or
// none.
class WaitsAt {
public:
    WaitsAt(ABT_sync_event_type type, void* handle) { say(type, handle); }
    ~WaitsAt() { say(ABT_SYNC_EVENT_TYPE_UNKNOWN, nullptr); }
    WaitsAt(const WaitsAt&) = delete;

private:
    static void say(ABT_sync_event_type type, void* handle);
};

}   // namespace weft::argobots
