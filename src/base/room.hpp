// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory for the book of handles (handles.hpp), and for the objects of its handles, in checked
// builds: it is never freed. Most of it lies in the library, so that a program may refuse any
// allocation without being ended here.
#pragma once

#include <cstddef>

namespace weft::handles {

void* room_for_good(std::size_t bytes);

}   // namespace weft::handles
