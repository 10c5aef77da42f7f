// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A build that checks handles reports, by name, which call was given the handle of a freed object,
// and how to fix that.
#include <gtest/gtest.h>

#include "base/config.hpp"
#include "support.hpp"
#include "weft/arena.h"
#include "weft/domain.h"
#include "weft/embed/here.hpp"
#include "weft/io.h"
#include "weft/local.h"
#include "weft/sync.h"
#include "weft/trace.h"

using namespace weft_test;

namespace {

class HandlesDeathTest : public testing::Test {
protected:
    void SetUp() override {
        if constexpr (!weft::config::checked) GTEST_SKIP() << "handles are checked in checked builds";
        weft_settings settings{};
        settings.size = sizeof settings;
        settings.streams = 1;
        ASSERT_EQ(weft_init(&settings), WEFT_OK);
        runs_ = true;
    }
    void TearDown() override {
        if (runs_) weft_finalize();
    }
    void finalize() {
        EXPECT_EQ(weft_finalize(), WEFT_OK);
        runs_ = false;
    }

private:
    bool runs_ = false;
};

weft_unit* spawned() {
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, nullptr, &unit),
              WEFT_OK);
    return unit;
}

weft_unit* freed_unit() {
    weft_unit* const unit = spawned();
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    return unit;
}

constexpr char freed[] = "stale handle 0x.* has been freed";

}   // namespace

TEST_F(HandlesDeathTest, AUnitFreedTwiceIsToldWithTheCall) {
    weft_unit* const unit = freed_unit();
    EXPECT_DEATH(weft_unit_join_free(unit),
                 "weft: weft_unit_join_free: stale handle 0x.*: its unit has been freed; a unit is freed once");
}

TEST_F(HandlesDeathTest, AUnitJoinedAfterItWasFreedIsToldAlsoWhereAnotherHasItsPlace) {
    weft_unit* const unit = freed_unit();
    weft_unit* const next = spawned();
    EXPECT_DEATH(weft_unit_join(unit), "weft_unit_join: stale handle");
    EXPECT_DEATH(weft_unit_resume(unit), "weft_unit_resume: stale handle");
    EXPECT_DEATH(weft_unit_yield_to(unit), "weft_unit_yield_to: stale handle");
    EXPECT_EQ(weft_unit_join_free(next), WEFT_OK);
}

TEST_F(HandlesDeathTest, UnitsFreedTogetherAreToldWithThatCall) {
    weft_unit* units[] = {spawned(), freed_unit()};
    weft_unit* const joined[] = {units[0], units[1]};
    EXPECT_DEATH(weft_unit_join_free_many(units, 2), "weft_unit_join_free_many: stale handle");
    EXPECT_DEATH(weft_unit_join_many(joined, 2), "weft_unit_join_many: stale handle");
    EXPECT_EQ(weft_unit_join_free(units[0]), WEFT_OK);
}

TEST_F(HandlesDeathTest, AUnitIsGoneWithTheRuntime) {
    weft_unit* const unit = spawned();
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    finalize();
    EXPECT_DEATH(weft_unit_join_free(unit),
                 "weft_unit_join_free: stale handle 0x.*: its unit has gone with the runtime");
}

TEST_F(HandlesDeathTest, APoolIsToldAlsoWhereAnotherHasItsPlace) {
    weft_pool *pool = nullptr, *next = nullptr;
    ASSERT_EQ(weft_pool_create(WEFT_POOL_SHARED, &pool), WEFT_OK);
    ASSERT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_DEATH(weft_pool_free(pool), "weft_pool_free: stale handle 0x.*: its pool has been freed, by weft_pool_free");
    ASSERT_EQ(weft_pool_create(WEFT_POOL_SHARED, &next), WEFT_OK);
    EXPECT_NE(pool, next);
    weft_unit* unit = nullptr;
    EXPECT_DEATH(static_cast<void>(weft_ult_spawn(
                     pool, [](void*) {}, nullptr, nullptr, &unit)),
                 "weft_ult_spawn: stale handle");
    weft_sched* sched = nullptr;
    EXPECT_DEATH(static_cast<void>(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched)),
                 "weft_sched_create: stale handle");
    EXPECT_EQ(weft_pool_free(next), WEFT_OK);
}

TEST_F(HandlesDeathTest, AStreamAndTheSchedulerThatEndsWithItAreTold) {
    weft_pool* pool = nullptr;
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_pool_create(WEFT_POOL_SHARED, &pool), WEFT_OK);
    ASSERT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched), WEFT_OK);
    weft_stream_options options{};
    options.size = sizeof options;
    options.sched = sched;
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(&options, &stream), WEFT_OK);
    ASSERT_EQ(weft_stream_join_free(stream), WEFT_OK);
    EXPECT_DEATH(weft_stream_join_free(stream),
                 "weft_stream_join_free: stale handle 0x.*: its stream has been freed, by weft_stream_join_free");
    EXPECT_DEATH(weft_stream_suspend(stream), "weft_stream_suspend: stale handle");
    EXPECT_DEATH(weft_sched_free(sched),
                 "weft_sched_free: stale handle 0x.*: its scheduler has been freed, by .*weft_sched_owned_set");
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST_F(HandlesDeathTest, AKeyIsTold) {
    weft_key *key = nullptr, *next = nullptr;
    ASSERT_EQ(weft_key_create(nullptr, &key), WEFT_OK);
    ASSERT_EQ(weft_key_free(key), WEFT_OK);
    ASSERT_EQ(weft_key_create(nullptr, &next), WEFT_OK);
    EXPECT_DEATH(weft_key_free(key), std::string("weft_key_free: ") + freed);
    EXPECT_DEATH(static_cast<void>(weft_local_get(key)), "weft_local_get: stale handle");
    EXPECT_EQ(weft_key_free(next), WEFT_OK);
}

