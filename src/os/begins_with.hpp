// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which floating-point environment an OS thread begins with.
#pragma once

#include "arch/arch.hpp"
#include "base/atomic.hpp"

namespace weft::os {

// Says which environment the threads that the caller starts are to begin with. False: the
// environment in force, as the kernel does by itself. Null: always that.
inline constinit atomic<bool (*)(arch::FloatingPoint& wanted)> floating_point_of_threads{nullptr};

// During its lifetime that environment is in force: the kernel gives a new thread its starter's.
class BeginsWith {
public:
    BeginsWith() {
        auto* const asked = floating_point_of_threads.load();
        other_ = asked != nullptr && asked(wanted_);
        if (!other_) return;
        before_ = arch::floating_point();
        arch::set_floating_point(wanted_, before_);
    }
    ~BeginsWith() {
        if (other_) arch::set_floating_point(before_, arch::floating_point());
    }
    BeginsWith(const BeginsWith&) = delete;

private:
    bool other_;
    arch::FloatingPoint wanted_{}, before_{};
};

}   // namespace weft::os
