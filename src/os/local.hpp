// The one seam to thread-local state: a word that each OS thread has to itself (the stream layer
// keeps its stream there), and where the C and C++ run-time libraries keep theirs.
//
// A unit may go to sleep on one OS thread and wake on another; a compiler that sees a thread_local
// may keep the first thread's address across the switch. So there is no thread_local in the
// library: the word is read by volatile assembly each time it is asked for, and the addresses below
// are taken once by a carrier and cached in its stream.
#pragma once

#include "arch/arch.hpp"

namespace weft::os {

[[gnu::always_inline]] inline void* local() { return arch::local_word(); }
[[gnu::always_inline]] inline void set_local(void* word) { arch::set_local_word(word); }

// What the C++ run-time library knows of a thread's exceptions (the Itanium C++ ABI, section
// 2.2.2).
struct ExceptionGlobals {
    void* caught = nullptr;      // the exceptions being handled, innermost first
    unsigned int uncaught = 0;   // how many are in flight
};

// Of the calling thread; valid as long as it lives.
ExceptionGlobals* exception_globals();
int* errno_address();

// Of the calling thread: an address that no other one has while it lives.
void* thread_identity();

}   // namespace weft::os
