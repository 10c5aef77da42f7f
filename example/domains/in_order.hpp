// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library of parallel loops. Its policy: contexts that become able to continue do so in that
// order, and before any new one begins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

#include <weft/weft.hpp>

class in_order {
public:
    // Calls f(i) for i = 0 .. count - 1, each in a context of its own, and returns when all have
    // returned. f may wait for anything, and call any library.
    template <class F>
    static void for_each(std::size_t count, F f) {
        struct call {
            F& f;
            std::size_t number;
        };
        in_order self;
        // its destructor unregisters the domain, and waits until every hart is back
        const weft::registered<in_order> domain(self);
        self.domain_ = domain.get();
        self.begin_ = [](void* raw) { static_cast<call*>(raw)->f(static_cast<call*>(raw)->number); };
        std::vector<weft::context> contexts(count);
        std::vector<call> calls;
        for (std::size_t i = 0; i < count; ++i) calls.push_back({f, i});
        self.ready_.reserve(count + 1);   // the caller is a context, too
        for (std::size_t i = 0; i < count; ++i) self.ready_.push_back({contexts[i].get(), &calls[i]});
        // in addition to the hart that we have
        self.domain_.request(static_cast<std::ptrdiff_t>(std::min(count, weft::hart_limit())) - 1);
        for (weft::context& context : contexts) context.join();   // our hart runs the contexts meanwhile
    }

    // A hart has arrived. One load tells whether another claimant has a better claim to it.
    void enter() noexcept {
        const std::lock_guard guard(lock_);
        if (domain_.wanted() != 0 || ready_.empty()) return weft::this_hart::yield();
        auto next = std::find_if(ready_.begin(), ready_.end(), [](const entry& each) { return each.fresh == nullptr; });
        if (next == ready_.end()) next = ready_.begin();
        if (next->fresh != nullptr) {
            weft::this_hart::run(next->context, begin_, next->fresh);
        } else {
            weft::this_hart::resume(next->context);
        }
        ready_.erase(next);
    }
    void unblock(weft::unit_ref context) noexcept {
        const std::lock_guard guard(lock_);
        ready_.push_back({context, nullptr});
    }

private:
    struct entry {
        weft::unit_ref context;
        void* fresh;   // null: the call has begun
    };
    weft::domain_ref domain_;
    void (*begin_)(void*) = nullptr;
    std::mutex lock_;
    std::vector<entry> ready_;
};
