// Seams to a thread that the C library does not know of: a process with one OS thread besides is
// still one with a single thread to that, and to os::single_threaded().
//
// It has thread-local memory for errno alone. So it may call seams (futex, clock, safe_read,
// thread), locks, and our own code between them, and nothing of the C library's that keeps anything
// by thread: no stdio, no allocation, no locale. It holds nothing that the program has, and
// receives no signals.
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
    atomic<std::uint32_t> alive{0};   // the kernel's number, until the thread is gone
    bool bare = false;
    Thread known;   // where sanitizers, checks or valgrind must know it: an ordinary one
};

// At most 15 bytes for the name. One call at a time for one thread. False: the kernel refused, or
// no memory.
bool bare_thread_start(BareThread& thread, const char* name, void (*body)(void*), void* argument);
void bare_thread_join(BareThread& thread);
// Those that there are; in the child of a fork, where there are none.
std::size_t bare_threads_started();
void bare_threads_forked();

// To standard error, in one piece. From any thread.
void say(const char* text, std::size_t bytes);

}   // namespace weft::os
