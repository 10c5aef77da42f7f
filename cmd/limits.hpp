// What a limit of the address space (ulimit -v, as batch systems set it) means for a program on
// Weft.
#pragma once

#include <cstddef>

namespace weft_command {

struct AddressSpace {
    bool limited = false;
    std::size_t limit_KiB = 0;

    // Below it there is too little for a program and Weft. Weft itself takes some 24 MiB.
    static constexpr std::size_t least_KiB = 96 << 10;
    bool too_small() const { return limited && limit_KiB < least_KiB; }

    // How many arenas malloc is to have; 0: as many as it likes. Each reserves 64 MiB of addresses,
    // and a thread of Weft's that allocates would have one of its own.
    std::size_t most_arenas() const;
};

AddressSpace address_space();

}   // namespace weft_command
