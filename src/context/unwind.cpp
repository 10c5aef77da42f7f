// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context/unwind.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "arch/arch.hpp"
#include "os/safe_read.hpp"

// A function of the C++ run-time library (libgcc, and LLVM's libunwind has it too): finds the
// description of the function that holds an address.
extern "C" {
struct dwarf_eh_bases {
    void* text;
    void* data;
    void* function;
};
const void* _Unwind_Find_FDE(void* address, dwarf_eh_bases* bases);
}

namespace weft::context {
namespace {

using arch::Registers;

// Reads a copy of unwind information. A read beyond the end returns zero, and is recorded.
class Cursor {
public:
    Cursor(const unsigned char* data, std::size_t bytes) : at_(data), end_(data + bytes) {}

    bool more() const { return !failed_ && at_ < end_; }
    bool failed() const { return failed_; }
    void fail() { failed_ = true; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    template <class T>
    T fixed() {
        T value{};
        if (left() < sizeof value) {
            fail();
        } else {
            std::memcpy(&value, at_, sizeof value);
            at_ += sizeof value;
        }
        return value;
    }
    std::uint64_t uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = fixed<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
            if ((byte & 0x80) == 0 || failed_) return value;
        }
    }
    std::int64_t sleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const auto byte = fixed<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
            shift += 7;
            if ((byte & 0x80) != 0 && !failed_) continue;
            if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
            return static_cast<std::int64_t>(value);
        }
    }
    void skip(std::uint64_t bytes) {
        if (bytes > left()) return fail();
        at_ += bytes;
    }
    void end_after(std::uint64_t bytes) {
        if (bytes > left()) return fail();
        end_ = at_ + bytes;
    }
    // An address in one of the encodings of .eh_frame; what it is relative to does not matter here.
    void skip_encoded(std::uint8_t encoding) {
        switch (encoding & 0x0f) {
        case 0x00:
        case 0x04:
        case 0x0c: return skip(8);
        case 0x01:
        case 0x09: uleb(); return;
        case 0x02:
        case 0x0a: return skip(2);
        case 0x03:
        case 0x0b: return skip(4);
        default: fail();
        }
    }
    const unsigned char* here() const { return at_; }

private:
    const unsigned char* at_;
    const unsigned char* end_;
    bool failed_ = false;
};

// A copy of one entry of .eh_frame: what follows its length.
struct Entry {
    static constexpr std::size_t most = 4096;

    std::uintptr_t address = 0;   // of `data` in the process
    std::size_t bytes = 0;
    unsigned char data[most];

    bool read(std::uintptr_t from) {
        std::uint32_t length = 0;
        if (os::safe_read(reinterpret_cast<void*>(from), &length, sizeof length) != sizeof length) return false;
        if (length < 4 || length > most) return false;   // longer entries, and 64-bit ones, do not occur
        address = from + 4;
        bytes = length;
        return os::safe_read(reinterpret_cast<void*>(address), data, bytes) == bytes;
    }
    Cursor cursor() const { return {data, bytes}; }
    std::uintptr_t in_process(const unsigned char* at) const { return address + static_cast<std::size_t>(at - data); }
};

// What a common information entry says about the functions that refer to it.
struct Common {
    std::uint64_t code_align = 1;
    std::int64_t data_align = 1;
    std::uint64_t return_register = 0;
    std::uint8_t encoding = 0;
    bool augmented = false;

    // False: an unknown kind. Leaves the cursor at the first instruction.
    bool read(Cursor& from) {
        from.skip(4);   // its number, 0
        const auto version = from.fixed<std::uint8_t>();
        if (version != 1 && version != 3) return false;
        char augmentation[8] = {};
        for (std::size_t i = 0;; ++i) {
            const auto letter = from.fixed<char>();
            if (i == sizeof augmentation) return false;
            augmentation[i] = letter;
            if (letter == '\0') break;
        }
        code_align = from.uleb();
        data_align = from.sleb();
        return_register = version == 1 ? from.fixed<std::uint8_t>() : from.uleb();
        if (augmentation[0] == '\0') return !from.failed();
        if (augmentation[0] != 'z') return false;
        augmented = true;
        const std::uint64_t bytes = from.uleb();
        Cursor inside = from;
        from.skip(bytes);
        for (const char* letter = augmentation + 1; *letter != '\0'; ++letter) {
            switch (*letter) {
            case 'R': encoding = inside.fixed<std::uint8_t>(); break;
            case 'P': inside.skip_encoded(inside.fixed<std::uint8_t>()); break;
            case 'L': inside.skip(1); break;
            case 'S':
            case 'B': break;   // a signal's frame; which key signs addresses
            default: return false;
            }
        }
        return !from.failed() && !inside.failed() && return_register < Registers::most;
    }
};

