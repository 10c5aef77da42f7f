// errno for code that may be suspended between two looks at it.
//
// glibc declares the function behind errno as const, so a compiler may keep the address of one OS
// thread's errno over a suspension; a unit that wakes on another OS thread would then look at, and
// write, the wrong one. These are calls that a compiler does not see through.
#pragma once

namespace treesum {

int last_error();
void clear_error();

}   // namespace treesum
