// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/process_barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "os/fault.hpp"

namespace weft::os {
namespace {

enum class State : std::uint8_t { untried, telling, ready, refused };
atomic<State> state{State::untried};

bool call(int command) {
    const int kept = errno;   // a unit that pops may get here: a call that succeeds leaves errno alone
    const bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = kept;
    return done;
}

}   // namespace

// acquire: pairs with the store below
bool process_barrier_ready() { return state.load(std::memory_order_acquire) == State::ready; }

bool prepare_process_barrier() {
    State seen = State::untried;
    if (!state.compare_exchange_strong(seen, State::telling)) return seen == State::ready;
    const bool ready = !fault(Seam::process_barrier) && call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    // release: pairs with process_barrier_ready()
    state.store(ready ? State::ready : State::refused, std::memory_order_release);
    return ready;
}

void prepare_process_barrier_again() {
    // relaxed: there is one thread
    const State seen = state.load(std::memory_order_relaxed);
    if (seen == State::telling) state.store(State::untried, std::memory_order_relaxed);
    if (seen == State::ready) call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool process_barrier() {
    if (call(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
    state.store(State::refused, std::memory_order_release);   // release: pairs with process_barrier_ready()
    return false;
}

}   // namespace weft::os
