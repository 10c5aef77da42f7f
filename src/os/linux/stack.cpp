// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/stack.hpp"

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/memory.hpp"

namespace weft::os {

std::size_t signal_frame_bytes() {
    static const std::size_t bytes = [] {
        const long said = sysconf(_SC_MINSIGSTKSZ);
        return said > 0 ? static_cast<std::size_t>(said) : std::size_t{2048};   // the constant from before AVX-512
    }();
    return bytes;
}

char* lowest_resident(char* lowest, std::size_t bytes) {
    const std::size_t page = page_bytes();
    unsigned char present[256];
    char* const end = lowest + bytes;
    for (char* at = lowest; at < end;) {
        const std::size_t some = std::min(static_cast<std::size_t>(end - at), sizeof present * page);
        if (mincore(at, some, present) != 0) return lowest;   // not known: assume the most
        for (std::size_t i = 0; i < some / page; ++i) {
            if (present[i] & 1) return at + i * page;
        }
        at += some;
    }
    return end;
}

// A futex wait that cannot sleep only reads the word; it opens nothing, and emulators and memory
// checkers know it.
bool unreadable(const void* address) {
    const int before = errno;
    const timespec at_once{};
    const long answer = syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, 1, &at_once, nullptr, 0);
    const bool faults = answer != 0 && errno == EFAULT;
    errno = before;
    return faults;
}

bool signal_stack_set(void* memory, std::size_t bytes) {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || !(present.ss_flags & SS_DISABLE)) return false;
    stack_t wanted{};
    wanted.ss_sp = memory;
    wanted.ss_size = bytes;
    return sigaltstack(&wanted, nullptr) == 0;
}

bool signal_stack_remove(void* memory) {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) || present.ss_sp != memory) return false;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    none.ss_size = signal_frame_bytes();   // some systems check it even so
    return sigaltstack(&none, nullptr) == 0;
}

}   // namespace weft::os
