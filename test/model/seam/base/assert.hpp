// Assertions of the structures end the search and print the history that broke them.
#pragma once

#include "base/atomic.hpp"

#define WEFT_ASSERT(expression)                                                    \
    do {                                                                           \
        if (!(expression)) ::weft::model::broken(#expression, __FILE__, __LINE__); \
    } while (false)
