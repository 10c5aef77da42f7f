// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A timer interrupts the running code ten thousand times a second, without SA_RESTART, while units
// sleep, wake and join.
#include <signal.h>
#include <sys/time.h>

#include <vector>

#include "test/stress/stress.hpp"

using namespace weft_test;

namespace {

std::atomic<int> alarms;

class Timer {
public:
    Timer() {
        struct sigaction action {};
        action.sa_handler = [](int) { alarms.fetch_add(1, std::memory_order_relaxed); };
        sigemptyset(&action.sa_mask);
        sigaction(SIGALRM, &action, &before_);
        const itimerval each{{0, 100}, {0, 100}};
        setitimer(ITIMER_REAL, &each, nullptr);
    }
    ~Timer() {
        const itimerval none{};
        setitimer(ITIMER_REAL, &none, nullptr);
        sigaction(SIGALRM, &before_, nullptr);
    }
    Timer(const Timer&) = delete;

private:
    struct sigaction before_ {};
};

}   // namespace

TEST(Signals, AtTenKilohertzDoNotBreakWaits) {
    const Deadline deadline(120);
    alarms = 0;
    const Timer timer;
    for (int round = 0; round < (sanitized ? 2 : 10); ++round) {
        Runtime runtime(3);
        std::vector<std::thread> outside;
        std::atomic<int> resumed{0};
        std::vector<std::unique_ptr<Ult>> units;
        constexpr int sleepers = sanitized ? 10 : 40, sleeps = 20;
        std::vector<std::atomic<weft_unit*>> found(sleepers);
        for (int i = 0; i < sleepers; ++i) {
            units.push_back(std::make_unique<Ult>(
                [&found, i] {
                    for (int s = 0; s < sleeps; ++s) {
                        weft_unit_suspend(
                            [](weft_unit* unit, void* to) { static_cast<std::atomic<weft_unit*>*>(to)->store(unit); },
                            &found[static_cast<std::size_t>(i)]);
                        Ult child([] {}, nullptr, pool_of(static_cast<std::size_t>(s) % 3));
                        EXPECT_EQ(child.join(), WEFT_OK);
                    }
                },
                nullptr, pool_of(static_cast<std::size_t>(i) % 3)));
        }
        for (int t = 0; t < 2; ++t) {
            outside.emplace_back([&, t] {
                while (resumed.load() < sleepers * sleeps) {
                    for (std::size_t i = static_cast<std::size_t>(t); i < found.size(); i += 2) {
                        weft_unit* unit = found[i].exchange(nullptr);
                        if (unit == nullptr) continue;
                        EXPECT_EQ(weft_unit_resume(unit), WEFT_OK);
                        resumed.fetch_add(1);
                    }
                    std::this_thread::yield();
                }
            });
        }
        std::thread joiner([&] { EXPECT_EQ(units[0]->join(), WEFT_OK); });
        while (resumed.load() < sleepers * sleeps) weft_unit_yield();   // stream 0 has some of them
        for (auto& unit : units) {
            if (unit == units[0]) continue;
            EXPECT_EQ(unit->join(), WEFT_OK) << weft_error_text();
        }
        joiner.join();
        for (auto& thread : outside) thread.join();
    }
    EXPECT_GT(alarms, 0);
}
