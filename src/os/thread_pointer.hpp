// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The thread pointer of the calling OS thread, through which its thread-local memory is found.
// Hosted units have one of their own (context/host.hpp).
#pragma once

#include "arch/arch.hpp"

namespace weft::os {

[[gnu::always_inline]] inline void* thread_pointer() { return arch::thread_pointer(); }
[[gnu::always_inline]] inline void set_thread_pointer(void* pointer) { arch::set_thread_pointer(pointer); }

}   // namespace weft::os
