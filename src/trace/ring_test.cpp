// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/ring.hpp"

#include <gtest/gtest.h>

#include <thread>

using namespace weft::trace;

namespace {

Record record_of(std::uint64_t id) {
    Record record;
    record.id = id;
    record.detail = ~id;
    record.what = Event::yield;
    return record;
}

}   // namespace

TEST(Ring, HoldsWhatWasAddedInItsOrder) {
    Ring ring;
    ASSERT_TRUE(ring.make(10));
    EXPECT_EQ(ring.capacity(), 16u) << "a power of two";
    for (std::uint64_t i = 0; i < 10; ++i) ring.add(record_of(i));
    EXPECT_EQ(ring.written(), 10u);
    std::uint64_t latest = 0;
    for (std::uint64_t i = 0; i < 10; ++i) {
        Record record;
        ASSERT_TRUE(ring.read(i, record));
        EXPECT_EQ(record.id, i);
        EXPECT_EQ(record.detail, ~i);
        EXPECT_EQ(record.what, Event::yield);
        EXPECT_GE(record.stamp, latest);
        latest = record.stamp;
    }
}

TEST(Ring, LosesItsOldest) {
    Ring ring;
    ASSERT_TRUE(ring.make(16));
    for (std::uint64_t i = 0; i < 100; ++i) ring.add(record_of(i));
    Record record;
    EXPECT_FALSE(ring.read(83, record));
    EXPECT_FALSE(ring.read(84, record)) << "the next one goes there, and may be under way";
    for (std::uint64_t i = 85; i < 100; ++i) {
        ASSERT_TRUE(ring.read(i, record)) << i;
        EXPECT_EQ(record.id, i);
    }
}

TEST(Ring, ANameIsARecord) {
    Ring ring;
    ASSERT_TRUE(ring.make(2));
    const char name[Ring::name_bytes] = "as long as it may be...";
    ring.add_name(name);
    Record record;
    ASSERT_TRUE(ring.read(0, record));
    EXPECT_EQ(record.what, Event::name);
    EXPECT_STREQ(reinterpret_cast<const char*>(&record), name);
}

TEST(Ring, WhoReadsWhileItIsWrittenGetsWholeRecordsOrNone) {
    Ring ring;
    ASSERT_TRUE(ring.make(64));
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        for (std::uint64_t i = 0; !stop; ++i) ring.add(record_of(i));
    });
    while (ring.written() < 64) std::this_thread::yield();
    for (int read = 0; read < 20'000;) {   // the newest record is nearly always readable
        const std::uint64_t end = ring.written();
        for (std::uint64_t number : {end - 60, end - 30, end - 1}) {
            Record record;
            if (!ring.read(number, record)) continue;
            ++read;
            ASSERT_EQ(record.id, number);
            ASSERT_EQ(record.detail, ~number);
        }
    }
    stop = true;
    writer.join();
}
