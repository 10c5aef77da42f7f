#include "os/peek.hpp"

#include <cstring>

namespace weft::os {

// Nothing is unmapped meanwhile: only one hart runs.
std::size_t peek(const void* address, void* to, std::size_t bytes) {
    std::memcpy(to, address, bytes);
    return bytes;
}

}  // namespace weft::os
