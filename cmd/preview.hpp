// `weft run --preview`: what would become of a program under `weft run`, without running it.
#pragma once

#include <string>

#include "paths.hpp"
#include "program.hpp"

namespace weft_command {

struct PreviewOptions {
    bool native_openmp;
    bool admits_guests;
    const char* why_variant;   // a clause: why another build than the release is preloaded; null: that is
};

// For people. The environment is as `weft run` would leave it for the program, whose loader is
// asked which libraries it would load; nothing of the program runs.
std::string preview(const Program& program, const Pieces& pieces, const PreviewOptions& options);

}   // namespace weft_command
