// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library of tasks. Its policy: of the tasks that can run, the most urgent runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include <weft/weft.hpp>

class by_priority {
public:
    struct task {
        int priority;
        std::function<void()> run;
    };

    // Runs all tasks, on at most `harts` harts, and returns when all have returned. Tasks may wait
    // for anything, and call any library.
    static void run_all(std::vector<task> tasks, std::size_t harts = weft::hart_limit()) {
        by_priority self;
        const weft::registered<by_priority> domain(self);
        self.domain_ = domain.get();
        std::vector<weft::context> contexts(tasks.size());
        self.ready_.reserve(tasks.size() + 1);   // the caller is a context, too
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            contexts[i].get().set_priority(tasks[i].priority);   // it also keeps it after each wait
            self.ready_.push_back({contexts[i].get(), &tasks[i]});
        }
        self.domain_.request(static_cast<std::ptrdiff_t>(std::min(tasks.size(), harts)) - 1);
        for (weft::context& context : contexts) context.join();
    }

    void enter() noexcept {
        const std::lock_guard guard(lock_);
        if (domain_.wanted() != 0 || ready_.empty()) return weft::this_hart::yield();
        const auto next = std::max_element(ready_.begin(), ready_.end(), [](const entry& a, const entry& b) {
            return a.context.priority() < b.context.priority();
        });
        if (next->fresh != nullptr) {
            weft::this_hart::run(
                next->context, [](void* raw) { static_cast<task*>(raw)->run(); }, next->fresh);
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
        task* fresh;   // null: the task has begun
    };
    weft::domain_ref domain_;
    std::mutex lock_;
    std::vector<entry> ready_;
};
