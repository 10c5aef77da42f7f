// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams that lend their harts: other clients have a better claim to them, and no unit waits
// forever.
#include "weft/hart.h"

#include <memory>
#include <vector>

#include "test/behaviour/cpus.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/several.hpp"
#include "weft/domain.h"

namespace {

using namespace weft_test;

// A domain whose only context keeps a hart busy, and gives it back between two steps as soon as it
// is wanted. The ULT that constructs it goes on as that context.
class Busy {
public:
    Busy() {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) {
            auto& of = *static_cast<Busy*>(self);
            const bool wanted = __atomic_load_n(weft_domain_wanted(of.domain_), __ATOMIC_RELAXED) != 0;
            weft_unit* const next = wanted ? nullptr : of.ready_.exchange(nullptr);
            if (next != nullptr) {
                EXPECT_EQ(weft_context_resume(next), WEFT_OK) << weft_error_text();
            } else {
                EXPECT_EQ(weft_domain_yield(), WEFT_OK);
            }
        };
        ops.unblock = [](void* self, weft_unit* context) { static_cast<Busy*>(self)->ready_.store(context); };
        EXPECT_EQ(weft_domain_register(&ops, this, &domain_), WEFT_OK) << weft_error_text();
    }
    ~Busy() { EXPECT_EQ(weft_domain_unregister(domain_), WEFT_OK) << weft_error_text(); }
    Busy(const Busy&) = delete;

    weft_domain* domain() const { return domain_; }

private:
    weft_domain* domain_ = nullptr;
    atomic<weft_unit*> ready_{nullptr};
};

weft_settings with_private_streams(std::size_t streams) {
    weft_settings settings = with_streams(streams);
    settings.pool = WEFT_POOL_PRIVATE;
    settings.slice_ns = 200'000;
    return settings;
}

// More busy streams than their fair share of harts, and a domain: the streams take turns on their
// share, and each makes progress, since its units are in private pools.
TEST(Lending, StreamsTakeTurnsOnTheHartsThatADomainLeavesThem) {
    const std::size_t harts = weft_hart_limit();
    if (harts < 2 || harts > 16) GTEST_SKIP() << "there is one hart, or very many";
    Runtime runtime(with_private_streams(harts + 1));
    atomic<bool> over{false};
    std::vector<atomic<std::uint64_t>> steps(harts);
    std::vector<std::unique_ptr<Ult>> busy;
    for (std::size_t i = 0; i < harts; ++i) {
        busy.push_back(std::make_unique<Ult>(
            [&, i] {
                until([&] {
                    ++steps[i];
                    return over.load();
                });
            },
            nullptr, pool_of(i + 1)));
    }
    Ult caller([&] {
        Busy domain;
        const std::uint64_t lent = counter("/streams/count/lent");
        // Nothing is lent before the domain is there: each stream has a hart until then, although
        // there are too many streams.
        const auto all_have_done = [&](std::uint64_t more) {
            std::vector<std::uint64_t> before;
            for (auto& count : steps) before.push_back(count.load());
            until([&] {
                bool all = true;
                for (std::size_t i = 0; i < harts; ++i) all = all && steps[i].load() >= before[i] + more;
                return all;
            });
        };
        for (int round = 0; round < 3 || counter("/streams/count/lent") < lent + 4; ++round) all_have_done(50);
        over.store(true);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
    for (auto& unit : busy) EXPECT_EQ(unit->join(), WEFT_OK);
}

// The domain's context may run on this stream only. No other stream could take over the stream's
// turn: guests have the other harts.
TEST(Lending, AStreamThatHasSteppedAsideGoesOnWithADomainWhoseContextIsBoundToIt) {
    const std::size_t harts = weft_hart_limit();
    if (harts > 16) GTEST_SKIP() << "there are very many harts";
    Runtime runtime(with_private_streams(1));
    atomic<bool> over{false}, asked{false};
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < harts; ++i) {
        others.emplace_back([&] {
            const Inside inside;
            until_set(over);
        });
    }
    weft_semaphore answer;
    EXPECT_EQ(weft_semaphore_init(&answer, 0), WEFT_OK);
    Ult busy([&] {
        until([&] {
            if (asked.exchange(false)) weft_semaphore_release(&answer, 1);
            return over.load();
        });
    });
    {
        Busy domain;   // registered by the primary unit
        for (int round = 0; round < 3; ++round) {
            asked.store(true);
            EXPECT_EQ(weft_semaphore_acquire(&answer), WEFT_OK);
        }
    }
    over.store(true);
    EXPECT_EQ(busy.free(), WEFT_OK);
    for (std::thread& other : others) other.join();
}

TEST(Lending, StreamsAloneLendNothing) {
    const std::size_t harts = weft_hart_limit();
    if (harts > 16) GTEST_SKIP() << "there are very many harts";
    Runtime runtime(with_private_streams(harts + 1));
    atomic<std::size_t> begun{0};
    std::vector<std::unique_ptr<Ult>> busy;
    for (std::size_t i = 0; i <= harts; ++i) {
        busy.push_back(std::make_unique<Ult>(
            [&] {
                ++begun;
                until([&] { return begun.load() > harts; });
                for (int step = 0; step < 100; ++step) weft_unit_yield();
            },
            nullptr, pool_of(i)));
    }
    for (auto& unit : busy) EXPECT_EQ(unit->join(), WEFT_OK);
    EXPECT_EQ(counter("/streams/count/lent"), 0u);
}

TEST(Lending, APolicyOrAWeightThatCannotBeIsRefused) {
    EXPECT_EQ(weft_hart_policy_set(WEFT_HART_FAIR), WEFT_NOT_INITIALIZED);
    EXPECT_EQ(weft_domain_weight_set(nullptr, 1), WEFT_NOT_INITIALIZED);
    Runtime runtime;
    EXPECT_EQ(weft_hart_policy_set(WEFT_HART_WEIGHTED), WEFT_OK);
    EXPECT_EQ(weft_hart_policy_set(static_cast<weft_hart_policy>(3)), WEFT_INVALID);
    EXPECT_EQ(weft_domain_weight_set(nullptr, 3), WEFT_OK);
    EXPECT_EQ(weft_domain_weight_set(nullptr, 0), WEFT_INVALID);
    Ult caller([] {
        Busy outer;
        EXPECT_EQ(weft_domain_weight_set(outer.domain(), 2), WEFT_OK);
        Busy inner;
        EXPECT_EQ(weft_domain_weight_set(inner.domain(), 2), WEFT_INVALID) << "it has a parent";
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

// While it runs, the process loses CPUs and gets them back.
TEST(Lending, HartsAreWithdrawnAndAddedAsTheProcessLosesAndGainsCpus) {
    const cpu_set_t all = all_cpus(), one = first_of(all);
    if (CPU_COUNT(&all) < 2 || weft_hart_limit() != static_cast<std::size_t>(CPU_COUNT(&all)))
        GTEST_SKIP() << "there is one CPU, or a quota";
    Runtime runtime;
    Ult caller([&] {
        Busy domain;
        const auto more = static_cast<std::ptrdiff_t>(weft_hart_limit());
        EXPECT_EQ(weft_domain_request(domain.domain(), more), WEFT_OK);
        const auto until_limit_is = [](std::size_t harts) {
            while (weft_hart_limit() != harts) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        };
        set_affinity(one);
        until_limit_is(1);
        set_affinity(all);
        until_limit_is(static_cast<std::size_t>(CPU_COUNT(&all)));
        EXPECT_EQ(weft_domain_request(domain.domain(), -more), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

}   // namespace
