// What can be found wrong before the program starts: variables that the libraries would refuse,
// files that they could not write.
#pragma once

#include <string>

#include "paths.hpp"

namespace weft_command {

// Whether the user has set a variable whose value only the libraries can judge. False in nearly all
// runs, which are then spared the check.
bool environment_needs_check();

// What `weft info --check` says.
struct Checked {
    std::string lines;   // each begins with a variable's name
    // all values are, and each line names a variable that is probably misspelt; false: those are
    // there, too
    bool legal = true;
    int error = 0;   // of starting it, as errno has it

    // That program is not installed.
    bool missing() const;
};

// Where the system refuses the process that checks (no memory, no more processes) all passes for
// legal, and the libraries tell later.
Checked check_environment(const Pieces& pieces);

// 0: the file can be written, or created. Otherwise errno's number. Neither creates nor changes the
// file.
int cannot_be_written(const std::string& path);

}   // namespace weft_command
