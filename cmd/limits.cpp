// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "limits.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>

namespace weft_command {

std::size_t AddressSpace::most_arenas() const {
    if (!limited) return 0;
    constexpr std::size_t arena_KiB = 64 << 10;
    // The part of the limit that arenas may reserve: addresses that are idle there are missing
    // elsewhere. Without an arena malloc can map pages; a stack has no such alternative.
    constexpr std::size_t share = 16;
    const std::size_t most = std::max<std::size_t>(limit_KiB / share / arena_KiB, 1);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const std::size_t by_itself = 8 * static_cast<std::size_t>(std::max(processors, 1L));   // glibc's own limit
    return most < by_itself ? most : 0;
}

AddressSpace address_space() {
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    return {true, static_cast<std::size_t>(limit.rlim_cur >> 10)};
}

}   // namespace weft_command
