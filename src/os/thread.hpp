// Seams to OS threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::os {

struct Thread {
    std::uintptr_t handle = 0;   // pthread_t
    void* start = nullptr;       // the seam's own, until the thread is joined
};

struct Span {
    void* lowest = nullptr;
    std::size_t bytes = 0;
};

// Which signals a thread has blocked.
struct SignalMask {
    alignas(std::uint64_t) unsigned char bits[128] = {};
};

// Starts body(argument) on an OS thread with a stack of `stack_bytes`, all signals as the caller
// has them. False: the kernel refused, or no memory.
bool thread_start(Thread& thread, std::size_t stack_bytes, void (*body)(void*), void* argument);
void thread_join(Thread& thread);
// Whether the calling OS thread is in thread_start(), at whose locks it must not wait: what the C
// library is asked for there may come to those that stand in front of it.
bool thread_is_starting_one();

// The OS threads of the process, whoever has started them; 0: not known.
std::size_t thread_count();
// Those of them that thread_start() has started; and in the child of a fork, where there is none of
// them.
std::size_t threads_started();
void threads_forked();

// At most 15 bytes, for debuggers and top.
void thread_name(const char* name);

// A word that each OS thread keeps to itself beside os::local(): null at first. When a thread ends
// with another, `at_end` is called with that, on it; not for the thread that returns from main. One
// in a process (the simulator has room for no more).
class ThreadKey {
public:
    explicit ThreadKey(void (*at_end)(void*));
    void* get() const;
    bool set(void* word) const;   // false: no memory

private:
    std::uintptr_t key_ = 0;   // one more than the system's; 0: it has none left
};

std::uint32_t thread_id();       // the kernel's number of the calling thread
Span thread_stack();             // of the calling thread; an empty span when it is not known
void thread_without_signals();   // blocks all signals for the calling thread: others are to have them
SignalMask thread_signals();     // of the calling thread
void thread_set_signals(const SignalMask& mask);
// How much of a processor's time that thread of this process has used. False: there is none, or the
// kernel does not say.
bool thread_time(std::uint32_t thread, std::uint64_t& ns);
// What a thread of this process does, as the kernel has it.
enum class Doing : unsigned char {
    unknown,   // there is no such thread, or the kernel does not say
    runs,      // it computes, or could and waits for a processor
    waits,     // it is blocked in the kernel
};
// `call`: the number of the system call that it waits in; -1: in none (a page that is being read,
// say), or not known. Also for bare threads (bare_thread.hpp).
Doing thread_doing(std::uint32_t thread, long& call);
// The time that this thread was ready and did not run, in all, since other threads had its
// processors. False: there is no such thread, or the kernel does not say.
bool thread_delay(std::uint32_t thread, std::uint64_t& ns);
void thread_yield();   // lets other OS threads run on this processor

}   // namespace weft::os
