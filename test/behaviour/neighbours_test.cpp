// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weft beside processes that compute on the same processors. In checked builds, the test supplies
// what the kernel would report about them.
#include <chrono>

#include "os/fault.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/several.hpp"
#include "weft/hart.h"

namespace {

using namespace weft_test;

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

atomic<bool> neighbour{false};   // otherwise the processors are idle
atomic<std::uint64_t> threads{1};

// OS threads that have something to do are delayed by two thirds of a processor, in total.
constexpr weft::os::Load load{
    .delay_ns = [](std::uint32_t) -> std::uint64_t { return neighbour.load() ? now_ns() * 2 / 3 / threads.load() : 0; },
    .idle_ns = []() -> std::uint64_t { return neighbour.load() ? 0 : now_ns(); },
};

// Guests, one per hart, that wait for each other at each step, as a team does, until the test is
// over.
class Team {
public:
    explicit Team(std::size_t size) : size_(size) {
        EXPECT_EQ(weft_barrier_init(&barrier_, size, nullptr, nullptr), WEFT_OK);
        threads.store(size);
        for (std::size_t i = 0; i < size; ++i) members_.emplace_back([this, i] { be_member(i == 0); });
    }
    ~Team() {
        over_.store(true);
        for (std::thread& member : members_) member.join();
        EXPECT_EQ(steps_.load() % size_, 0u);
    }
    Team(const Team&) = delete;

    std::uint64_t steps() const { return steps_.load(); }

private:
    void be_member(bool first) {
        const Inside inside;
        for (bool last = false; !last;) {
            weft_hart_overdue();
            ++steps_;
            if (first) ends_.store(over_.load());   // before the barrier, so that all read the same value behind it
            weft_barrier_wait(&barrier_);
            last = ends_.load();
            weft_barrier_wait(&barrier_);
        }
    }

    const std::size_t size_;
    weft_barrier barrier_;
    atomic<std::uint64_t> steps_{0};
    atomic<bool> over_{false}, ends_{false};
    std::vector<std::thread> members_;
};

TEST(Neighbours, OneHartIsWithheldUntilAProcessorIsIdleAndTheTeamGoesOnAllTheWhile) {
    if (!weft::config::checked) GTEST_SKIP() << "a build without faults";
    const std::size_t harts = weft_hart_limit();
    if (harts < 2 || harts > 16) GTEST_SKIP() << "there is one hart, or very many";
    weft::os::load_hook.store(&load);
    {
        Team team(harts);
        until([] { return weft_initialized(); });
        for (int turn = 0; turn < 2; ++turn) {
            neighbour.store(true);
            until([] { return counter("/harts/count/withheld") == 1; });
            neighbour.store(false);
            const std::uint64_t before = team.steps();
            until([&] { return team.steps() > before + 20 * harts; });
            until([] { return counter("/harts/count/withheld") == 0; });
        }
        EXPECT_GE(counter("/harts/count/withholdings"), 2u);
        EXPECT_EQ(weft_hart_limit(), harts) << "what is withheld is no other limit";
    }
    weft::os::load_hook.store(nullptr);
}

}   // namespace
