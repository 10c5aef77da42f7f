// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pattern at the lowest end of a stack that has no other guard.
#pragma once

#include "mem/stack.hpp"

namespace weft::mem {

void canary_write(Stack& stack);   // makes the stack's lowest page resident

}   // namespace weft::mem
