// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the test calls in the libraries that stand for OpenBLAS with threads of its own.
#pragma once

#include <cstddef>

namespace blas_for_test {

// What the jobs of a call do.
class Work {
public:
    virtual void begins(int job, int worker) = 0;
    // By default called once all jobs of the call have begun: a job spins until then, as OpenBLAS'
    // jobs wait for each other's results.
    virtual void runs(int job, int worker) = 0;

    bool spins = true;

protected:
    ~Work() = default;
};

using Job = void (*)(int worker, void* job, int extra);
using Callback = void (*)(int waits, Job job, int count, std::size_t bytes, void* jobs, int extra);

struct Blas {
    int (*number)();
    void (*set_number)(int);
    void (*call)(Work& work);                  // one job for each of `number` threads
    void (*call_with)(Work& work, int jobs);   // at most one for each thread, unless there is a callback
    void (*set_callback)(Callback);            // null, as the next: it has no such interface
    Callback* callback;
};

// Each library exports it as "threaded_blas".
using Get = const Blas* (*)();

}   // namespace blas_for_test
