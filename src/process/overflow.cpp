// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/overflow.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "process/line.hpp"
#include "process/stream.hpp"
#include "unit/names.hpp"

namespace weft {
namespace {

void describe(Line& line, const Unit& unit, const mem::Stack& stack) {
    line << "weft: stack overflow in unit " << unit.id;
    if (unit.name[0] != '\0') line << " '" << unit.name << "'";
    line << " (kind " << name_of(unit.kind) << ", stack " << std::uint64_t{stack.bytes} << " bytes): give it more by ";
    if (unit.stack == nullptr || unit.kind == Kind::sc) {
        line << "WEFT_SCHEDULER_STACK_BYTES, or a stack of its own by another kind\n";
    } else {
        line << "weft_unit_options.stack_bytes or WEFT_STACK_BYTES\n";
    }
}

}   // namespace

bool overflow_describe(std::uintptr_t code, const void* fault_address, char* text, std::size_t bytes) {
    const Unit* unit = running_or_null();
    if (unit == nullptr) return false;
    const mem::Stack* stack = unit->stack != nullptr ? unit->stack : current().sched_context.stack;
    if (!mem::in_guard(*stack, fault_address)) return false;
    Line line(text, bytes);
    describe(line, *unit, *stack);
    // A wild access may hit a guard, too: these addresses tell whether it was one.
    line << "weft: the code at ";
    line.hexadecimal(code) << " accessed ";
    line.hexadecimal(reinterpret_cast<std::uintptr_t>(fault_address)) << "; the stack begins at ";
    line.hexadecimal(reinterpret_cast<std::uintptr_t>(stack->lowest)) << "\n";
    return true;
}

void overflow_report(const Unit& unit) {
    char text[256];
    Line line(text, sizeof text);
    describe(line, unit, *unit.stack);
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    _exit(128 + SIGSEGV);   // SIGSEGV is blocked
}

void check_canary(const Unit& unit) {
    if (unit.stack != nullptr && unit.stack->guarded == mem::Guard::canary && !mem::canary_intact(*unit.stack))
        overflow_report(unit);
}

}   // namespace weft