// Runs the instructions of an entry up to an address (DWARF 5, 6.4.2).
class Machine {
public:
    Machine(const Common& common, Row& row) : common_(common), row_(row) {}

    void begin(std::uintptr_t function, std::uintptr_t address) {
        location_ = function;
        address_ = address;
        initial_ = row_;
    }

    bool run(const Entry& entry, Cursor from) {
        while (from.more() && location_ <= address_) {
            const auto code = from.fixed<std::uint8_t>();
            const unsigned low = code & 0x3f;
            switch (code >> 6) {
            case 0:
                if (!other(entry, from, low)) return false;
                break;
            case 1: advance(low); break;
            case 2: set(low, Rule::Kind::at, factored(from.uleb())); break;
            case 3: restore(low); break;
            }
        }
        return !from.failed();
    }

private:
    std::int64_t factored(std::uint64_t count) const { return static_cast<std::int64_t>(count) * common_.data_align; }
    void advance(std::uint64_t steps) { location_ += steps * common_.code_align; }
    void set(std::uint64_t which, Rule::Kind kind, std::int64_t offset = 0, std::uintptr_t expression = 0) {
        // higher numbers are vector registers: no address is computed from them
        if (which < Registers::most) row_.rules[which] = {kind, offset, expression};
    }
    void restore(std::uint64_t which) {
        if (which < Registers::most) row_.rules[which] = initial_.rules[which];
    }
    void cfa(std::uint64_t which, std::int64_t offset) {
        row_.cfa_register = static_cast<unsigned>(which);
        row_.cfa_offset = offset;
        row_.cfa_expression = 0;
    }
    std::uintptr_t expression(const Entry& entry, Cursor& from) {
        const std::uintptr_t where = entry.in_process(from.here());
        from.skip(from.uleb());
        return where;
    }

    bool other(const Entry& entry, Cursor& from, unsigned code) {
        std::uint64_t which = 0;
        switch (code) {
        case 0x00: return true;                                        // nop
        case 0x02: advance(from.fixed<std::uint8_t>()); return true;   // advance_loc1
        case 0x03: advance(from.fixed<std::uint16_t>()); return true;
        case 0x04: advance(from.fixed<std::uint32_t>()); return true;
        // offset_extended
        case 0x05:
            which = from.uleb();
            set(which, Rule::Kind::at, factored(from.uleb()));
            return true;
        case 0x06: restore(from.uleb()); return true;   // restore_extended
        case 0x07: set(from.uleb(), Rule::Kind::undefined); return true;
        case 0x08: set(from.uleb(), Rule::Kind::same); return true;
        case 0x09:
            which = from.uleb();
            set(which, Rule::Kind::in, static_cast<std::int64_t>(from.uleb()));
            return true;
        case 0x0a: return remember();
        case 0x0b: return recall();
        case 0x0c:
            which = from.uleb();
            cfa(which, static_cast<std::int64_t>(from.uleb()));
            return true;   // def_cfa
        case 0x0d: cfa(from.uleb(), row_.cfa_offset); return true;
        case 0x0e: cfa(row_.cfa_register, static_cast<std::int64_t>(from.uleb())); return true;
        case 0x0f: row_.cfa_expression = expression(entry, from); return true;   // def_cfa_expression
        case 0x10:
            which = from.uleb();
            set(which, Rule::Kind::at_expression, 0, expression(entry, from));
            return true;
        case 0x11:
            which = from.uleb();
            set(which, Rule::Kind::at, from.sleb() * common_.data_align);
            return true;
        case 0x12:
            which = from.uleb();
            cfa(which, from.sleb() * common_.data_align);
            return true;
        case 0x13: cfa(row_.cfa_register, from.sleb() * common_.data_align); return true;
        case 0x14:
            which = from.uleb();
            set(which, Rule::Kind::is, factored(from.uleb()));
            return true;   // val_offset
        case 0x15:
            which = from.uleb();
            set(which, Rule::Kind::is, from.sleb() * common_.data_align);
            return true;
        case 0x16:
            which = from.uleb();
            set(which, Rule::Kind::is_expression, 0, expression(entry, from));
            return true;
        // AArch64: the address is signed from here on
        case 0x2d: return true;
        // args_size, for exceptions
        case 0x2e: from.uleb(); return true;
        default: return false;
        }
    }
    bool remember() {
        if (depth_ == std::size(kept_)) return false;
        kept_[depth_++] = row_;
        return true;
    }
    bool recall() {
        if (depth_ == 0) return false;
        row_ = kept_[--depth_];
        return true;
    }

