// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seams to OS threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::os {

struct Thread {
    std::uintptr_t handle = 0;   // pthread_t
    void* start = nullptr;       // private to the seam, until the thread is joined
};

struct Span {
    void* lowest = nullptr;
    std::size_t bytes = 0;
};

// Which signals a thread has blocked.
struct SignalMask {
    alignas(std::uint64_t) unsigned char bits[128] = {};
};

// Starts body(argument) on an OS thread with a stack of `stack_bytes`, with the caller's signal
// mask. False: the kernel refused, or no memory.
bool thread_start(Thread& thread, std::size_t stack_bytes, void (*body)(void*), void* argument);
void thread_join(Thread& thread);
// Whether the calling OS thread is inside thread_start(), whose callers' locks it must not wait
// for: the C library's calls there may reach functions that stand in front of its own.
bool thread_is_starting_one();

// The OS threads of the process, no matter what started them; 0: not known.
std::size_t thread_count();
// How many of them thread_start() has started; and for the child of a fork, where there are none of
// these.
std::size_t threads_started();
void threads_forked();

// At most 15 bytes, for debuggers and top.
void thread_name(const char* name);

// A word of each OS thread's own beside os::local(): null at first. When a thread ends with another
// value, `at_end` is called with that value, on the thread; not for the thread that returns from
// main. At most one key in a process (the simulator has room for no more).
class ThreadKey {
public:
    explicit ThreadKey(void (*at_end)(void*));
    void* get() const;
    bool set(void* word) const;   // false: no memory

private:
    std::uintptr_t key_ = 0;   // one more than the system's key; 0: the system has none left
};

std::uint32_t thread_id();       // the kernel's number of the calling thread
Span thread_stack();             // of the calling thread; an empty span when it is not known
void thread_without_signals();   // blocks all signals for the calling thread: other threads are to receive them
SignalMask thread_signals();     // of the calling thread
void thread_set_signals(const SignalMask& mask);
// How much processor time that thread of this process has used. False: there is no such thread, or
// the kernel does not say.
bool thread_time(std::uint32_t thread, std::uint64_t& ns);
// What a thread of this process does, according to the kernel.
enum class Doing : unsigned char {
    unknown,   // there is no such thread, or the kernel does not say
    runs,      // it computes, or is ready and waits for a processor
    waits,     // it is blocked in the kernel
};
// `call`: the number of the system call that the thread waits in; -1: none (for a page to be read,
// say), or not known. Also for bare threads (bare_thread.hpp).
Doing thread_doing(std::uint32_t thread, long& call);
// For how long in total this thread was ready and did not run, because other threads had its
// processors. False: there is no such thread, or the kernel does not say.
bool thread_delay(std::uint32_t thread, std::uint64_t& ns);
void thread_yield();   // lets other OS threads run on this processor

}   // namespace weft::os
