// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hart/watchdog.hpp"

#include <algorithm>
#include <utility>

namespace weft::hart {

bool Watchdog::look(std::uint64_t now_ns, bool stuck, std::uint64_t blocked_since_ns) {
    const std::uint64_t before_ns = std::exchange(looked_ns_, now_ns);
    if (!stuck) {
        stuck_since_ns_ = 0;
        return false;
    }
    // what is seen now has been so since the last check
    if (stuck_since_ns_ == 0) stuck_since_ns_ = before_ns != 0 ? before_ns : now_ns;
    const bool certain = blocked_since_ns != 0 && now_ns - blocked_since_ns >= first_wait_ns_;
    if (!certain && now_ns - stuck_since_ns_ < wait_ns_) return false;
    waited_ns_ = wait_ns_;
    stuck_since_ns_ = now_ns;
    if (!certain) wait_ns_ = std::min(2 * wait_ns_, longest_wait_ns_);
    return true;
}

void Watchdog::not_helped() {
    wait_ns_ = waited_ns_;
    stuck_since_ns_ -= waited_ns_;
}

}   // namespace weft::hart
