// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known about a program before it runs: whether the loader will preload anything into it.
#pragma once

#include <string>

namespace weft_command {

enum class Reach {
    full,       // the loader loads the preloaded libraries
    children,   // not into this program, but into programs that it starts
    none        // preloading would only make the program's loader complain, or would break the program
};

struct Program {
    std::string path;   // as the search found it; empty: not found
    int error = 0;      // why not (ENOENT, EACCES)
    bool elf = false;   // the kernel can execute it; false: it is for a shell
    // the ELF file that the kernel loads: the program or its interpreter; empty: unknown
    std::string image;
    std::string argument;   // the text behind the interpreter's name in a script's first line
    Reach reach = Reach::full;
    std::string why;   // a clause that explains every reach but `full`
};

// Searches for `name` as execvp does, follows the interpreters of scripts, and examines the ELF
// file at the end.
Program look_at(const char* name);

}   // namespace weft_command
