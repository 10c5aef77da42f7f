// A program that the command runs for itself and waits for.
#pragma once

#include <string>
#include <vector>

namespace weft_command {

struct Outcome {
    int error = 0;        // of starting it, as errno has it; 0: it ran
    int status = -1;      // its exit status; -1: a signal ended it
    std::string output;   // what it wrote to standard output
    std::string errors;   // and to standard error; empty unless asked for, and then it is lost
};

// Runs `path` with these arguments (the first is its name) and without the variables of the
// environment whose names are listed. Standard input is the caller's. SIGCHLD is as it was
// afterwards.
Outcome run_and_wait(const std::string& path, std::vector<std::string> arguments,
                     const std::vector<const char*>& without, bool keep_errors);

}   // namespace weft_command
