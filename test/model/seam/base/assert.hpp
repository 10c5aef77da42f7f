// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A failed assertion of a structure ends the search and prints the history that broke it.
#pragma once

#include "base/atomic.hpp"

#define WEFT_ASSERT(expression)                                                    \
    do {                                                                           \
        if (!(expression)) ::weft::model::broken(#expression, __FILE__, __LINE__); \
    } while (false)
