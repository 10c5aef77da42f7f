// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A seam to memory of this process that may not exist: the kernel reads it, and does not fault.
#pragma once

#include <cstddef>

namespace weft::os {

// Copies from `address` to `to` as far as the memory can be read, and returns how many bytes that
// were. Concurrent writes may be seen half done. For reading memory that the caller does not own:
// an unmapped page, a guard or an invalid address yields fewer bytes.
std::size_t safe_read(const void* address, void* to, std::size_t bytes);

}   // namespace weft::os
