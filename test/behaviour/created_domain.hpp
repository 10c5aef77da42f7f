// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A domain that no ULT has registered: only its contexts are in it. They run in the order in which
// they become ready.
#pragma once

#include <deque>
#include <mutex>

#include <gtest/gtest.h>

#include "weft/domain.h"
#include "weft/status.h"

namespace weft_test {

struct Created {
    void create(weft_domain* parent = nullptr) {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) {
            auto& of = *static_cast<Created*>(self);
            std::lock_guard guard(of.lock);
            // the hart goes back
            if (of.ready.empty() || __atomic_load_n(weft_domain_wanted(of.domain), __ATOMIC_RELAXED) != 0) return;
            EXPECT_EQ(weft_context_resume(of.ready.front()), WEFT_OK) << weft_error_text();
            of.ready.pop_front();
        };
        ops.unblock = [](void* self, weft_unit* context) {
            auto& of = *static_cast<Created*>(self);
            std::lock_guard guard(of.lock);
            of.ready.push_back(context);
        };
        ops.idle = idle;
        EXPECT_EQ(weft_domain_create_in(parent, &ops, this, &domain), WEFT_OK) << weft_error_text();
    }
    // body() is a context of the domain.
    template <class Body>
    void spawn(Body& body) {
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_domain_pool_get(domain, &pool), WEFT_OK);
        EXPECT_EQ(weft_ult_spawn(
                      pool, [](void* raw) { (*static_cast<Body*>(raw))(); }, &body, nullptr, nullptr),
                  WEFT_OK);
    }
    bool (*idle)(void* self, const weft_unit* context) = nullptr;
    weft_domain* domain = nullptr;
    std::mutex lock;
    std::deque<weft_unit*> ready;
};

}   // namespace weft_test
