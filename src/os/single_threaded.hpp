// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the process has a single OS thread: then no other thread runs between a load and a store,
// and a read-modify-write may be split into the two.
//
// Only the calling thread could start another, and it does not do so between the check and the act
// (user callbacks that run in between are documented not to). Data that a signal handler may touch
// must not depend on the result. glibc maintains the flag for libraries like this one
// (sys/single_threaded.h); it may say no although the process is single-threaded.
#pragma once

#include <sys/single_threaded.h>

namespace weft::os {

[[gnu::always_inline]] inline bool single_threaded() { return __libc_single_threaded != 0; }

}   // namespace weft::os
