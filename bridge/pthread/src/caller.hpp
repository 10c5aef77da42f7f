// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the caller is, and whether its wait may be a switch.
#pragma once

#include <cstdint>

#include <weft/embed/here.hpp>

namespace weft_pthread {

// Whether the calling context may leave its OS thread to other units. It may if it is a hosted unit
// on its own stack, or a guest (the primary unit is one), whose OS thread runs other units while it
// waits; and if no signal handler runs on it. A unit of another kind may not: the code that it
// calls takes it for its carrier. The first load recognizes a thread that is not Weft's.
bool may_switch_inside() noexcept;
[[gnu::always_inline]] inline bool may_switch() noexcept {
    return weft::detail::here() != nullptr && may_switch_inside();
}

// Whether the caller is Weft's own library, whose calls must go to the C library. `address` is the
// return address of the call.
bool is_weft(const void* address) noexcept;

// Whether the caller runs in a signal handler that the program has set through the C library.
bool in_handler() noexcept;

// Tells in_handler() that, while an object of this class exists, the stack frame that it is in is a
// handler's.
class Handling {
public:
    explicit Handling(const void* frame) noexcept;
    ~Handling();
    Handling(const Handling&) = delete;
    Handling& operator=(const Handling&) = delete;

private:
    const bool outermost_;
};

}   // namespace weft_pthread