TEST_F(HandlesDeathTest, ALastingKeyIsToldAlsoWhereItIsReadWithoutACall) {
    weft_key_options lasting{};
    lasting.size = sizeof lasting;
    lasting.lasting = true;
    weft_key *key = nullptr, *next = nullptr;
    ASSERT_EQ(weft_key_create_with(&lasting, &key), WEFT_OK);
    ASSERT_EQ(weft_key_free(key), WEFT_OK);
    ASSERT_EQ(weft_key_create_with(&lasting, &next), WEFT_OK);
    int one = 0;
    weft_unit* const self = weft_unit_self();
    ASSERT_EQ(weft_unit_local_set(self, next, &one), WEFT_OK);
    EXPECT_EQ(weft::here::value_of(self, next), &one);
    EXPECT_DEATH(static_cast<void>(weft::here::value_of(self, key)), "weft_unit_local_get: stale handle");
    weft_unit_options options{};
    options.size = sizeof options;
    options.key = key;
    options.data = &one;
    weft_unit* unit = nullptr;
    EXPECT_DEATH(static_cast<void>(weft_ult_spawn(
                     nullptr, [](void*) {}, nullptr, &options, &unit)),
                 "weft_unit_options.key: stale handle");
    options.key = next;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &options, &unit),
              WEFT_OK);
    EXPECT_EQ(weft::here::value_of(unit, next), &one);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(weft_key_free(next), WEFT_OK);
}

TEST_F(HandlesDeathTest, AFutureIsTold) {
    weft_future *future = nullptr, *next = nullptr;
    ASSERT_EQ(weft_future_create(1, nullptr, nullptr, &future), WEFT_OK);
    ASSERT_EQ(weft_future_free(future), WEFT_OK);
    ASSERT_EQ(weft_future_create(1, nullptr, nullptr, &next), WEFT_OK);
    EXPECT_DEATH(weft_future_set(future, nullptr), std::string("weft_future_set: ") + freed);
    EXPECT_DEATH(weft_future_free(future), "weft_future_free: stale handle");
    EXPECT_EQ(weft_future_free(next), WEFT_OK);
}

TEST_F(HandlesDeathTest, AChannelIsToldAlsoInASelect) {
    weft_channel *channel = nullptr, *next = nullptr;
    ASSERT_EQ(weft_channel_create(nullptr, &channel), WEFT_OK);
    ASSERT_EQ(weft_channel_free(channel), WEFT_OK);
    ASSERT_EQ(weft_channel_create(nullptr, &next), WEFT_OK);
    void* element = nullptr;
    EXPECT_DEATH(weft_channel_send_until(channel, &element, 0), std::string("weft_channel_send_until: ") + freed);
    weft_channel_case one{};
    one.channel = channel;
    one.element = &element;
    std::size_t index = 0;
    EXPECT_DEATH(weft_channel_select_until(&one, 1, 0, &index), "weft_channel_select: stale handle");
    EXPECT_EQ(weft_channel_free(next), WEFT_OK);
}

TEST_F(HandlesDeathTest, AnArenaIsTold) {
    weft_arena* arena = nullptr;
    ASSERT_EQ(weft_arena_create(1, &arena), WEFT_OK);
    ASSERT_EQ(weft_arena_free(arena), WEFT_OK);
    EXPECT_DEATH(weft_arena_free(arena), std::string("weft_arena_free: ") + freed);
    EXPECT_DEATH(weft_arena_execute(
                     arena, [](void*) {}, nullptr),
                 "weft_arena_execute: stale handle");
}

TEST_F(HandlesDeathTest, APollerIsTold) {
    weft_poller* poller = nullptr;
    ASSERT_EQ(weft_poller_register([](void*) { return false; }, nullptr, nullptr, &poller), WEFT_OK);
    ASSERT_EQ(weft_poller_unregister(poller), WEFT_OK);
    EXPECT_DEATH(weft_poller_unregister(poller), std::string("weft_poller_unregister: ") + freed);
}

TEST_F(HandlesDeathTest, ADomainIsTold) {
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = [](void*) {};
    ops.unblock = [](void*, weft_unit*) {};
    weft_domain* domain = nullptr;
    ASSERT_EQ(weft_domain_create(&ops, nullptr, &domain), WEFT_OK);
    weft_domain_ask_back(domain, 0);
    finalize();
    EXPECT_DEATH(static_cast<void>(value_of(weft_domain_data_get, domain)),
                 std::string("weft_domain_data_get: ") + freed);
}

TEST_F(HandlesDeathTest, WhatIsNoHandleIsTold) {
    long something = 0;
    EXPECT_DEATH(weft_pool_free(reinterpret_cast<weft_pool*>(&something)),
                 "weft_pool_free: 0x.* is no handle of a pool");
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_stream_pool_get(weft_stream_self(), &pool), WEFT_OK);
    EXPECT_DEATH(weft_stream_join_free(reinterpret_cast<weft_stream*>(pool)),
                 "weft_stream_join_free: 0x.* is no handle of a stream: it is a pool's");
}
