// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam of src/os/thread_pointer.hpp in simulation: the thread pointer of the running virtual
// hart. A check makes sure that no two harts run with the same one.
#pragma once

namespace weft::sim {
void* thread_pointer();
void set_thread_pointer(void* pointer);
}   // namespace weft::sim

namespace weft::os {

inline void* thread_pointer() { return sim::thread_pointer(); }
inline void set_thread_pointer(void* pointer) { sim::set_thread_pointer(pointer); }

}   // namespace weft::os
