// Who calls, and whether its wait may be a switch.
#pragma once

#include <cstdint>

#include <weft/embed/here.hpp>

namespace weft_pthread {

// Whether the calling context may leave its OS thread for others: it is a hosted unit that stands
// on its own stack, or a guest (the primary unit is one of those), whose OS thread runs others
// while it waits; and no signal handler runs on it. A unit of another kind may not: what it calls
// takes it for its carrier. The first load tells a thread that is none of Weft's.
bool may_switch_inside() noexcept;
[[gnu::always_inline]] inline bool may_switch() noexcept {
    return weft::detail::here() != nullptr && may_switch_inside();
}

// Whether Weft's own library calls, to which the C library is the C library: `address` is where the
// call returns to.
bool is_weft(const void* address) noexcept;

// Whether a signal handler runs, of those that the program has set by the C library.
bool in_handler() noexcept;

// How in_handler() knows. While one of these lives: the stack frame that it is in is the handler's.
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
