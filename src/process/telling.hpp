// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What observers are told about a stream's units, and where a trace of them goes.
// observe/observe.cpp owns it.
#pragma once

#include "base/atomic.hpp"

namespace weft {

struct ObserverList;
namespace trace {
class Ring;
}

struct Telling {
    bool observed = false;         // as attention said at the last check
    trace::Ring* ring = nullptr;   // where the stream's events go (WEFT_TRACE); of the stream's rank
    // the observers that the stream is notifying at this moment; the removal of an observer waits
    // until it is done
    atomic<const ObserverList*> whom{nullptr};
};

}   // namespace weft
