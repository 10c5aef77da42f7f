// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// abi_test.c, compiled as C++.
#include "abi_test.c"
