// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Deviations as text: what a report prints and options::replay takes.
//
//     0@57>2~1/3   at its step 57 hart 0 is left for hart 2; its last store stays in its buffer
//                  over three switches
//     0@57>2-64    hart 0 is left for hart 2, and is out for 64 decisions
//     1@12=>3      hart 1 waits, or has ended, at its step 12, and hart 3 runs; with ':' for '=',
//                  it only lets others run
//     0@80^        the earliest deadline expires; 0@81!2: hart 2 is woken for no reason
#pragma once

#include <string>
#include <vector>

#include "os/sim/strategy.hpp"

namespace weft::sim {

std::string replay_text(const std::vector<Deviation>& deviations);

// False: the text is no such list; `wrong` says where.
bool parse_replay(const char* text, std::vector<Deviation>& deviations, std::string& wrong);

}   // namespace weft::sim
