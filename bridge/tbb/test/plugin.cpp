// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library that uses TBB, for plugins.cpp, which opens and closes it.
#include <oneapi/tbb.h>

namespace {

struct AtEnd {
    tbb::task_arena arena{2};
} at_end;

}   // namespace

extern "C" [[gnu::visibility("default")]] int plugin_sum(int count) {
    std::atomic<int> sum{0};
    tbb::parallel_for(
        0, count, [&](int i) { sum += i; }, tbb::simple_partitioner());
    at_end.arena.execute([&] {
        tbb::parallel_for(
            0, count, [&](int i) { sum += i; }, tbb::simple_partitioner());
    });
    return sum;
}

// Ends the workers, whose code may go away then.
extern "C" [[gnu::visibility("default")]] int plugin_finish() {
    tbb::task_scheduler_handle handle{tbb::attach()};
    at_end.arena.terminate();   // the last that TBB knows of would end the workers without a wait
    return tbb::finalize(handle, std::nothrow) ? 1 : 0;
}
