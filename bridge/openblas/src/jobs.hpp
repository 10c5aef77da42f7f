// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The jobs of an OpenBLAS that lets others run them: regions of Weft's OpenMP. That pays where
// something else uses the harts as well. A caller that is alone is served better by OpenBLAS' own
// threads, to which it gives some jobs by another way (exec_blas_async in its LU factorization), so
// that they spin beside ours.
#pragma once

namespace weft_openblas {

// Whether jobs are to run on Weft from now on. A copy runs them itself where it has no such
// interface, or the program has set a callback, where its number is above the harts, where there is
// no OpenMP of ours, or the kernel gives it no more threads.
void take_jobs(bool wanted);

}   // namespace weft_openblas
