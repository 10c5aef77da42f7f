// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stack overflow prints a message, then raises the signal that it would have raised anyway.
//
// The handler runs on an alternate stack: the one that overflowed has no room for it. It is
// async-signal-safe, and passes every fault that is not an overflow of one of these stacks to the
// signal's previous handler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::mem {

// True: `fault_address`, which the instruction at `code` accessed, lies in the guard of a unit's
// stack, and `text` (of `bytes`) holds the message, zero-terminated. Called in a signal handler.
using OverflowDescribe = bool (*)(std::uintptr_t code, const void* fault_address, char* text, std::size_t bytes);

// For a fault that no other handler takes, so that it ends the process: writes the message about
// the fault at the instruction `code`. False: there is none. Called in a signal handler.
using CrashDescribe = bool (*)(int signal, std::uintptr_t code, const void* fault_address, char* text,
                               std::size_t bytes);

// Installs the handler of SIGSEGV and SIGBUS, and of SIGILL where `crash` is given. One at a time;
// overflow_remove() restores the previous handlers, unless other code has installed a handler
// meanwhile: then this one stays in its chain and passes everything on. The two functions must not
// run concurrently.
void overflow_install(OverflowDescribe describe, CrashDescribe crash = nullptr);
void overflow_remove();

// The calling OS thread's alternate signal stack.
class AlternateStack {
public:
    AlternateStack() = default;
    AlternateStack(const AlternateStack&) = delete;
    ~AlternateStack();   // after leave()

    // Gives the calling thread an alternate stack, unless it has one already. False: no memory.
    bool enter();
    // On the same thread: removes it again, if it is still this one.
    void leave();
    // Like leave(), but keeps the memory, which the next enter() reuses, or leave() releases, on
    // any thread.
    void step_out();

private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    bool inside_ = false;
};

}   // namespace weft::mem
