// What is known of the program's signal handlers.
#pragma once

namespace weft_pthread {

// Whether a signal ends a wait that the C library would go on with after a handler that was set
// with SA_RESTART (`restarts`), or any wait. False where it is ignored.
bool interrupts(int signal, bool restarts) noexcept;

}   // namespace weft_pthread
