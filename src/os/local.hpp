// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one seam to thread-local state: a word of each OS thread's own (the stream layer keeps its
// stream there), and the places where the C and C++ run-time libraries keep theirs.
//
// A unit may go to sleep on one OS thread and wake on another; a compiler that sees a thread_local
// may keep the first thread's address across the switch. So there is no thread_local in the
// library: each access reads the word by volatile assembly, and a carrier takes the addresses of
// errno and of the exception state once and caches them in its stream.
#pragma once

#include "arch/arch.hpp"

namespace weft::os {

[[gnu::always_inline]] inline void* local() { return arch::local_word(); }
[[gnu::always_inline]] inline void set_local(void* word) { arch::set_local_word(word); }

// The C++ run-time library's state of a thread's exceptions (the Itanium C++ ABI, section 2.2.2).
struct ExceptionGlobals {
    void* caught = nullptr;      // the exceptions being handled, innermost first
    unsigned int uncaught = 0;   // how many are in flight
};

// The calling thread's; valid as long as the thread lives.
ExceptionGlobals* exception_globals();
int* errno_address();

// An address of the calling thread that no other thread has during its lifetime.
void* thread_identity();

}   // namespace weft::os
