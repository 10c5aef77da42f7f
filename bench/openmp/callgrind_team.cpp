// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Like bench/callgrind_spawn.cpp, for the members of an OpenMP team: four of them meet at barriers
// on one CPU, where all run on the OS thread that counts. Regions are not counted: their members
// come and go on several OS threads.
//   callgrind_team barrier COUNT
// Prints how many times a member has waited at a barrier.
#include "program.hpp"

namespace {

constexpr long members = 4;

void barriers(long count) {
#pragma omp parallel num_threads(members)
    for (long i = 0; i < count; ++i) {
#pragma omp barrier
    }
}

}   // namespace

int main(int argc, char** argv) {
    if (argc != 3 || std::strcmp(argv[1], "barrier") != 0) {
        std::fprintf(stderr, "usage: callgrind_team barrier COUNT\n");
        return 1;
    }
    bench::pin(bench::usable_cpus().back());
    const long count = std::stol(argv[2]) / members;
    barriers(count);
    std::printf("%ld\n", count * members);
    return 0;
}
