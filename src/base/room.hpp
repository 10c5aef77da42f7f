// Memory of the book of handles (handles.hpp), and of what its handles lead to, in builds that
// check: it stays. Most of it lies in the library, so that a program may refuse any allocation
// without ending here.
#pragma once

#include <cstddef>

namespace weft::handles {

void* room_for_good(std::size_t bytes);

}   // namespace weft::handles
