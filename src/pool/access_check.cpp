// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pool/access_check.hpp"

#include <cstdint>
#include <cstring>
#include <mutex>

#include "base/assert.hpp"
#include "os/local.hpp"
#include "os/thread.hpp"

namespace weft::pool {
namespace {

// The stream that calls, or the number of the OS thread, which is no address.
const void* caller() {
    if (const void* stream = os::local()) return stream;
    return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(os::thread_id()));
}

const char* text(weft_pool_access access) {
    switch (access) {
    case WEFT_POOL_ACCESS_PRIVATE: return "private: one stream pushes and pops";
    case WEFT_POOL_ACCESS_SPSC: return "SPSC: one producer, one consumer";
    case WEFT_POOL_ACCESS_MPSC: return "MPSC: one consumer";
    case WEFT_POOL_ACCESS_SPMC: return "SPMC: one producer";
    case WEFT_POOL_ACCESS_DEFAULT:
    case WEFT_POOL_ACCESS_MPMC: break;
    }
    return "nothing";
}

}   // namespace

void AccessCheck::note(weft_pool_access access, bool push) {
    if (access == (push ? WEFT_POOL_ACCESS_MPSC : WEFT_POOL_ACCESS_SPMC)) return;
    const void* self = caller();
    char name[sizeof One::name] = "an unknown caller";
    if (const Describe describe = describe_caller.load()) describe(name, sizeof name);
    std::lock_guard guard(lock_);
    One& one = push || access == WEFT_POOL_ACCESS_PRIVATE ? pusher_ : popper_;
    if (one.who == nullptr) {
        one.who = self;
        std::memcpy(one.name, name, sizeof name);
    } else if (one.who != self) {
        fatal(
            "a pool is used by more than its access allows: it is %s; %s was the one, and now %s %s (weft_pool_access)",
            text(access), one.name, name, push ? "pushes" : "pops");
    }
}

void AccessCheck::left(const void* stream) {
    if constexpr (!config::checked) return;
    std::lock_guard guard(lock_);
    if (popper_.who == stream) popper_ = One{};
    // The consumer of a private pool is its producer, too.
}

void AccessCheck::reset() {
    pusher_ = One{};
    popper_ = One{};
}

}   // namespace weft::pool
