// With which floating-point environment an OS thread begins.
#pragma once

#include "arch/arch.hpp"
#include "base/atomic.hpp"

namespace weft::os {

// Says what the threads that the caller starts are to begin with. False: with what is in force, as
// the kernel has it. Null: so always.
inline constinit atomic<bool (*)(arch::FloatingPoint& wanted)> floating_point_of_threads{nullptr};

// While it lasts that is in force: the kernel gives a new thread what its starter has.
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
