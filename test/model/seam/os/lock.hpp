// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lock of a model: one that Relacy knows, so that it sees which thread waits for which.
#pragma once

#include "base/atomic.hpp"

namespace weft::os {

class Lock {
public:
    Lock() { mutex_.init(false, false, false, false, here()); }
    ~Lock() { mutex_.deinit(here()); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    void lock() { mutex_.lock_exclusive(here()); }
    bool try_lock() { return mutex_.try_lock_exclusive(here()); }
    void unlock() { mutex_.unlock_exclusive(here()); }

private:
    struct Tag;
    static rl::debug_info here() { return model::info(std::source_location::current()); }

    rl::generic_mutex<Tag> mutex_;
};

}   // namespace weft::os
