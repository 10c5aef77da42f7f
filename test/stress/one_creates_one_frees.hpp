// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One stream creates units, another runs and frees them: memory that moves from the one to the
// other must return to its owner.
#pragma once

#include "test/stress/stress.hpp"

namespace weft_test {

// Stream 0 spawns `count` units into the private pool of stream 1; they are joined and freed there
// or, if detached, freed where they end. At most some thousand live at once. Returns by how much
// the process has grown since the first few.
inline std::size_t create_here_free_there(std::uint64_t count, weft_kind kind, bool detached) {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;
    Runtime runtime(settings);
    constexpr std::uint64_t window = 2048, warm = 20 * window;
    static std::atomic<std::uint64_t> ended;
    ended = 0;
    auto chosen = options();
    chosen.kind = kind;
    auto free_it = [](void* raw) {
        EXPECT_EQ(weft_unit_join_free(static_cast<weft_unit*>(raw)), WEFT_OK);
        ended.fetch_add(1);
    };
    weft_pool* there = pool_of(1);
    std::size_t before = 0, most = 0;
    for (std::uint64_t created = 0; created < count; ++created) {
        if (detached) {
            EXPECT_EQ(weft_ult_spawn(
                          there, [](void*) { ended.fetch_add(1); }, nullptr, &chosen, nullptr),
                      WEFT_OK);
        } else {
            weft_unit* unit = nullptr;
            EXPECT_EQ(weft_ult_spawn(
                          there, [](void*) {}, nullptr, &chosen, &unit),
                      WEFT_OK);
            EXPECT_EQ(weft_ult_spawn(there, free_it, unit, nullptr, nullptr), WEFT_OK);
        }
        while (created + 1 - ended.load() >= window) std::this_thread::yield();
        if (created < warm || created % (16 * window) != 0) continue;
        const std::size_t now = resident_bytes();
        if (before == 0) before = now;
        most = std::max(most, now);
    }
    while (ended.load() != count) std::this_thread::yield();
    return most - before;
}

}   // namespace weft_test
