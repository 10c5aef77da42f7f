// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many threads of the process compute, of those that are neither an OpenBLAS' own nor Weft's.
#pragma once

#include <vector>

namespace weft_openblas {

class Computing {
public:
    struct Counts {
        int now = 0;     // how many of them run, or wait for a CPU
        int still = 0;   // and did at the look before this one
    };
    // All 0 where the system does not tell.
    Counts look();

private:
    bool runs(int tasks, int id);

    std::vector<int> ran_, wefts_;   // threads that ran; threads of Weft. In order
    std::vector<int> found_;         // of Weft, in this look
};

}   // namespace weft_openblas
