// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/error_text.hpp"

#include "os/sim/machine.hpp"

namespace weft::os {

char* error_text() { return sim::hart_error_text(); }

}   // namespace weft::os
