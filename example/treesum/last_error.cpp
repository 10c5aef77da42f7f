// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "last_error.hpp"

#include <cerrno>

namespace treesum {

[[gnu::noinline]] int last_error() { return errno; }
[[gnu::noinline]] void clear_error() { errno = 0; }

}   // namespace treesum
