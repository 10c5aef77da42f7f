// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/start.hpp"

#include <exception>
#include <new>

#include "core/finish.hpp"
#include "core/requests.hpp"
#include "process/hooks.hpp"

namespace weft {
namespace {

// Runs a unit whose body is to be called, and the units that take over its stack after it.
[[noreturn, gnu::always_inline]] inline void run_bodies() {
    for (;;) {
        Stream& stream = current();
        *stream.errno_address = 0;
        Unit& unit = *stream.running;
        if (!unit.marked(Unit::at_start) || starts(unit)) [[likely]]
            run_body(unit);
        Stream& now = current();
        finish_plainly(now, *now.running);
    }
}

}   // namespace

void unit_main(void (*call)(void*), void* argument) {
    context::arrive({call, argument});
    run_bodies();
}

void end_promoted() {
    Stream& stream = current();
    finish_plainly(stream, *stream.running);
    run_bodies();
}

void* begin_slow(Stream& stream, Unit& unit) {
    if (unit.kind == Kind::tasklet) return nullptr;
    if (unit.kind == Kind::hosted) return unit_hooks.begin_hosted(stream, unit);
    if (unit.stack == nullptr) {
        unit.stack = stream.heap->stacks.take(unit.wanted_stack_bytes());
        if (unit.stack == nullptr) return nullptr;
        if (unit.has(Unit::measured)) mem::measure_begin(*unit.stack);
    }
    if (unit.stack->guarded == mem::Guard::canary) {
        unit.mark(Unit::careful);
    } else if (unit.kind == Kind::full && unit.has(Unit::local) && unit.has_default_stack()) {
        unit.be_plain(true);
    }
    return arch::prepare(unit.stack->top, unit_main);
}

void keep_exception() noexcept {
    Unit& unit = *current().running;
    new (&unit.argument) std::exception_ptr(std::current_exception());
    end_with(unit, Outcome::exception);
}

}   // namespace weft
