// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The short waits of a model. A backoff step lets the other threads go on: a search in which it
// never did would find only the spinning.
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
