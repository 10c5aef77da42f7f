// Which build of the library a program runs on (doc/variants.md).
#pragma once

#include "program.hpp"

namespace weft_command {

struct Variant {
    const char* name = nullptr;   // checked, tsan, asan; null: the release
    const char* why = nullptr;    // a clause
    bool asked = false;           // by WEFT_CHECKED: without it the program does not run
    bool of_program = false;      // a sanitizer's, of no use to programs without its run-time library
};

// By the program's symbols, and by WEFT_CHECKED, whose value is legal (checked.hpp).
Variant variant_for(const Program& program);

}   // namespace weft_command
