// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The child of a fork. Of all OS threads it has only the one that forked; what the others were
// doing with the runtime is unknown. So the child leaves the parent's runtime as it is, and gets
// another, with one stream, on which the unit that forked continues. doc/decisions/0027 says why.
#pragma once

namespace weft {

// Prepares for children of later forks; called once, by the first runtime that starts. False: no
// memory.
bool prepare_forks();

// The unit that continued in the child has ended. Runs what is ready, then ends the child.
[[noreturn]] void end_child();

}   // namespace weft
