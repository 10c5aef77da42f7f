// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/thread.hpp"

#include <memory>

#include "os/begins_with.hpp"
#include "os/fault.hpp"
#include "os/sim/machine.hpp"

namespace weft::sim {
extern unsigned harts_alive;
}   // namespace weft::sim

namespace weft::os {
namespace {

std::size_t started = 0;

// Not one of the library's blocks.
struct Start {
    void (*body)(void*);
    void* argument;
};

void hart_body(void* raw) {
    const std::unique_ptr<Start> start(static_cast<Start*>(raw));
    start->body(start->argument);
    --started;
}

}   // namespace

bool thread_start(Thread& thread, std::size_t stack_bytes, void (*body)(void*), void* argument) {
    sim::system_call("thread-start");
    if (sim::seam_fails() || fault(Seam::thread)) return false;
    std::unique_ptr<Start> start(new Start{body, argument});
    void* const hart = [&] {
        const BeginsWith environment;
        return sim::hart_start(hart_body, start.get(), stack_bytes);
    }();
    thread.handle = reinterpret_cast<std::uintptr_t>(hart);
    if (hart == nullptr) return false;
    start.release();
    ++started;
    return true;
}

bool thread_is_starting_one() { return false; }   // no library stands in front of hart_start()

void thread_join(Thread& thread) {
    sim::system_call("thread-join");
    sim::hart_join(reinterpret_cast<void*>(thread.handle));
    thread.handle = 0;
}

std::size_t thread_count() { return sim::harts_alive; }

std::size_t threads_started() { return started; }

void threads_forked() {}
ThreadKey::ThreadKey(void (*at_end)(void*)) : key_(reinterpret_cast<std::uintptr_t>(at_end)) {}

void* ThreadKey::get() const { return sim::hart_kept(); }

bool ThreadKey::set(void* word) const {
    if (sim::seam_fails() || fault(Seam::allocate)) return false;
    sim::hart_keep(word, reinterpret_cast<void (*)(void*)>(key_));
    return true;
}

void thread_name(const char*) {}

std::uint32_t thread_id() { return sim::hart_number() + 1; }   // no thread has number 0

Span thread_stack() { return {}; }   // only the address sanitizer calls it

void thread_without_signals() {}

SignalMask thread_signals() { return {}; }

void thread_set_signals(const SignalMask&) {}

bool thread_time(std::uint32_t thread, std::uint64_t& ns) {
    sim::system_call("thread-time");
    return sim::hart_time(thread - 1, ns);
}

Doing thread_doing(std::uint32_t thread, long& call) {
    sim::system_call("thread-doing");
    call = -1;
    bool waits = false;
    if (fault(Seam::thread_doing) || !sim::hart_waits(thread - 1, waits)) return Doing::unknown;
    return waits ? Doing::waits : Doing::runs;
}

// Virtual harts never wait for a processor.
bool thread_delay(std::uint32_t thread, std::uint64_t& ns) {
    const Load* const load = load_for_test();
    if (load != nullptr) ns = load->delay_ns(thread);
    return load != nullptr;
}

void thread_yield() { sim::pause(weft::location::current()); }

}   // namespace weft::os
