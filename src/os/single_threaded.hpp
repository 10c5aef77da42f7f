// Whether the process has a single OS thread: then nobody runs between a load and a store, and a
// read-modify-write may be both.
//
// Only the calling thread could start another, and it does not while it asks and acts (callbacks of
// the user's that run in between are told not to); what a signal handler may touch must not depend
// on the answer. glibc keeps it for libraries like this one (sys/single_threaded.h); it may say no
// when the answer is yes.
#pragma once

#include <sys/single_threaded.h>

namespace weft::os {

[[gnu::always_inline]] inline bool single_threaded() { return __libc_single_threaded != 0; }

}   // namespace weft::os
