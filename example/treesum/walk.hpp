// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks directory trees with several units at once. As `find DIR -type f`, it follows no symbolic
// links, and spells paths in the same way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report.hpp"

namespace treesum {

// Calls file(path) for each regular file at or below `roots`, from `walkers` units at once; returns
// when all directories have been read. `file` may suspend the unit that calls it, which slows the
// walk down.
void walk(const std::vector<std::string>& roots, std::size_t walkers, Report& report,
          const std::function<void(std::string)>& file);

}   // namespace treesum
