// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counters for weft_counter_read and the report: "/tbb/count/workers" and "/tbb/count/entries".
#pragma once

namespace weft_tbb {

// Before the first worker is made. Further calls do nothing.
void add_counters();

void count_worker();
// An outermost entry. Threads that enter at once seldom write the same cache line.
void count_entry();

// In the child of a fork, which has workers and entries of its own.
void forget_counts();

}   // namespace weft_tbb
