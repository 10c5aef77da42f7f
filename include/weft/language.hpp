// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Weft's C++ headers require of the compiler. Each of them includes this one first, so that
// its message is the first that a user reads. Declares nothing.
#pragma once

#if __cplusplus < 202002L
#error "Weft's C++ headers are C++20: compile with -std=c++20. The C interface, <weft/weft.h>, needs C11 or any C++."
#endif

#ifndef __cpp_exceptions
#error "Weft's C++ headers throw: compile without -fno-exceptions, or use the C interface, <weft/weft.h>."
#endif
