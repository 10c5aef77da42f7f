// A stack overflow ends in a message, then in the signal it always was.
//
// The handler runs on an alternate stack: the one that overflowed has no room for it. It is
// async-signal-safe, and hands every fault that is not an overflow of ours to whoever handled the
// signal before.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::mem {

// True: `fault_address`, which the instruction at `code` accessed, lies in the guard of a unit's
// stack, and `text` (of `bytes`) holds what to say, ended by a zero. Called in a signal handler.
using OverflowDescribe = bool (*)(std::uintptr_t code, const void* fault_address, char* text, std::size_t bytes);

// A fault that nobody else handles, so that it ends the process: what to say of the one at the
// instruction `code`. False: nothing. Called in a signal handler.
using CrashDescribe = bool (*)(int signal, std::uintptr_t code, const void* fault_address, char* text,
                               std::size_t bytes);

// Installs the handler of SIGSEGV and SIGBUS, and of SIGILL where `crash` is given. One at a time;
// overflow_remove() restores what was before, unless somebody has installed another handler
// meanwhile: then ours stays in its chain and passes everything on. Not thread-safe against each
// other.
void overflow_install(OverflowDescribe describe, CrashDescribe crash = nullptr);
void overflow_remove();

// The calling OS thread's alternate signal stack.
class AlternateStack {
public:
    AlternateStack() = default;
    AlternateStack(const AlternateStack&) = delete;
    ~AlternateStack();   // after leave()

    // Gives the calling thread one, unless it has one already. False: no memory.
    bool enter();
    // On the same thread: takes it away again, if it is still ours.
    void leave();
    // As leave(), but keeps the memory, which the next enter() takes, or leave() gives back, on any
    // thread.
    void step_out();

private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    bool inside_ = false;
};

}   // namespace weft::mem
