// Refuses the calling thread one thing that it asks the system for: memory, a mapping, a thread.
// The program is linked so that all of these calls of libweft and libabt come here (refuse.cpp,
// bridge/argobots/tests.cmake); also with sanitizers, whose malloc they go on to.
#pragma once

namespace refuse {

// From now on thing number `number` from 0 on is refused to the calling OS thread; none, where it
// is negative.
void begin(int number);
void end();
bool refused();   // it has been, since begin()

long live_blocks();   // of the whole process

}   // namespace refuse
