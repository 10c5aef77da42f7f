// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this library knows about the program's signal handlers.
#pragma once

namespace weft_pthread {

// Whether a signal ends a wait. `restarts`: a wait that the C library would continue after a
// handler that was set with SA_RESTART. False if the signal is ignored.
bool interrupts(int signal, bool restarts) noexcept;

}   // namespace weft_pthread
