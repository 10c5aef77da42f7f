// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses one of the calling thread's requests to the system: for memory, a mapping, or a thread.
// The program is linked so that all such calls of libweft and libabt arrive here (refuse.cpp,
// bridge/argobots/tests.cmake), also with sanitizers, to whose malloc they are passed on.
#pragma once

namespace refuse {

// From now on, refuses request number `number` (from 0 on) of the calling OS thread; none if it is
// negative.
void begin(int number);
void end();
bool refused();   // whether a request was refused since begin()

long live_blocks();   // of the whole process

}   // namespace refuse
