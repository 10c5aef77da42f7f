// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C library does not know virtual harts anyway.
#include "os/bare_thread.hpp"

#include <cstdio>

namespace weft::os {

bool bare_thread_start(BareThread& thread, const char*, void (*body)(void*), void* argument) {
    return thread_start(thread.known, BareThread::stack_bytes, body, argument);
}

void bare_thread_join(BareThread& thread) { thread_join(thread.known); }

std::size_t bare_threads_started() { return 0; }   // thread_start() counts them

void bare_threads_forked() {}

void say(const char* text, std::size_t bytes) { std::fwrite(text, 1, bytes, stderr); }

}   // namespace weft::os
