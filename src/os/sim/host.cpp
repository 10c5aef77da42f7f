// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/host.hpp"

#include <algorithm>
#include <memory>

#include "os/futex.hpp"
#include "os/sim/machine.hpp"

// A host is a virtual hart that is parked: its block (errno, the exceptions that are handled)
// serves the hart that runs with its thread pointer meanwhile. The block holds nothing else: the C
// library's per-thread state is the OS thread's, which all virtual harts share.
namespace weft::os {
namespace {

constexpr std::size_t least_stack = 128 << 10;

void* local_word_of_nobody;   // the word of a virtual hart is found in another way

void host_main(void* raw) {
    auto& host = *static_cast<HostThread*>(raw);
    const std::size_t bytes = std::max(least_stack, host.wanted_bytes);
    const std::unique_ptr<char[]> stack(new char[bytes]);   // not one of the library's blocks
    host.thread_pointer = sim::own_thread_pointer();
    host.local_word = &local_word_of_nobody;
    host.errno_address = errno_address();
    host.exceptions = exception_globals();
    host.id = sim::hart_number();
    host.self = reinterpret_cast<std::uintptr_t>(&host);
    host.lowest = stack.get();
    host.top = stack.get() + bytes;
    host.top -= reinterpret_cast<std::uintptr_t>(host.top) % 64;
    sim::set_thread_pointer(nullptr);
    if (host.parked.exchange(1) == 2) futex_wake(host.parked, 1);
    while (host.released.load() == 0) futex_wait(host.released, 0);
    sim::set_thread_pointer(host.thread_pointer);
    host.gone.store(true);
}

}   // namespace

bool hosts_supported() { return true; }
void host_begin() {}

bool host_start(HostThread& host, std::size_t bytes, const CpuSet*) {
    host.wanted_bytes = bytes;
    return thread_start(host.thread, 0, host_main, &host);
}

bool host_call(void (*body)(void*), void* argument) { return body(argument), true; }
bool host_settle() { return true; }
bool host_end_of_unit(const HostThread&) { return true; }
void host_prepare_carrier() {}
void host_forked() {}
void signal_here(int) {}
void signal_thread(std::uint32_t, int) {}

}   // namespace weft::os
