// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frames of a context that does not run, from a copy of its stack. The copy may be taken at any
// moment: it may hold anything, and all memory that it leads to is read by os::safe_read. So
// nothing here can fault; the worst result is a false frame.
//
// The rules by which a frame is undone are the compiler's, in the DWARF call frame information that
// C++ exceptions use (DWARF 5, 6.4; LSB, "Exception Frames"). doc/decisions/0014 says why they are
// read here and not by a library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "arch/frames.hpp"

namespace weft::context {

// `bytes` of a stack, from the address `base` on, that were copied to `data`.
struct StackCopy {
    std::uintptr_t base;
    std::size_t bytes;
    const unsigned char* data;

    bool word(std::uintptr_t address, std::uintptr_t& value) const;
};

// Addresses in functions, innermost first: where each function continues.
struct Trace {
    static constexpr std::size_t most = 64;
    enum class End : std::uint8_t {
        outermost,   // at the entry of the context, or of the OS thread
        lost,        // no rule for a frame, or one that leads nowhere
        full,        // there may be more
    };

    std::uintptr_t frames[most];
    std::size_t count = 0;
    End end = End::lost;
};

// How a register of the calling function is found.
struct Rule {
    enum class Kind : std::uint8_t { same, undefined, at, is, in, at_expression, is_expression };
    Kind kind = Kind::same;
    std::int64_t offset = 0;         // of at and is: from the canonical frame address; of in: the register
    std::uintptr_t expression = 0;   // where the expression lies, with its length before it
};

// How a frame is undone at one address.
struct Row {
    bool usable = false;
    bool outermost = false;   // its caller is undefined
    unsigned cfa_register = 0;
    std::int64_t cfa_offset = 0;
    std::uintptr_t cfa_expression = 0;   // 0: by the register
    unsigned return_register = 0;
    std::uintptr_t function = 0;
    Rule rules[arch::Registers::most];
};

// Undoes frames; keeps the rows that it has computed, since many units are at the same places.
class Unwinder {
public:
    // `context`: a saved context, of whose stack `stack` is a copy.
    Trace trace(std::uintptr_t context, const StackCopy& stack);

private:
    static constexpr std::size_t most_rows = 4096;

    const Row& row(std::uintptr_t address);
    bool step(const Row& row, const StackCopy& stack, arch::Registers& registers) const;

    std::unordered_map<std::uintptr_t, Row> rows_;
};

}   // namespace weft::context
