// What observers are told of a stream's units, and where a trace of them goes. observe/observe.cpp
// owns it.
#pragma once

#include "base/atomic.hpp"

namespace weft {

struct ObserverList;
namespace trace {
class Ring;
}

struct Telling {
    bool observed = false;         // as attention said when it was looked at last
    trace::Ring* ring = nullptr;   // where the stream's events go (WEFT_TRACE); of the stream's rank
    // whom the stream tells something at this moment; who removes an observer waits for that
    atomic<const ObserverList*> whom{nullptr};
};

}   // namespace weft
