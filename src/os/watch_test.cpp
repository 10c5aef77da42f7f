// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting for descriptors.
#include "os/watch.hpp"

#include <gtest/gtest.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <set>

namespace weft::os {
namespace {

TEST(Watch, ReportsEachOfManyDescriptorsThatAreReadyAtOnce) {
    for (const std::size_t most : {1, 8, 16, 40}) {
        Watch watch;
        ASSERT_TRUE(watch_open(watch));
        std::array<int, 50> descriptors;
        for (std::uint32_t i = 0; i < descriptors.size(); ++i) {
            descriptors[i] = eventfd(1, EFD_CLOEXEC);
            ASSERT_TRUE(watch_add(watch, descriptors[i], EPOLLIN, i));
        }
        watch_ring(watch);
        std::set<std::uint32_t> reported;
        std::array<std::uint32_t, 40> tags;
        for (std::size_t wait = 0; wait <= descriptors.size(); ++wait) {
            const std::size_t count = watch_wait(watch, 0, tags.data(), most);
            ASSERT_LE(count, most);
            for (std::size_t i = 0; i < count; ++i) {
                EXPECT_TRUE(reported.insert(tags[i]).second) << tags[i] << " was reported before";
            }
        }
        EXPECT_EQ(reported.size(), descriptors.size()) << "at most " << most << " in a wait";
        watch_close(watch);
        for (const int descriptor : descriptors) close(descriptor);
    }
}

}   // namespace
}   // namespace weft::os
