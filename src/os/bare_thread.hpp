// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seams to a bare thread, which the C library does not know of: a process that has one OS thread
// besides still counts as single-threaded for the C library, and for os::single_threaded().
//
// It has thread-local memory for errno only. So it may call seams (futex, clock, safe_read,
// thread), locks, and Weft's own code between them, but no function of the C library that keeps
// per-thread state: no stdio, no allocation, no locale. It holds none of the program's resources,
// and receives no signals.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "os/thread.hpp"

namespace weft::os {

struct BareThread {
    static constexpr std::size_t stack_bytes = 64 * 1024;

    const char* name = "";
    void (*body)(void*) = nullptr;
    void* argument = nullptr;
    void* memory = nullptr;   // null: there is none
    std::size_t bytes = 0;
    std::uint32_t number = 0;         // the kernel's
    atomic<std::uint32_t> alive{0};   // the kernel's number, until the thread has gone
    bool bare = false;
    Thread known;   // where sanitizers, checks or valgrind must know it: an ordinary thread
};

// The name has at most 15 bytes. One call at a time for one thread. False: the kernel refused, or
// no memory.
bool bare_thread_start(BareThread& thread, const char* name, void (*body)(void*), void* argument);
void bare_thread_join(BareThread& thread);
// How many there are; and for the child of a fork, where there are none.
std::size_t bare_threads_started();
void bare_threads_forked();

// Writes to standard error, in one piece. From any thread.
void say(const char* text, std::size_t bytes);

}   // namespace weft::os
