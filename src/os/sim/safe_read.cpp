// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/safe_read.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace weft::os {

// Nothing is unmapped meanwhile, since only one hart runs; but the reader may read beyond the end
// of what exists.
std::size_t safe_read(const void* address, void* to, std::size_t bytes) {
    const int kept = errno;
    const iovec here{to, bytes}, there{const_cast<void*>(address), bytes};
    const ssize_t copied = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    errno = kept;
    return static_cast<std::size_t>(std::max<ssize_t>(copied, 0));
}

}   // namespace weft::os
