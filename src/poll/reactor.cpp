// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "poll/reactor.hpp"

#include <mutex>
#include <utility>

#include "os/clock.hpp"

namespace weft {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

// However closely the deadlines follow each other, the reactor wakes at most this often: deadlines
// a little later are handled together.
constexpr std::uint64_t shortest_sleep_ns = 50'000;

// The time between two attempts to start it.
constexpr std::uint64_t patience_ns = 1'000'000;

}   // namespace

bool Reactor::start() {
    std::lock_guard guard(lock_);
    check();
    if (started_.load()) return true;
    if (!open_ && !os::watch_open(watch_)) return false;
    open_ = true;
    stopping_.store(false);
    const bool made = os::thread_start(
        thread_, stack_bytes,
        [](void* raw) {
            os::thread_name("weft/lookout");
            os::thread_without_signals();
            static_cast<Reactor*>(raw)->run();
        },
        this);
    if (!made) return false;
    started_.store(true);
    return true;
}

bool Reactor::start_now_and_then() {
    const std::uint64_t now_ns = os::now_ns();
    if (now_ns < patient_until_ns_.load()) return false;
    if (start()) return true;
    patient_until_ns_.store(now_ns + patience_ns);
    return false;
}

bool Reactor::ring() {
    if (!started_.load() && !start_now_and_then()) return false;
    os::watch_ring(watch_);
    return true;
}

bool Reactor::add(int descriptor, std::uint32_t events, std::uint32_t tag) {
    return os::watch_add(watch_, descriptor, events, tag);
}

bool Reactor::stand_down() { return end(os::now_ns() + room_ns); }

bool Reactor::end(std::uint64_t patient_until_ns) {
    std::lock_guard guard(lock_);
    check();
    if (!started_.load()) return false;
    stopping_.store(true);
    os::watch_ring(watch_);
    os::thread_join(thread_);
    patient_until_ns_.store(patient_until_ns);
    started_.store(false);
    return true;
}

bool Reactor::stand_up() {
    patient_until_ns_.store(0);
    return watch(0);
}

void Reactor::stop() {
    patient_until_ns_.store(os::forever);   // for a reactor that has not started: streams that end may still ask for it
    end(os::forever);
    std::lock_guard guard(lock_);
    if (std::exchange(open_, false)) os::watch_close(watch_);
}

void Reactor::run() {
    while (!stopping_.load()) {
        target_.store(os::forever);
        const std::uint64_t next_ns = round_(context_);
        target_.store(next_ns);
        std::uint64_t timeout_ns = os::forever;
        if (next_ns != os::forever) {
            const std::uint64_t now_ns = os::now_ns();
            timeout_ns = next_ns < now_ns + shortest_sleep_ns ? shortest_sleep_ns : next_ns - now_ns;
        }
        std::uint32_t tags[8];
        const std::size_t ready = os::watch_wait(watch_, timeout_ns, tags, 8);
        for (std::size_t i = 0; i < ready; ++i) ready_(context_, tags[i]);
    }
    target_.store(os::forever);   // the thread does not wake any more
}

}   // namespace weft
