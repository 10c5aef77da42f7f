// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `weft run --preview`: what `weft run` would do with a program, without running it.
#pragma once

#include <string>

#include "paths.hpp"
#include "program.hpp"

namespace weft_command {

struct PreviewOptions {
    bool native_openmp;
    bool native_tbb;
    bool native_blas;
    bool admits_guests;
    const char* why_variant;   // a clause: why the release is not preloaded; null: it is
};

// Returns a text for people. The environment must be as `weft run` would leave it for the program.
// The program's loader is asked which libraries it would load; no code of the program runs.
std::string preview(const Program& program, const Pieces& pieces, const PreviewOptions& options);

}   // namespace weft_command
