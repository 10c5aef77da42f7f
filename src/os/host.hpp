// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seams to hosts: OS threads that are started only to be parked, so that units can use their stacks
// and their thread control blocks (context/host.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/sanitizer.hpp"
#include "os/cpuset.hpp"
#include "os/futex.hpp"
#include "os/local.hpp"
#include "os/thread.hpp"

namespace weft::os {

struct HostThread {
    static constexpr std::size_t most_kept = 16;

    // What a carrier needs to stand in for it. Constant while it is parked.
    void* thread_pointer = nullptr;
    void** local_word = nullptr;
    int* errno_address = nullptr;
    ExceptionGlobals* exceptions = nullptr;
    char* lowest = nullptr;   // the free part of the stack: the thread itself waits above `top`
    char* top = nullptr;
    std::size_t guard_bytes = 0;   // below it
    std::uint32_t id = 0;          // the kernel's
    std::uintptr_t self = 0;       // the C library's pthread_t

    Thread thread;
    std::size_t wanted_bytes = 0;      // of stack
    const CpuSet* cpus = nullptr;      // where it may run
    char* own_stack = nullptr;         // between `top` and here it waits, and takes signals that cannot be refused
    void* carrier = nullptr;           // the thread pointer of the OS thread that stands in for it
    atomic<std::uint32_t> parked{0};   // 1: parked. 2: not parked yet, and a thread sleeps until it is
    atomic<std::uint32_t> released{0};
    atomic<bool> gone{false};   // it is about to end
    // Keys of the C library that had values before the first unit: the thread's own.
    std::uint32_t kept[most_kept] = {};
    std::size_t kept_count = 0;
};

// Whether there are hosts on this system.
bool hosts_supported();
// Finds out how thread pointers are set. Before the first host.
void host_begin();

// Starts a host, with a stack of at least `bytes` (0: the C library's default). False: refused, or
// no memory. `cpus`: where it may run; null: as the calling thread. One call at a time.
bool host_start(HostThread& host, std::size_t bytes, const CpuSet* cpus);
// Waits until the host is parked. Called by one thread.
inline void host_await(HostThread& host) {
    std::uint32_t seen = 0;
    while (seen != 1) {
        if (seen == 0 && !host.parked.compare_exchange_strong(seen, 2)) continue;
        futex_wait(host.parked, 2);
        seen = host.parked.load();
    }
    sanitizer::tsan_acquire(&host);
}
// No code runs on the host's stack any more: the host ends, and its destructors run. Called once;
// then the host is to be joined.
inline void host_release(HostThread& host) {
    host.released.store(1);
    futex_wake(host.released, 1);
}

// Calls body(argument) on a host's stack, with its thread pointer. False: body was left by
// pthread_exit, or because the pthread was cancelled; the frames in between have been unwound, and
// the pthread can only end now.
[[nodiscard]] bool host_call(void (*body)(void*), void* argument);

// On a host, after a unit: keeps a cancellation of this unit from ending the next one. False: the
// pthread was cancelled, and can only end now.
[[nodiscard]] bool host_settle();

// On a host, after a unit: does what a thread does when it ends (destructors of C++ thread_local
// objects and of keys), so that the next unit finds no values. False: there must be no next unit.
// Either there have been thread_local objects, which compilers take for alive in this thread from
// now on; or this C library does not expose what Weft needs, and the objects are destroyed when the
// thread ends.
[[nodiscard]] bool host_end_of_unit(const HostThread& host);

// Prepares the calling OS thread to run hosted units: the kernel stops writing by itself into the
// thread control block that it takes for this thread's (restartable sequences).
void host_prepare_carrier();

// In the child of a fork, with a host's thread pointer: the caller is the only OS thread, and none
// is parked.
void host_forked();

// Sends a signal to the calling OS thread. With any thread pointer.
void signal_here(int signal);
void signal_thread(std::uint32_t id, int signal);

}   // namespace weft::os
