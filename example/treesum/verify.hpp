// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checking files against a list of checksums, as `sha256sum -c` does.
#pragma once

#include <string>

#include "hash.hpp"
#include "report.hpp"

namespace treesum {

// Reads the list from the file `list`, "-" for standard input, and reports on each file that it
// names.
void verify(const std::string& list, Hashing& hashing, Report& report);

}   // namespace treesum
