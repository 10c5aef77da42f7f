// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A minimal parallel library on a domain: contexts resume in the order in which they become ready,
// and harts are returned when others want them or there is no work.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "samples.hpp"
#include "weft_harness.hpp"

namespace bench {

// The ULT that constructs and destroys the library registers and unregisters its domain.
class Library {
public:
    // `entered` is called first whenever a hart arrives.
    explicit Library(std::function<void()> entered = [] {}) : entered_(std::move(entered)) {
        weft_domain_ops ops = {};
        ops.size = sizeof ops;
        ops.enter = [](void* self) { static_cast<Library*>(self)->enter(); };
        ops.unblock = [](void* self, weft_unit* context) { static_cast<Library*>(self)->keep({context, nullptr}); };
        must(weft_domain_register(&ops, this, &domain_));
    }
    ~Library() {
        for (weft_unit* context : contexts_) must(weft_unit_join_free(context));
        must(weft_domain_unregister(domain_));
    }
    Library(const Library&) = delete;

    weft_domain* domain() const { return domain_; }
    void request(std::ptrdiff_t delta) { must(weft_domain_request(domain_, delta)); }

    // Runs body() in a new context. Called by the ULT that has made the library, or by a context.
    void add(std::function<void()> body) {
        weft_unit* context = nullptr;
        must(weft_context_create(nullptr, 0, &context));
        contexts_.push_back(context);
        bodies_.push_back(std::move(body));
        keep({context, &bodies_.back()});
        request(0);
    }

private:
    struct Ready {
        weft_unit* context;
        std::function<void()>* body;   // of a context that has not begun
    };

    void keep(Ready ready) {
        const std::lock_guard guard(lock_);
        ready_.push_back(ready);
    }

    void enter() {
        entered_();
        Ready next{};
        if (__atomic_load_n(weft_domain_wanted(domain_), __ATOMIC_RELAXED) == 0) {
            const std::lock_guard guard(lock_);
            if (!ready_.empty()) {
                next = ready_.front();
                ready_.pop_front();
            }
        }
        if (next.context == nullptr) {
            must(weft_domain_yield());
        } else if (next.body == nullptr) {
            must(weft_context_resume(next.context));
        } else {
            must(weft_context_run(
                next.context, [](void* body) { (*static_cast<std::function<void()>*>(body))(); }, next.body));
        }
    }

    std::function<void()> entered_;
    weft_domain* domain_ = nullptr;
    std::mutex lock_;
    std::deque<Ready> ready_;
    std::deque<std::function<void()>> bodies_;
    std::vector<weft_unit*> contexts_;
};

}   // namespace bench
