// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Access to files as far as they are in the page cache. A blocking section costs some microseconds,
// and files that are read again and again mostly need none: these calls ask the kernel only for
// what it can give without waiting.
#pragma once

#include <cstddef>
#include <string>

#include <sys/types.h>

namespace treesum {

// Returns a descriptor. -1: the kernel would wait, or cannot tell, or the call failed; open()
// reports the failure.
int open_cached(const std::string& path, int flags);

// Returns how many bytes were read, perhaps fewer than there are. 0: the end of the file. -1: the
// kernel would wait, or cannot tell, or the call failed; read() reports the failure.
ssize_t read_cached(int descriptor, void* to, std::size_t bytes);

}   // namespace treesum
