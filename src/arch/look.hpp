// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relaxed checks of an atomic that a branch follows: hot paths are made of them, and a processor
// may do both in one instruction.
//     any_of(word, bits)        whether one of the bits is set
//     any_of_four(bytes, bits)  any_of for four adjacent bytes, which others may write singly
//     is_zero(word)
#pragma once

#include WEFT_ARCH_LOOK
