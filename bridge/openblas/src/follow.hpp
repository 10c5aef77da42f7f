// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many threads the OpenBLASes with threads of their own use (WEFT_BLAS_THREADS). With `follow`,
// which `weft run` sets, as many as the program wants, at most one for each hart; while several
// threads of the process compute, at most each one's share of the harts, which is one on small
// machines. With `full` the number is the program's affair.
#pragma once

namespace weft_openblas {

// How many harts the process may use, also before there is a runtime, which reads WEFT_HARTS.
int harts();

bool follows();

// The program starts a thread: from now on several may compute.
void program_starts_thread();
// A copy starts a thread of its own, and has so many then.
void copy_starts_thread(int threads);

// Our OpenMP makes a team, or a larger one: its members compete with the copies' own threads.
void openmp_begins();

// So many threads call OpenBLAS at once: there is no need to look.
void several_call(int calls);

}   // namespace weft_openblas
