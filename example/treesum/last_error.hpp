// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// errno for code that may be suspended between two uses of it.
//
// glibc declares the function behind errno as const, so a compiler may keep the address of one OS
// thread's errno across a suspension. A unit that wakes on another OS thread would then read and
// write the wrong errno. The compiler cannot see through these calls.
#pragma once

namespace treesum {

int last_error();
void clear_error();

}   // namespace treesum
