// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "os/fault.hpp"

namespace weft::os {

static_assert(sizeof(atomic<std::uint32_t>) == sizeof(std::uint32_t));

void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns) {
    if (fault(Seam::futex_wait)) return;   // as a signal would end it
    timespec limit{.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000),
                   .tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000)};
    const int kept = errno;   // a unit that spawns may get here through a lock: a call that succeeds leaves errno alone
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout_ns == forever ? nullptr : &limit, nullptr, 0);
    errno = kept;
}

void futex_wake(const atomic<std::uint32_t>& word, std::uint32_t count) {
    const int kept = errno;   // a signal handler may post, and the word may be gone by now
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
    errno = kept;
}

}   // namespace weft::os
