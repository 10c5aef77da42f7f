// The short waits of a model. A step of backoff lets the others go on: a search that never did
// would find only the spinning.
#pragma once

#include "base/atomic.hpp"
#include "os/lock.hpp"

namespace weft::os {

class Backoff {
public:
    void wait() { rl::yield(1, model::info(std::source_location::current())); }
};

using SpinLock = Lock;

}   // namespace weft::os
