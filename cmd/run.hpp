// `weft run`.
#pragma once

namespace weft_command {

// The arguments that follow "run", ended by a null one. Returns only where the program could not be
// started: with the command's exit status.
int run(char** arguments);

// What `weft --help` says of it.
extern const char run_help[];

}   // namespace weft_command
