// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a program for the command itself, and waits for it.
#pragma once

#include <string>
#include <vector>

namespace weft_command {

struct Outcome {
    int error = 0;        // the errno of a failure to start it; 0: it ran
    int status = -1;      // its exit status; -1: a signal ended it
    std::string output;   // its standard output
    std::string errors;   // its standard error; discarded, and empty here, unless asked for
};

// Runs `path` with these arguments (the first is its name), without the environment variables that
// are listed in `without`. Standard input is the caller's. Afterwards the handling of SIGCHLD is as
// it was before.
Outcome run_and_wait(const std::string& path, std::vector<std::string> arguments,
                     const std::vector<const char*>& without, bool keep_errors);

}   // namespace weft_command
