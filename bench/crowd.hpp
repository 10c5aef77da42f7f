// Units that yield to each other: one measures, the others go on until told. They all yield at the same place
// in the code, as workers of one program do: otherwise the processor's guess where each yield returns to is
// wrong every time, and that is what would be measured.
#pragma once

#include "harness.hpp"

namespace bench {

struct Crowd {
    benchmark::State& state;
    benchmark::IterationCount count;   // units, the one that measures included
    bool stop = false;                 // one OS thread, so a plain flag

    // The measuring one asks Google Benchmark, the others look whether it has stopped.
    [[gnu::always_inline]] bool goes_on(bool measures) {
        return measures ? state.KeepRunningBatch(count) : !*static_cast<volatile bool*>(&stop);
    }

    // noipa, and a value that the compiler cannot know: no copy of the loop for either side.
    template <class Yield>
    [[gnu::noipa]] void yield_together(bool measures, Yield yield) {
        while (goes_on(measures)) {
            yield();
            asm volatile("" : "+r"(measures));
        }
    }
};

}  // namespace bench
