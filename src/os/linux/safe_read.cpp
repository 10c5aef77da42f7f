// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/safe_read.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "os/fault.hpp"

namespace weft::os {
namespace {

// Where process_vm_readv is refused (an emulator, a strict sandbox): a pipe, to which the kernel
// copies from the address. System calls by number, here and in safe_read(): sanitizers check the
// arguments of the C library's functions, and this function is not responsible for what other
// threads write.
std::size_t safe_read_by_pipe(const char* address, char* to, std::size_t bytes) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return 0;
    constexpr std::size_t step = 4096;   // one page: no more than the pipe holds, and it faults as a whole
    std::size_t copied = 0;
    while (copied < bytes) {
        const std::size_t to_page = step - reinterpret_cast<std::uintptr_t>(address + copied) % step;
        const long in = syscall(SYS_write, ends[1], address + copied, std::min(to_page, bytes - copied));
        if (in <= 0) break;
        if (syscall(SYS_read, ends[0], to + copied, in) != in) break;
        copied += static_cast<std::size_t>(in);
    }
    close(ends[0]);
    close(ends[1]);
    return copied;
}

}   // namespace

std::size_t safe_read(const void* address, void* to, std::size_t bytes) {
    const int kept = errno;
    const iovec here{to, bytes}, there{const_cast<void*>(address), bytes};
    long copied = fault(Seam::safe_read) ? -1 : syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0);
    // EFAULT: not a byte of it can be read; but on some kernels also where only the end cannot.
    if (copied < 0)
        copied = static_cast<long>(safe_read_by_pipe(static_cast<const char*>(address), static_cast<char*>(to), bytes));
    errno = kept;
    return static_cast<std::size_t>(copied);
}

}   // namespace weft::os
