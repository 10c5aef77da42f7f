// Seams to hosts: OS threads that are started to be parked, so that units have their stacks and
// their thread control blocks (context/host.hpp).
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

    // What others need to stand in for it. Constant while it is parked.
    void* thread_pointer = nullptr;
    void** local_word = nullptr;
    int* errno_address = nullptr;
    ExceptionGlobals* exceptions = nullptr;
    char* lowest = nullptr;   // the stack that is free: the thread itself waits above `top`
    char* top = nullptr;
    std::size_t guard_bytes = 0;   // below it
    std::uint32_t id = 0;          // the kernel's
    std::uintptr_t self = 0;       // the C library's: pthread_t

    Thread thread;
    std::size_t wanted_bytes = 0;      // of stack
    const CpuSet* cpus = nullptr;      // where it may run
    char* own_stack = nullptr;         // between `top` and here it waits, and is told what no thread can refuse
    void* carrier = nullptr;           // the thread pointer of the OS thread that stands in for it
    atomic<std::uint32_t> parked{0};   // 1: it is. 2: it is not yet, and a thread sleeps until it is
    atomic<std::uint32_t> released{0};
    atomic<bool> gone{false};   // it is about to end
    // Keys of the C library that had values before any unit came: they are the thread's.
    std::uint32_t kept[most_kept] = {};
    std::size_t kept_count = 0;
};

// Whether there are hosts on this system.
bool hosts_supported();
// Finds out by which way thread pointers are set. Before the first host.
void host_begin();

// Starts one, with a stack of at least `bytes` (0: as the C library has it). False: refused, or no
// memory. `cpus`: where it may run; null: as the calling thread. One call at a time.
bool host_start(HostThread& host, std::size_t bytes, const CpuSet* cpus);
// Waits until it is parked. By one thread.
inline void host_await(HostThread& host) {
    std::uint32_t seen = 0;
    while (seen != 1) {
        if (seen == 0 && !host.parked.compare_exchange_strong(seen, 2)) continue;
        futex_wait(host.parked, 2);
        seen = host.parked.load();
    }
    sanitizer::tsan_acquire(&host);
}
// Nobody stands on its stack any more: it ends, and its destructors run. Once; then it is to be
// joined.
inline void host_release(HostThread& host) {
    host.released.store(1);
    futex_wake(host.released, 1);
}

// Calls body(argument) on a host's stack, by its thread pointer. False: that has been left by
// pthread_exit, or because the pthread was cancelled; the frames in between have been unwound, and
// the pthread is good for nothing any more but its end.
[[nodiscard]] bool host_call(void (*body)(void*), void* argument);

// There, after a unit: that it was cancelled is not to end the next one. False: it was, and the
// pthread is good for nothing any more.
[[nodiscard]] bool host_settle();

// There, after a unit: what a thread does when it ends (destructors of C++ thread_local objects and
// of keys), so that the next unit finds no values. False: there must be no next one. There have
// been such objects, which compilers take for alive in this thread from now on; or this C library
// does not show what we need, and they are destroyed when the thread ends.
[[nodiscard]] bool host_end_of_unit(const HostThread& host);

// The calling OS thread is to run hosted units: what the kernel writes by itself into the thread
// control block of whom it takes it for, it does no more.
void host_prepare_carrier();

// In the child of a fork, by a host's thread pointer: it is the one OS thread that there is, and
// nobody is parked.
void host_forked();

// A signal for the calling OS thread. From any thread pointer.
void signal_here(int signal);
void signal_thread(std::uint32_t id, int signal);

}   // namespace weft::os
