// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two libraries that know nothing of each other's internals call each other and share the machine's
// hardware threads: each is a domain with a policy of its own. Neither starts an OS thread, and
// however many of their parallel parts are running at once, no more contexts compute than there are
// harts. doc/domains.md says how to write such a library.
#include <atomic>
#include <cstdio>
#include <string>

#include "by_priority.hpp"
#include "in_order.hpp"

int main() {
    const weft::runtime runtime;

    // Each iteration of a loop runs tasks of its own; the urgent tasks run a loop.
    std::atomic<int> loops{0}, tasks{0};
    in_order::for_each(8, [&](std::size_t) {
        const auto quiet = [&] { ++tasks; };
        const auto urgent = [&] {
            ++tasks;
            in_order::for_each(4, [&](std::size_t) { ++loops; });
        };
        by_priority::run_all({{0, quiet}, {7, urgent}, {-7, quiet}, {7, urgent}});
    });
    std::printf("%d tasks and %d rounds within them ran on %zu harts\n", tasks.load(), loops.load(),
                weft::hart_limit());

    // On one hart the policy determines the order, also after a wait.
    std::string order;
    const auto note = [&](const char* word) { return [&order, word] { order += word; }; };
    by_priority::run_all({{-1, note("last ")},
                          {0, note("then ")},
                          {3,
                           [&] {
                               order += "first ";
                               weft::this_thread::yield();   // and continues before less urgent tasks
                               order += "still ";
                           }}},
                         1);
    std::printf("%s\n", order.c_str());
    return tasks == 32 && loops == 64 && order == "first still then last " ? 0 : 1;
}
