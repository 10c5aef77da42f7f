// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam to fork(2): the function that is called in the child.
#pragma once

namespace weft::os {

// From now on each child that fork() makes calls child(), on its one OS thread, before fork()
// returns there. To be called once. False: no memory. posix_spawn, vfork and the like make no such
// child, and cost nothing.
bool at_fork(void (*child)());

}   // namespace weft::os
