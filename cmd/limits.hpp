// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The effect of a limit of the address space (ulimit -v, as batch systems set it) on a program on
// Weft.
#pragma once

#include <cstddef>

namespace weft_command {

struct AddressSpace {
    bool limited = false;
    std::size_t limit_KiB = 0;

    // Below this limit there is too little for a program and Weft. Weft itself takes some 24 MiB.
    static constexpr std::size_t least_KiB = 96 << 10;
    bool too_small() const { return limited && limit_KiB < least_KiB; }

    // How many arenas malloc may have; 0: no limit of ours. Each arena reserves 64 MiB of
    // addresses, and each of Weft's threads that allocates would have an arena of its own.
    std::size_t most_arenas() const;
};

AddressSpace address_space();

}   // namespace weft_command