    const Common& common_;
    Row& row_;
    Row initial_;
    Row kept_[4];
    std::size_t depth_ = 0;
    std::uintptr_t location_ = 0;
    std::uintptr_t address_ = ~std::uintptr_t{0};
};

// The part of DWARF's expressions that compilers use (DWARF 5, 2.5): where a function aligns its
// stack, or in tables of calls.
class Expression {
public:
    Expression(const Registers& registers, const StackCopy& stack) : registers_(registers), stack_(stack) {}

    std::optional<std::uintptr_t> value(std::uintptr_t where, std::optional<std::uintptr_t> first) {
        unsigned char text[264];
        const std::size_t got = os::safe_read(reinterpret_cast<void*>(where), text, sizeof text);
        Cursor from(text, got);
        from.end_after(from.uleb());
        if (first) push(*first);
        while (from.more()) {
            if (!step(from, from.fixed<std::uint8_t>())) return std::nullopt;
        }
        if (from.failed() || depth_ == 0) return std::nullopt;
        return stack_of_values_[depth_ - 1];
    }

private:
    void push(std::uint64_t value) {
        if (depth_ < std::size(stack_of_values_)) stack_of_values_[depth_++] = value;
    }
    std::uint64_t pop() { return depth_ == 0 ? 0 : stack_of_values_[--depth_]; }

    bool step(Cursor& from, unsigned code) {
        if (code >= 0x30 && code <= 0x4f) return push(code - 0x30), true;   // lit0 to lit31
        if (code >= 0x70 && code <= 0x8f) {                                 // breg0 to breg31
            if (!registers_.has(code - 0x70)) return false;
            return push(registers_.values[code - 0x70] + static_cast<std::uint64_t>(from.sleb())), true;
        }
        switch (code) {
        case 0x06: {   // deref
            std::uintptr_t found;
            if (!stack_.word(pop(), found)) return false;
            return push(found), true;
        }
        case 0x08: return push(from.fixed<std::uint8_t>()), true;                              // const1u
        case 0x09: return push(static_cast<std::uint64_t>(from.fixed<std::int8_t>())), true;   // const1s
        case 0x0a: return push(from.fixed<std::uint16_t>()), true;
        case 0x0b: return push(static_cast<std::uint64_t>(from.fixed<std::int16_t>())), true;
        case 0x10: return push(from.uleb()), true;   // constu
        case 0x11: return push(static_cast<std::uint64_t>(from.sleb())), true;
        case 0x12: {
            const std::uint64_t top = pop();
            push(top);
            return push(top), true;
        }                                              // dup
        case 0x1a: return push(pop() & pop()), true;   // and
        case 0x1c: {
            const std::uint64_t top = pop();
            return push(pop() - top), true;
        }                                                    // minus
        case 0x22: return push(pop() + pop()), true;         // plus
        case 0x23: return push(pop() + from.uleb()), true;   // plus_uconst
        default: return false;
        }
    }

    const Registers& registers_;
    const StackCopy& stack_;
    std::uint64_t stack_of_values_[16];
    std::size_t depth_ = 0;
};

