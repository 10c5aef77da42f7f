// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/stack.hpp"

#include <unistd.h>

namespace weft::os {

std::size_t signal_frame_bytes() {
    const long said = sysconf(_SC_MINSIGSTKSZ);
    return said > 0 ? static_cast<std::size_t>(said) : std::size_t{2048};
}

// It is not known what has been touched.
char* lowest_resident(char* lowest, std::size_t) { return lowest; }

bool unreadable(const void*) { return false; }

// Virtual harts share the signal stack of their OS thread, which does not belong to them.
bool signal_stack_set(void*, std::size_t) { return false; }
bool signal_stack_remove(void*) { return false; }

}   // namespace weft::os
