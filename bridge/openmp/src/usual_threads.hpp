// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many threads a region has that does not say so, and what omp_get_max_threads returns. With
// WEFT_OMP_MAX_THREADS=follow that follows the load for threads of the program that are not its
// first, and for code that another library runs side by side (weft_concurrent).
//
// Libraries size what they keep by one answer, and index it by the threads of later regions, for
// which they ask again: XGBoost and LightGBM write beyond its end where the later answer is larger.
// So a thread's number only falls, until the thread has rested: then it is in no such library.
#pragma once

#include <cstdint>

namespace weft_openmp {

struct Thread;

// What a thread has been told. The thread's own.
class Told {
public:
    // The thread asks, and `now` threads, of `most`, are there for it. Returns what it is told.
    unsigned answer(unsigned now, unsigned most);
    bool has_asked() const { return last_ != nothing; }
    unsigned last() const { return last_; }
    void forget() { last_ = nothing; }

    std::uint32_t asked_in = 0;   // the window of time in which it last asked (Askers)

private:
    static constexpr unsigned nothing = ~0U;

    bool has_rested() const;

    unsigned last_ = nothing;
    std::uint64_t at_ns_ = 0, cpu_ns_ = 0;   // when it was, and the thread's CPU time then; kept for less than `most`
};

// How many threads that the program has made have asked of late. From any thread.
unsigned asking_threads();

// The value of omp_get_max_threads.
unsigned max_threads(Thread& me);

// How many threads a region gets that asks for `wanted` (0: as nthreads-var says). Where the
// contention group has a limit they are taken from what is left, so a region is to begin with them.
unsigned threads_for(const Thread& me, unsigned wanted);

}   // namespace weft_openmp
