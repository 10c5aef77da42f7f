// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// oneTBB with a given number of threads: a deterministic sum over a loop, a sort, and tasks that
// fork.
#include <oneapi/tbb.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

long fib(int n) {
    if (n < 18) return n < 2 ? n : fib(n - 1) + fib(n - 2);
    long left = 0;
    long right = 0;
    tbb::parallel_invoke([&] { left = fib(n - 1); }, [&] { right = fib(n - 2); });
    return left + right;
}

}   // namespace

int main(int count, char** arguments) {
    const auto threads = std::size_t(std::atoi(count > 1 ? arguments[1] : "2"));
    const int times = count > 2 ? std::atoi(arguments[2]) : 8;
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    double sum = 0;
    std::vector<double> values(300'000);
    for (int turn = 0; turn < times; ++turn) {
        sum += tbb::parallel_deterministic_reduce(
            tbb::blocked_range<int>(0, 1'000'000, 10'000), 0.0,
            [](const tbb::blocked_range<int>& range, double so_far) {
                for (int i = range.begin(); i != range.end(); ++i) so_far += std::sqrt(double(i));
                return so_far;
            },
            [](double a, double b) { return a + b; });
        tbb::parallel_for(std::size_t{0}, values.size(), [&](std::size_t i) { values[i] = std::sin(double(i)); });
        tbb::parallel_sort(values);
    }
    std::printf("%.17g %.17g %ld\n", sum, values[1000], fib(30));
}
