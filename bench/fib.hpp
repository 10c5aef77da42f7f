// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fib(n) by plain calls, by a fork for each call (in C++; by weft_invoke; and as a C program forks
// whose arguments and results are its own), and by a ULT for each call (one branch is spawned, the
// other called).
#pragma once

#include <weft/parallel.hpp>

#include "weft_harness.hpp"

namespace bench {

// noinline, like the others: calls are compared.
[[gnu::noinline]] inline long fib_called(int n) { return n < 2 ? n : fib_called(n - 1) + fib_called(n - 2); }

[[gnu::noinline]] inline long fib_forked(int n) {
    if (n < 2) return n;
    const auto [a, b] = weft::invoke([n] { return fib_forked(n - 1); }, [n] { return fib_forked(n - 2); });
    return a + b;
}

struct FibInC {
    int n;
    long result;
    static void run(void* raw) {
        auto& self = *static_cast<FibInC*>(raw);
        if (self.n < 2) {
            self.result = self.n;
            return;
        }
        FibInC a{self.n - 1, 0}, b{self.n - 2, 0};
        must(weft_invoke(run, &a, run, &b));
        self.result = a.result + b.result;
    }
};

inline long fib_forked_in_c(int n) {
    FibInC all{n, 0};
    FibInC::run(&all);
    return all.result;
}

// Its arguments and results lie in registers.
struct FibByJobs : weft_job {
    int n;
    long result;
};

[[gnu::noinline]] inline long fib_forked_by_jobs(int n) {
    if (n < 2) return n;
    FibByJobs second;
    second.run = [](weft_job* job) {
        auto& self = *static_cast<FibByJobs*>(job);
        self.result = fib_forked_by_jobs(self.n);
    };
    second.n = n - 2;
    weft_job_fork(&second);
    const long first = fib_forked_by_jobs(n - 1);
    return first + (weft_job_join(&second) ? fib_forked_by_jobs(n - 2) : second.result);
}

struct FibSpawned {
    int n;
    long result;
    static void run(void* raw) {
        auto& self = *static_cast<FibSpawned*>(raw);
        if (self.n < 2) {
            self.result = self.n;
            return;
        }
        FibSpawned a{self.n - 1, 0}, b{self.n - 2, 0};
        weft_unit* unit = nullptr;
        must(weft_ult_spawn(nullptr, run, &b, nullptr, &unit));
        run(&a);
        must(weft_unit_join_free(unit));
        self.result = a.result + b.result;
    }
};

inline long fib_spawned(int n) {
    FibSpawned all{n, 0};
    FibSpawned::run(&all);
    return all.result;
}

}   // namespace bench
