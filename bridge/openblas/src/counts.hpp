// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counters for weft_counter_read and the report: "/blas/count/calls", calls of OpenBLAS whose
// jobs ran on Weft, and "/blas/count/lowered", how often the number of threads was lowered.
#pragma once

#include <cstdint>

namespace weft_openblas {

// When the first copy is found. Further calls do nothing.
void add_counters();

void count_call();
std::uint64_t calls_on_weft();
void count_lowered();

// In the child of a fork, which has calls of its own.
void forget_counts();

}   // namespace weft_openblas
