// The seam of src/os/thread_pointer.hpp in simulation: of the virtual hart that runs. That no two
// run by one is checked.
#pragma once

namespace weft::sim {
void* thread_pointer();
void set_thread_pointer(void* pointer);
}   // namespace weft::sim

namespace weft::os {

inline void* thread_pointer() { return sim::thread_pointer(); }
inline void set_thread_pointer(void* pointer) { sim::set_thread_pointer(pointer); }

}   // namespace weft::os
