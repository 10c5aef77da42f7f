// The child of a fork. Of all OS threads it has the one that forked; what the others were doing
// with the runtime nobody knows. So the child leaves the parent's runtime where it lies, and gets
// another, with one stream, on which the unit that forked goes on. doc/decisions/0027 tells why.
#pragma once

namespace weft {

// Children of forks from now on are seen to; once, by the first runtime that starts. False: no
// memory.
bool prepare_forks();

// The unit that went on in the child has ended, and with it, when all that is ready has run, the
// child.
[[noreturn]] void end_child();

}   // namespace weft
