// What can be found wrong before the program starts: variables that the libraries would refuse, files that
// they could not write.
#pragma once

#include <string>

#include "paths.hpp"

namespace weft_command {

// Whether the user has set a variable whose value only the libraries can judge. False in nearly all runs,
// which are then spared the check.
bool environment_needs_check();

// Runs `weft info --check` and returns its lines, one for each variable whose value is not legal; empty: all
// are legal, or the system refused the process that checks (no memory, no more processes), and the libraries
// tell later. False: that program is not installed; `error` is errno's.
bool check_environment(const Pieces& pieces, std::string& lines, int& error);

// 0: the file can be written, or created. Otherwise errno's number. Neither creates nor changes the file.
int cannot_be_written(const std::string& path);

}  // namespace weft_command
