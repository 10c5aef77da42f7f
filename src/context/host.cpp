// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context/host.hpp"

#include <mutex>
#include <utility>

#include "os/memory.hpp"

namespace weft::context {
namespace {

template <class Condition>
Host* unlink_first(Host*& first, Condition which) {
    for (Host** at = &first; *at != nullptr; at = &(*at)->next_host) {
        if (which(**at)) return std::exchange(*at, (*at)->next_host);
    }
    return nullptr;
}

}   // namespace

Host* Hosts::take_idle(const HostsWanted& wanted) {
    std::lock_guard guard(lock_);
    Host* const host =
        wanted.fresh ? nullptr : unlink_first(idle_, [&](const Host& one) { return one.bytes >= wanted.bytes; });
    if (host == nullptr) return nullptr;
    --at_hand_;
    count_taken();
    return host;
}

// With the lock held: counts a host that a unit has got.
void Hosts::count_taken() {
    in_use_.fetch_add(1);
    if (announced_ != 0) --announced_;
}

// The host that was started first.
Host* Hosts::take_coming(std::size_t bytes) {
    std::lock_guard guard(lock_);
    Host* const host = unlink_first(coming_, [bytes](const Host& one) { return one.thread.wanted_bytes >= bytes; });
    if (host == nullptr) return nullptr;
    --at_hand_;
    if (coming_end_ == &host->next_host) {
        coming_end_ = &coming_;
        while (*coming_end_ != nullptr) coming_end_ = &(*coming_end_)->next_host;
    }
    return host;
}

// Makes room for another thread. An idle host that did not fit ends, since the kernel gives no more
// threads.
bool Hosts::make_room() {
    if (Host* const coming = take_coming(0); coming != nullptr) {
        settle(*coming);
        std::lock_guard guard(lock_);
        coming->next_host = std::exchange(idle_, coming);
        ++at_hand_;
    }
    return end_idle(Promised::yes);
}

bool Hosts::end_one_to_spare() { return end_idle(Promised::no); }

bool Hosts::end_idle(Promised which) {
    Host* host;
    {
        std::lock_guard guard(lock_);
        if (which == Promised::no && at_hand_ <= announced_) return false;
        host = unlink_first(idle_, [](const Host&) { return true; });
        if (host == nullptr) return false;
        --at_hand_;
        forget(host);
    }
    os::host_release(host->thread);
    end(host);
    return true;
}

// With the lock held: removes the host from all_.
void Hosts::forget(const Host* host) {
    Host** at = &all_;
    while (*at != host) at = &(*at)->next_of_all;
    *at = host->next_of_all;
}

// With starting_ held. Null: the kernel refuses, or no memory.
Host* Hosts::launch(std::size_t bytes, const os::CpuSet* cpus) {
    auto* const host = os::make<Host>();
    if (host == nullptr) return nullptr;
    host->thread.wanted_bytes = bytes;
    if (!os::host_start(host->thread, bytes, cpus)) {
        os::destroy(host);
        return nullptr;
    }
    started_.fetch_add(1);
    live_.fetch_add(1);
    return host;
}

// Completes a host that has been started: afterwards it is parked, and listed in all_.
void Hosts::settle(Host& host) {
    os::host_await(host.thread);
    mem::Stack& stack = host;
    stack.lowest = host.thread.lowest;
    stack.top = host.thread.top;
    stack.bytes = static_cast<std::size_t>(stack.top - stack.lowest);
    stack.guard_bytes = static_cast<std::uint32_t>(host.thread.guard_bytes);
    stack.guarded = stack.guard_bytes == 0 ? mem::Guard::none : mem::Guard::mprotect;
    stack.size_class = mem::exact_class;
    stack.prepared = true;
    std::lock_guard guard(lock_);
    host.next_of_all = all_;
    all_ = &host;
}

Host* Hosts::start(const HostsWanted& wanted, const os::CpuSet* cpus) {
    reap();
    Host* host = take_coming(wanted.bytes);
    if (host == nullptr) {
        std::lock_guard one_at_a_time(starting_);
        host = take_coming(wanted.bytes);   // started while this thread waited
        while (host == nullptr && (host = launch(wanted.bytes, cpus)) == nullptr) {
            if (make_room()) continue;
            refused_.fetch_add(1);
            return nullptr;
        }
    }
    settle(*host);
    std::lock_guard guard(lock_);
    count_taken();
    return host;
}

std::size_t Hosts::prepare(std::size_t count, std::size_t bytes, const os::CpuSet* cpus) {
    reap();
    std::lock_guard one_at_a_time(starting_);
    {
        std::lock_guard guard(lock_);
        announced_ += count;
    }
    for (;;) {
        {
            std::lock_guard guard(lock_);
            if (at_hand_ >= announced_) return 0;
        }
        Host* const host = launch(bytes, cpus);
        std::lock_guard guard(lock_);
        if (host == nullptr) {
            return std::exchange(announced_, at_hand_) - at_hand_;
        }
        *coming_end_ = host;
        coming_end_ = &host->next_host;
        ++at_hand_;
    }
}

void Hosts::give(Host& host) {
    in_use_.fetch_sub(1);
    sanitizer::unpoison(host.lowest, host.bytes);
    if (host.spoilt) {
        used_up_.fetch_add(1);
        os::host_release(host.thread);
    }
    std::lock_guard guard(lock_);
    Host*& list = host.spoilt ? ending_ : idle_;
    host.next_host = list;
    list = &host;
    if (!host.spoilt) ++at_hand_;
}

// For a host that has been released.
void Hosts::end(Host* host) {
    os::thread_join(host->thread.thread);
    os::destroy(host);
    live_.fetch_sub(1);
}

// Joins the hosts that are about to end.
void Hosts::reap() {
    for (;;) {
        Host* host;
        {
            std::lock_guard guard(lock_);
            host = unlink_first(ending_, [](const Host& one) { return one.thread.gone.load(); });
            if (host == nullptr) return;
            forget(host);
        }
        end(host);
    }
}

void Hosts::stop() {
    while (Host* const coming = take_coming(0)) settle(*coming);
    for (Host* host = all_; host != nullptr; host = host->next_of_all) {
        if (host->thread.released.load() != 0) continue;
        sanitizer::unpoison(host->lowest, host->bytes);
        os::host_release(host->thread);
    }
    while (all_ != nullptr) end(std::exchange(all_, all_->next_of_all));
    idle_ = ending_ = nullptr;
}

Host* Hosts::find(std::uintptr_t pthread) {
    std::lock_guard guard(lock_);
    Host* host = all_;
    while (host != nullptr && host->thread.self != pthread) host = host->next_of_all;
    return host;
}

}   // namespace weft::context
