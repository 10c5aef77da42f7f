// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace treesum {

struct Options {
    std::size_t streams = weft::all_harts;
    std::optional<std::string> list;   // --verify
    bool help = false;
    std::vector<std::string> roots;
};

extern const char* const help_text;

// Throws std::invalid_argument with a message that names the value and the remedy.
Options read_options(int count, char** arguments);

}   // namespace treesum
