// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The small calls of weft/sim.hpp.
#include "weft/sim.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "os/sim/machine.hpp"

namespace weft::sim {

bool simulated() noexcept { return machine_runs(); }

void check(bool holds, const char* what, const weft::location& where) {
    if (holds) return;
    const std::string text = std::string("this does not hold: ") + what + " (" + where.file_name() + ":" +
                             std::to_string(where.line()) + ")\n";
    if (machine_runs()) machine_fail(End::check, text);
    std::fputs(("weft::sim: " + text).c_str(), stderr);
    std::abort();
}

void sleep_ns(std::uint64_t duration_ns, const weft::location& where) {
    if (!machine_runs()) return;
    system_call("sleep", nullptr, where);
    const std::uint64_t now = now_ns();
    block(Wait::time, nullptr, duration_ns < forever - now ? now + duration_ns : forever);
}

void yield(const weft::location& where) { pause(where); }

void thread::start(const weft::location& where) {
    system_call("thread-start", nullptr, where);
    hart_ = hart_start([](void* raw) { (*static_cast<std::function<void()>*>(raw))(); }, body_.get(), 0);
    check(hart_ != nullptr, "there can be another virtual hart");
}

thread::~thread() {
    if (body_ != nullptr && hart_ != nullptr) check(false, "a weft::sim::thread is joined before its end");
}

void thread::join(const weft::location& where) {
    system_call("thread-join", nullptr, where);
    hart_join(hart_);
    hart_ = nullptr;
    body_ = nullptr;
}

}   // namespace weft::sim
