// A seam to memory of this process that may not be there: it is read by the kernel, which does not
// fault.
#pragma once

#include <cstddef>

namespace weft::os {

// Copies from `address` to `to` as far as it can be read, and returns how many bytes that were.
// What others write meanwhile may come half. For whoever looks at what is not his: an unmapped
// page, a guard, an address that is none come to fewer bytes.
std::size_t safe_read(const void* address, void* to, std::size_t bytes);

}   // namespace weft::os
