#include "context/host.hpp"

#include <mutex>
#include <utility>

#include "os/memory.hpp"

namespace weft::context {
namespace {

template <class Condition>
Host* unlink_first(Host*& first, Condition which) {
    for (Host** at = &first; *at != nullptr; at = &(*at)->next) {
        if (which(**at)) return std::exchange(*at, (*at)->next);
    }
    return nullptr;
}

}  // namespace

Host* Hosts::take_idle(const HostsWanted& wanted) {
    std::lock_guard guard(lock_);
    Host* const host = wanted.fresh ? nullptr : unlink_first(idle_, [&](const Host& one) { return one.stack.bytes >= wanted.bytes; });
    if (host != nullptr) in_use_.fetch_add(1);
    return host;
}

// An idle one that did not do goes, since the kernel gives no more.
bool Hosts::make_room() {
    Host* host;
    {
        std::lock_guard guard(lock_);
        host = unlink_first(idle_, [](const Host&) { return true; });
        if (host == nullptr) return false;
        forget(host);
    }
    os::host_release(host->thread);
    end(host);
    return true;
}

// With the lock held.
void Hosts::forget(const Host* host) {
    Host** at = &all_;
    while (*at != host) at = &(*at)->next_of_all;
    *at = host->next_of_all;
}

Host* Hosts::start(const HostsWanted& wanted, const os::CpuSet* cpus) {
    reap();
    std::lock_guard one_at_a_time(starting_);
    auto* const host = os::make<Host>();
    while (host != nullptr && !os::host_start(host->thread, wanted.bytes, cpus)) {
        if (make_room()) continue;
        refused_.fetch_add(1);
        os::destroy(host);
        return nullptr;
    }
    if (host == nullptr) return nullptr;
    mem::Stack& stack = host->stack;
    stack.lowest = host->thread.lowest;
    stack.top = host->thread.top;
    stack.bytes = static_cast<std::size_t>(stack.top - stack.lowest);
    stack.guard_bytes = static_cast<std::uint32_t>(host->thread.guard_bytes);
    stack.guarded = stack.guard_bytes == 0 ? mem::Guard::none : mem::Guard::mprotect;
    stack.size_class = mem::exact_class;
    stack.prepared = true;
    started_.fetch_add(1);
    live_.fetch_add(1);
    in_use_.fetch_add(1);
    std::lock_guard guard(lock_);
    host->next_of_all = all_;
    all_ = host;
    return host;
}

void Hosts::give(Host& host) {
    in_use_.fetch_sub(1);
    sanitizer::unpoison(host.stack.lowest, host.stack.bytes);
    if (host.spoilt) {
        used_up_.fetch_add(1);
        os::host_release(host.thread);
    }
    std::lock_guard guard(lock_);
    Host*& list = host.spoilt ? ending_ : idle_;
    host.next = list;
    list = &host;
}

// One that has been released.
void Hosts::end(Host* host) {
    os::thread_join(host->thread.thread);
    os::destroy(host);
    live_.fetch_sub(1);
}

// Those that have as good as ended.
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
    for (Host* host = all_; host != nullptr; host = host->next_of_all) {
        if (host->thread.released.load() != 0) continue;
        sanitizer::unpoison(host->stack.lowest, host->stack.bytes);
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

}  // namespace weft::context
