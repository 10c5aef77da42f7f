// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The build of the library that a program runs on (doc/variants.md).
#pragma once

#include "program.hpp"

namespace weft_command {

struct Variant {
    const char* name = nullptr;   // checked, tsan, asan; null: the release
    const char* why = nullptr;    // a clause
    bool asked = false;           // WEFT_CHECKED asks for it: if it is missing, the program does not run
    bool of_program = false;      // a sanitizer's, useless to programs without its run-time library
};

// Chooses by the program's symbols and by WEFT_CHECKED, whose value must be legal (checked.hpp).
Variant variant_for(const Program& program);

}   // namespace weft_command
