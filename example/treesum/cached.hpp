// Files as far as they lie in memory. A blocking section costs some microseconds, and most of what
// is read again and again needs none: these ask the kernel for what it can give at once.
#pragma once

#include <cstddef>
#include <string>

#include <sys/types.h>

namespace treesum {

// A descriptor; -1: the kernel would wait, or cannot say, or something is wrong, which open() will
// tell.
int open_cached(const std::string& path, int flags);

// How many bytes were read, perhaps fewer than there are; 0: the end; -1: the kernel would wait, or
// cannot say, or something is wrong, which read() will tell.
ssize_t read_cached(int descriptor, void* to, std::size_t bytes);

}   // namespace treesum
