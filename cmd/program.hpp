// What can be told of a program before it runs: whether the loader will preload anything into it.
#pragma once

#include <string>

namespace weft_command {

enum class Reach {
    full,       // what is preloaded is loaded
    children,   // not into this program, but into those that it starts
    none        // preloading would only make its loader complain, or would break it
};

struct Program {
    std::string path;   // as the search has found it; empty: not found
    int error = 0;      // why not (ENOENT, EACCES)
    bool elf = false;   // it is one for the kernel, and not for a shell
    // the ELF file that the kernel loads: the program or its interpreter; empty: not known
    std::string image;
    std::string argument;   // what follows the interpreter's name in a script's first line
    Reach reach = Reach::full;
    std::string why;   // of all but full: a clause
};

// Looks for `name` as execvp does, follows the interpreters of scripts, and looks at the ELF file
// at the end.
Program look_at(const char* name);

}   // namespace weft_command
