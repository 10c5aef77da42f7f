// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A million ULTs suspended at once, then resumed and joined: each costs a page of stack, a
// descriptor and little more.
#include <vector>

#include "test/stress/stress.hpp"

using namespace weft_test;

namespace {

struct Crowd {
    std::vector<weft_unit*> suspended;
    std::size_t ran = 0;

    static void body(void* raw) {
        auto* crowd = static_cast<Crowd*>(raw);
        weft_unit_suspend([](weft_unit* unit, void* to) { static_cast<Crowd*>(to)->suspended.push_back(unit); }, raw);
        ++crowd->ran;
    }
};

}   // namespace

TEST(Million, UltsAreSuspendedAtOnceAndJoined) {
    const Deadline deadline(300);
    // A sanitizer keeps a shadow of each stack, and the thread sanitizer supports only some
    // thousand fibers.
    constexpr std::size_t count = weft::config::thread_sanitizer    ? 2000
                                  : weft::config::address_sanitizer ? 10'000
                                                                    : 1'000'000;
    Runtime runtime;
    Crowd crowd;
    crowd.suspended.reserve(count);
    std::vector<void*> arguments(count, &crowd);
    std::vector<weft_unit*> units(count);
    const std::size_t before = resident_bytes();
    auto chosen = options();
    chosen.stack_bytes = 16384;
    ASSERT_EQ(weft_unit_spawn_many(nullptr, count, Crowd::body, arguments.data(), &chosen, units.data()), WEFT_OK)
        << weft_error_text();
    while (crowd.suspended.size() < count) ASSERT_EQ(weft_unit_yield(), WEFT_OK);
    EXPECT_EQ(counter("/units/count/suspended"), count);
    const std::size_t each = (resident_bytes() - before) / count;
    std::printf("%zu bytes resident for each of %zu suspended ULTs\n", each, count);
    if (!sanitized) {
        EXPECT_LT(each, 6u << 10);
    }
    EXPECT_EQ(crowd.ran, 0u);
    for (weft_unit* unit : crowd.suspended) ASSERT_EQ(weft_unit_resume(unit), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free_many(units.data(), count), WEFT_OK);
    EXPECT_EQ(crowd.ran, count);
    EXPECT_EQ(units_alive(), 1u);
}
