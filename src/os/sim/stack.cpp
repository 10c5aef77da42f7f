#include "os/stack.hpp"

#include <unistd.h>

namespace weft::os {

std::size_t signal_frame_bytes() {
    const long said = sysconf(_SC_MINSIGSTKSZ);
    return said > 0 ? static_cast<std::size_t>(said) : std::size_t{2048};
}

// Nothing is known of what has been touched.
char* lowest_resident(char* lowest, std::size_t) { return lowest; }

bool unreadable(const void*) { return false; }

// Virtual harts share the signal stack of their OS thread, which is not theirs.
bool signal_stack_set(void*, std::size_t) { return false; }
bool signal_stack_remove(void*) { return false; }

}   // namespace weft::os