// Computes a frame's row at `address`.
Row work_out(std::uintptr_t address) {
    Row row;
    dwarf_eh_bases bases{};
    const void* found = _Unwind_Find_FDE(reinterpret_cast<void*>(address), &bases);
    if (found == nullptr) return row;
    Entry function, common_entry;
    if (!function.read(reinterpret_cast<std::uintptr_t>(found))) return row;
    Cursor from = function.cursor();
    const auto back = from.fixed<std::int32_t>();   // from here to the common entry
    if (!common_entry.read(function.address - static_cast<std::uintptr_t>(static_cast<std::intptr_t>(back))))
        return row;
    Common common;
    Cursor instructions = common_entry.cursor();
    if (!common.read(instructions)) return row;
    from.skip_encoded(common.encoding);
    from.skip_encoded(common.encoding);
    if (common.augmented) from.skip(from.uleb());
    row.return_register = static_cast<unsigned>(common.return_register);
    row.function = reinterpret_cast<std::uintptr_t>(bases.function);
    Machine machine(common, row);
    if (!machine.run(common_entry, instructions)) return row;
    machine.begin(row.function, address);
    row.usable = machine.run(function, from);
    row.outermost = row.rules[row.return_register].kind == Rule::Kind::undefined;
    return row;
}

}   // namespace

bool StackCopy::word(std::uintptr_t address, std::uintptr_t& value) const {
    if (address < base || address - base > bytes || bytes - (address - base) < sizeof value) return false;
    std::memcpy(&value, data + (address - base), sizeof value);
    return true;
}

const Row& Unwinder::row(std::uintptr_t address) {
    const auto known = rows_.find(address);
    if (known != rows_.end()) return known->second;
    if (rows_.size() == most_rows) rows_.clear();
    return rows_.emplace(address, work_out(address)).first->second;
}

// From the registers in a function to those in the one that called it. False: the rules do not lead
// to a caller.
bool Unwinder::step(const Row& row, const StackCopy& stack, Registers& registers) const {
    std::optional<std::uintptr_t> cfa;
    if (row.cfa_expression != 0) {
        cfa = Expression(registers, stack).value(row.cfa_expression, std::nullopt);
    } else if (registers.has(row.cfa_register)) {
        cfa = registers.values[row.cfa_register] + static_cast<std::uintptr_t>(row.cfa_offset);
    }
    const unsigned sp = arch::stack_register();
    // a stack grows downwards
    if (!cfa || *cfa <= registers.values[sp] || *cfa - stack.base > stack.bytes) return false;
    Registers caller;
    for (unsigned which = 0; which < Registers::most; ++which) {
        const Rule& rule = row.rules[which];
        const auto offset = static_cast<std::uintptr_t>(rule.offset);
        std::uintptr_t value = 0;
        switch (rule.kind) {
        case Rule::Kind::undefined: break;
        case Rule::Kind::same:
            if (registers.has(which)) caller.set(which, registers.values[which]);
            break;
        case Rule::Kind::at:
            if (stack.word(*cfa + offset, value)) caller.set(which, value);
            break;
        case Rule::Kind::is: caller.set(which, *cfa + offset); break;
        case Rule::Kind::in:
            if (rule.offset >= 0 && registers.has(static_cast<unsigned>(rule.offset)))
                caller.set(which, registers.values[rule.offset]);
            break;
        case Rule::Kind::at_expression:
        case Rule::Kind::is_expression: {
            const auto found = Expression(registers, stack).value(rule.expression, cfa);
            if (!found) break;
            if (rule.kind == Rule::Kind::is_expression) {
                caller.set(which, *found);
            } else if (stack.word(*found, value)) {
                caller.set(which, value);
            }
            break;
        }
        }
    }
    if (!caller.has(row.return_register)) return false;
    caller.pc = arch::plain_address(caller.values[row.return_register]);
    caller.set(sp, *cfa);
    registers = caller;
    return true;
}

Trace Unwinder::trace(std::uintptr_t context, const StackCopy& stack) {
    Trace found;
    arch::SuspendedWords words = {};
    std::memcpy(words, stack.data, std::min(sizeof words, stack.bytes));
    const std::uintptr_t resume = arch::resume_address(words);
    const bool called = row(resume).function == reinterpret_cast<std::uintptr_t>(weft_context_call);
    Registers registers = arch::registers_of(context, words, called);
    // A return address may be the first address of the function after the caller: the call lies
    // before it.
    for (std::uintptr_t before = called ? 1 : 0;; before = 1) {
        if (registers.pc <= before) return found;
        const Row& at = row(registers.pc - before);
        if (at.function == 0) return found;
        if (found.count == Trace::most) {
            found.end = Trace::End::full;
            return found;
        }
        found.frames[found.count++] = registers.pc;
        if (at.outermost) {
            found.end = Trace::End::outermost;
            return found;
        }
        if (!at.usable || !step(at, stack, registers)) return found;
    }
}

}   // namespace weft::context
