// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `weft run`.
#pragma once

namespace weft_command {

// Takes the arguments behind "run", with a null pointer at the end. Returns only if the program
// could not be started: then it returns the command's exit status.
int run(char** arguments);

}   // namespace weft_command
