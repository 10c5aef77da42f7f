#include "os/thread.hpp"

#include "os/fault.hpp"
#include "os/sim/machine.hpp"

namespace weft::os {

bool thread_start(Thread& thread, std::size_t stack_bytes, void (*body)(void*), void* argument) {
    sim::system_call("thread-start");
    if (sim::door_fails() || fault(Door::thread)) return false;
    void* const hart = sim::hart_start(body, argument, stack_bytes);
    thread.handle = reinterpret_cast<std::uintptr_t>(hart);
    return hart != nullptr;
}

void thread_join(Thread& thread) {
    sim::system_call("thread-join");
    sim::hart_join(reinterpret_cast<void*>(thread.handle));
    thread.handle = 0;
}

void thread_name(const char*) {}

std::uint32_t thread_id() { return sim::hart_number() + 1; }   // 0 is nobody's

Span thread_stack() { return {}; }   // only the address sanitizer asks

void thread_without_signals() {}

void thread_yield() { sim::pause(std::source_location::current()); }

}  // namespace weft::os
