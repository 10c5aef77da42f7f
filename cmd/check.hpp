// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds errors before the program starts: variables that the libraries would refuse, and files that
// they could not write.
#pragma once

#include <string>

#include "paths.hpp"

namespace weft_command {

// Whether the user has set a variable whose value only the libraries can check. False in nearly all
// runs, which then skip the check.
bool environment_needs_check();

// The result of `weft info --check`.
struct Checked {
    std::string lines;   // each begins with a variable's name
    // all values are legal, and each line names a variable that is probably misspelt. False: there
    // are also lines that name variables with illegal values
    bool legal = true;
    int error = 0;   // the errno of a failure to start the check; 0: none

    // Whether the program that checks is not installed.
    bool missing() const;
};

// If the system refuses the process that checks (no memory, no more processes), all values count as
// legal, and the libraries report illegal ones later.
Checked check_environment(const Pieces& pieces);

// Returns 0 if the file can be written or created, otherwise an errno. Neither creates nor changes
// the file.
int cannot_be_written(const std::string& path);

}   // namespace weft_command
