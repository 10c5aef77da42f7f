// Walking directory trees with several units at once, as `find DIR -type f` does: no symbolic
// links, the same spelling of paths.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report.hpp"

namespace treesum {

// Calls file(path) for each regular file at or below `roots`, from `walkers` units at once; returns
// when all was seen. `file` may suspend the unit that calls it, which holds the walk back.
void walk(const std::vector<std::string>& roots, std::size_t walkers, Report& report,
          const std::function<void(std::string)>& file);

}   // namespace treesum
