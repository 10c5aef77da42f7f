// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mem/slab.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "mem/test_support.hpp"
#include "os/thread.hpp"

namespace {

using namespace weft::mem;
using weft::Random;

constexpr std::size_t object_bytes = 128;

// A descriptor as this layer sees it: the link, then the bytes that must survive.
struct Object {
    void* link;
    std::uint32_t generation;
    weft::atomic<std::uint8_t> state;
    unsigned char rest[object_bytes - 13];
};
static_assert(sizeof(Object) == object_bytes);

Object* take(SlabCache* cache) { return static_cast<Object*>(cache->take()); }

std::vector<Object*> take_many(SlabCache* cache, std::size_t count) {
    std::vector<Object*> objects;
    for (std::size_t i = 0; i < count; ++i) objects.push_back(take(cache));
    return objects;
}

TEST(Slab, AnAnnexedStoreHasAWordForEachObjectThatIsNoPartOfIt) {
    SlabStore store(128, true, true);
    SlabCache* cache = store.adopt();
    ASSERT_NE(cache, nullptr);
    auto objects = take_many(cache, 2 * store.objects_per_slab());
    for (void* object : objects) {
        EXPECT_EQ(annex_of(object, 128).load(), nullptr);
        std::memset(object, 0xff, 128);
        annex_of(object, 128).store(object);
    }
    for (void* object : objects) EXPECT_EQ(annex_of(object, 128).exchange(nullptr), object);
}

TEST(Slab, ObjectsAreApartAlignedAndZero) {
    for (std::size_t bytes : {64, 128, 192, 4096}) {
        SlabStore store(bytes);
        SlabCache* cache = store.adopt();
        std::set<std::uintptr_t> seen;
        for (std::size_t i = 0; i < 3 * store.objects_per_slab(); ++i) {
            auto* object = static_cast<unsigned char*>(cache->take());
            ASSERT_NE(object, nullptr);
            auto address = reinterpret_cast<std::uintptr_t>(object);
            ASSERT_EQ(address % 64, 0u);
            ASSERT_GE(address % slab_bytes, sizeof(Slab));
            ASSERT_LE(address % slab_bytes + bytes, slab_bytes);
            for (std::size_t b = 8; b < bytes; ++b) ASSERT_EQ(object[b], 0);
            std::memset(object, 0xff, bytes);   // overlapping objects would show
            auto next = seen.lower_bound(address);
            ASSERT_TRUE(next == seen.end() || *next >= address + bytes);
            ASSERT_TRUE(next == seen.begin() || *std::prev(next) + bytes <= address);
            seen.insert(address);
        }
        EXPECT_EQ(store.slabs(), 3u);
    }
}

namespace {

int trips = 0;

}   // namespace

TEST(Slab, ATripIsToldOfByTheNextOneThatIsTakenAndLosesNothing) {
    SlabStore store(object_bytes);
    SlabCache* cache = store.adopt();
    const std::set<Object*> before = [&] {
        const auto all = take_many(cache, 3);
        for (Object* object : all) cache->give(object);
        return std::set<Object*>(all.begin(), all.end());
    }();
    const std::size_t idle = cache->idle_bytes();
    trips = 0;
    cache->trip_next([] { ++trips; });
    EXPECT_EQ(cache->idle_bytes(), idle);
    EXPECT_EQ(cache->try_take(), nullptr);
    EXPECT_EQ(trips, 0);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(before.contains(take(cache)));
    EXPECT_EQ(trips, 1);
    cache->trip_next([] { ++trips; });
    cache->trim(0);
    EXPECT_EQ(trips, 2);
}

TEST(Slab, WhatWasGivenLastIsTakenFirst) {
    SlabStore store(object_bytes);
    SlabCache* cache = store.adopt();
    auto objects = take_many(cache, 3);
    for (auto* object : objects) cache->give(object);
    EXPECT_EQ(cache->take(), objects[2]);
    EXPECT_EQ(cache->take(), objects[1]);
    EXPECT_EQ(cache->take(), objects[0]);
}

TEST(Slab, AFreedObjectKeepsAllButItsFirstEightBytes) {
    SlabStore store(object_bytes);
    SlabCache* mine = store.adopt();
    SlabCache* other = store.adopt();
    for (SlabCache* freeing : {mine, other}) {
        auto* object = reinterpret_cast<unsigned char*>(take(mine));
        std::memset(object, 0xa5, object_bytes);
        freeing->give(object);
        freeing->flush();
        for (std::size_t b = 8; b < object_bytes; ++b) ASSERT_EQ(object[b], 0xa5);
        mine->trim(1 << 20);   // collects, and keeps
        unsigned char* again = reinterpret_cast<unsigned char*>(take(mine));
        ASSERT_EQ(again, object);
        for (std::size_t b = 8; b < object_bytes; ++b) ASSERT_EQ(again[b], 0xa5);
        std::memset(object, 0, object_bytes);
    }
}

TEST(Slab, WhatIsFreedElsewhereGoesHomeInBatchesOf32) {
    SlabStore store(object_bytes);
    SlabCache* home = store.adopt();
    SlabCache* away = store.adopt();
    auto objects = take_many(home, store.objects_per_slab());
    for (int i = 0; i < 31; ++i) away->give(objects[static_cast<std::size_t>(i)]);
    EXPECT_EQ(home->trim(1 << 20), 0u);
    EXPECT_EQ(home->idle_bytes(), 0u) << "came home before the batch was full";
    away->give(objects[31]);
    home->trim(1 << 20);
    EXPECT_EQ(home->idle_bytes(), 32 * object_bytes);
    auto again = take_many(home, 32);
    EXPECT_EQ(store.slabs(), 1u);
    EXPECT_EQ(std::set<Object*>(again.begin(), again.end()), std::set<Object*>(objects.begin(), objects.begin() + 32));
    EXPECT_EQ(away->idle_bytes(), 0u) << "objects must not wander";
}

TEST(Slab, ABatchGoesHomeWhenTheOwnerChangesOrOnFlush) {
    SlabStore store(object_bytes);
    SlabCache* first = store.adopt();
    SlabCache* second = store.adopt();
    SlabCache* away = store.adopt();
    auto firsts = take_many(first, store.objects_per_slab());
    auto seconds = take_many(second, store.objects_per_slab());
    away->give(firsts[0]);
    away->give(firsts[1]);
    away->give(seconds[0]);
    EXPECT_EQ(take(first), firsts[1]) << "the owner changed: the first two must have gone home";
    EXPECT_EQ(take(first), firsts[0]);
    away->flush();
    EXPECT_EQ(take(second), seconds[0]);
    EXPECT_EQ(store.slabs(), 2u);
}

TEST(Slab, OneCreatesAnotherFreesForeverInBoundedMemory) {
    constexpr std::size_t in_flight = 256, total = 200'000;
    SlabStore store(object_bytes);
    SlabCache* creator = store.adopt();
    SlabCache* freer = store.adopt();
    std::vector<weft::atomic<Object*>> ring(in_flight);
    std::thread consumer([&] {
        for (std::size_t i = 0; i < total; ++i) {
            auto& place = ring[i % in_flight];
            Object* object;
            while ((object = place.load()) == nullptr) weft::os::thread_yield();
            freer->give(object);
            place.store(nullptr);
        }
    });
    for (std::size_t i = 0; i < total; ++i) {
        auto& place = ring[i % in_flight];
        while (place.load() != nullptr) weft::os::thread_yield();
        place.store(take(creator));
    }
    consumer.join();
    EXPECT_LE(store.slabs(), 2u);   // 256 in flight, 31 on their way, and what was handed out meanwhile
}

TEST(Slab, EachVisitsWhatWasEverHandedOutFreeOrNot) {
    SlabStore store(object_bytes);
    SlabCache* cache = store.adopt();
    auto objects = take_many(cache, 40 * store.objects_per_slab() + 10);   // more than a region
    for (auto* object : objects) object->state.store(1);
    objects[3]->state.store(2);
    cache->give(objects[3]);
    struct Seen {
        std::set<void*> all;
        int used = 0, free = 0;
    } seen;
    store.each(
        [](void* object, void* argument) {
            auto& s = *static_cast<Seen*>(argument);
            EXPECT_TRUE(s.all.insert(object).second);
            const int state = static_cast<Object*>(object)->state.load();
            s.used += state == 1;
            s.free += state == 2;
        },
        &seen);
    EXPECT_EQ(seen.used, static_cast<int>(objects.size()) - 1);
    EXPECT_EQ(seen.free, 1);
    for (auto* object : objects) EXPECT_EQ(seen.all.count(object), 1u);
}

TEST(Slab, TrimReturnsSlabsThatAreAllFreeAndNoOthers) {
    SlabStore store(object_bytes);
    SlabCache* cache = store.adopt();
    const std::size_t per_slab = store.objects_per_slab();
    auto objects = take_many(cache, 4 * per_slab);
    for (std::size_t i = 0; i < objects.size(); ++i) {
        objects[i]->generation = 7;
        if (i != per_slab + 5) cache->give(objects[i]);
    }
    EXPECT_EQ(cache->trim(~std::size_t{0}), 0u);
    EXPECT_EQ(cache->idle_bytes(), (4 * per_slab - 1) * object_bytes);
    EXPECT_EQ(cache->trim(2 * slab_bytes), 2 * slab_bytes);
    EXPECT_EQ(store.slabs(), 2u);
    EXPECT_EQ(cache->trim(0), slab_bytes);
    EXPECT_EQ(store.slabs(), 1u);
    EXPECT_EQ(cache->idle_bytes(), (per_slab - 1) * object_bytes);
    EXPECT_EQ(objects[per_slab + 5]->generation, 7u);
    auto again = take_many(cache, 3 * per_slab);   // memory that came back from the system is as new
    EXPECT_EQ(std::set<Object*>(again.begin(), again.end()).size(), again.size());
    for (auto* object : again) {
        const bool kept = slab_of(object) == slab_of(objects[per_slab + 5]);
        EXPECT_EQ(object->generation, kept ? 7u : 0u);
    }
}

TEST(Slab, TrimGivesMemoryBackToTheSystem) {
    constexpr std::size_t count = 100'000;
    SlabStore store(object_bytes);
    SlabCache* cache = store.adopt();
    std::vector<Object*> objects(count, nullptr);   // resident before the measurement
    const std::size_t before = weft::mem::test::resident_pages();
    for (auto*& object : objects) {
        object = take(cache);
        object->generation = 1;
    }
    const std::size_t full = weft::mem::test::resident_pages();
    EXPECT_GE(full - before, count * object_bytes / 4096);
    for (auto* object : objects) cache->give(object);
    cache->trim(0);
    EXPECT_EQ(store.slabs(), 0u);
    if (weft::mem::test::sanitized) return;   // their shadow memory stays
    EXPECT_LE(weft::mem::test::resident_pages(), before + 64);
}

TEST(Slab, ASmallProgramPaysForThePagesItTouches) {
    if (weft::mem::test::sanitized) GTEST_SKIP() << "the sanitizer's own memory is counted with it";
    const std::size_t before = weft::mem::test::resident_pages();
    SlabStore store(object_bytes);
    SlabCache* cache = store.adopt();
    take(cache)->generation = 1;
    EXPECT_LE(weft::mem::test::resident_pages(), before + 32);
}

TEST(Slab, TrimCountsWhatOthersReturned) {
    SlabStore store(object_bytes);
    SlabCache* home = store.adopt();
    SlabCache* away = store.adopt();
    auto objects = take_many(home, store.objects_per_slab());
    for (auto* object : objects) away->give(object);
    away->flush();
    EXPECT_EQ(home->trim(0), slab_bytes);
    EXPECT_EQ(store.slabs(), 0u);
}

TEST(Slab, AnOrphanedCacheIsAdoptedWithWhatCameHomeMeanwhile) {
    SlabStore store(object_bytes);
    SlabCache* dying = store.adopt();
    SlabCache* away = store.adopt();
    auto objects = take_many(dying, 64);
    store.orphan(dying);
    EXPECT_EQ(store.slabs(), 1u);
    for (auto* object : objects) away->give(object);
    SlabCache* heir = store.adopt();
    EXPECT_EQ(heir, dying);
    take_many(heir, store.objects_per_slab());
    EXPECT_EQ(store.slabs(), 1u);
    store.orphan(heir);
    EXPECT_NE(store.adopt(), away);
}

TEST(Slab, AnOrphanKeepsNothingThatBelongsElsewhere) {
    SlabStore store(object_bytes);
    SlabCache* home = store.adopt();
    SlabCache* dying = store.adopt();
    Object* object = take(home);
    dying->give(object);
    store.orphan(dying);
    home->trim(0);
    EXPECT_EQ(store.slabs(), 0u);
}

TEST(Slab, OrphansCanBeTrimmed) {
    SlabStore store(object_bytes);
    SlabCache* dying = store.adopt();
    SlabCache* away = store.adopt();
    auto objects = take_many(dying, store.objects_per_slab());
    store.orphan(dying);
    EXPECT_EQ(store.trim_orphans(), 0u);
    for (auto* object : objects) away->give(object);
    away->flush();
    EXPECT_EQ(store.trim_orphans(), slab_bytes);
    EXPECT_EQ(store.slabs(), 0u);
    EXPECT_EQ(store.adopt(), dying);
}

TEST(Slab, TheStoreTakesItsMemoryWithIt) {
    void* object;
    {
        SlabStore store(object_bytes);
        SlabCache* cache = store.adopt();
        object = cache->take();
        take_many(cache, 40 * store.objects_per_slab());   // more than a region
        EXPECT_TRUE(weft::mem::test::mappings(object).holds);
    }
    EXPECT_FALSE(weft::mem::test::mappings(object).holds);
}

// Every system call in a scenario fails once: the result is null, and the store works afterwards.
TEST(Slab, NoMemoryIsNullAndNothingIsLost) {
    if (!weft::config::checked) GTEST_SKIP() << "needs the fault hook of a checked build";
    weft::mem::test::Faults faults;
    auto scenario = [](bool* failed) {
        SlabStore store(4096);   // few objects in a slab, so several regions are short work
        for (int round = 0; round < 2; ++round) {
            SlabCache* cache = store.adopt();
            if (cache == nullptr) {
                *failed = true;
                cache = store.adopt();
            }
            if (cache == nullptr) return false;
            std::vector<void*> objects;
            for (int i = 0; i < 1000; ++i) {
                void* object = cache->take();
                if (object == nullptr) {
                    *failed = true;
                    object = cache->take();   // only the k-th call fails
                }
                if (object == nullptr) return false;
                objects.push_back(object);
            }
            if (std::set<void*>(objects.begin(), objects.end()).size() != objects.size()) return false;
            for (void* object : objects) cache->give(object);
            store.orphan(cache);
        }
        return store.slabs() == 0;
    };
    bool failed = false;
    ASSERT_TRUE(scenario(&failed));   // everything that is made once in a process exists now
    const std::size_t before = weft::mem::test::mappings().bytes;
    std::uint32_t k = 0;
    do {
        faults.fail_kth(++k);
        failed = false;
        ASSERT_TRUE(scenario(&failed)) << "k = " << k;
        EXPECT_EQ(failed, faults.reached()) << "k = " << k;
    } while (faults.reached());
    EXPECT_GE(k, 6u);
    if (weft::mem::test::sanitized) return;   // they map memory of their own
    EXPECT_LE(weft::mem::test::mappings().bytes, before + (1 << 20));
}

// Threads that take, hand objects to each other, give and trim, and one that lists them all. A
// stamp in each object shows whether two threads ever had it at once.
TEST(Slab, ManyThreadsNeverShareAnObject) {
    constexpr int threads = 4;
    const int rounds = weft::mem::test::sanitized ? 20'000 : 100'000;
    const std::uint64_t seed = weft::mem::test::seed();
    SlabStore store(object_bytes);
    std::vector<weft::atomic<Object*>> market(64);
    weft::atomic<int> running{threads};
    weft::atomic<int> wrong{0};
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t) {
        team.emplace_back([&, t] {
            Random random(seed + static_cast<std::uint64_t>(t));
            SlabCache* cache = store.adopt();
            for (int i = 0; i < rounds; ++i) {
                Object* object = take(cache);
                if (object->state.exchange(1) == 1) wrong.fetch_add(1);
                object->generation++;
                // An object from there, no matter whose, is this thread's to free.
                if (Object* other = market[random.below(64)].exchange(object)) {
                    if (other->state.exchange(2) != 1) wrong.fetch_add(1);
                    cache->give(other);
                }
                if (random.below(1000) == 0) cache->trim(random.below(2) * slab_bytes);
                if (random.below(5000) == 0) {
                    store.orphan(cache);
                    cache = store.adopt();
                }
            }
            store.orphan(cache);
            running.fetch_sub(1);
        });
    }
    while (running.load() > 0) {
        store.each(
            [](void* object, void* count) {
                if (static_cast<Object*>(object)->state.load() > 2)
                    static_cast<weft::atomic<int>*>(count)->fetch_add(1);
            },
            &wrong);
        weft::os::thread_yield();
    }
    for (auto& thread : team) thread.join();
    EXPECT_EQ(wrong.load(), 0);
    SlabCache* last = store.adopt();
    for (auto& place : market) {
        if (Object* object = place.load()) last->give(object);
    }
    last->flush();
    store.orphan(last);
    store.trim_orphans();
    EXPECT_EQ(store.slabs(), 0u) << "an object was lost";
}

TEST(SlabDeathTest, WhatIsNoObjectOfTheStoreStopsTheProcess) {
    if constexpr (!weft::config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    SlabStore store(object_bytes);
    SlabCache* cache = store.adopt();
    ASSERT_NE(cache, nullptr);
    Object* const object = take(cache);
    EXPECT_DEATH(cache->give(reinterpret_cast<char*>(object) + 64), "does not hold");
    cache->give(object);
    store.orphan(cache);
}

TEST(SlabDeathTest, AnObjectThatIsGivenTwiceStopsTheSimulator) {
    if constexpr (!weft::config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    SlabStore store(object_bytes);
    SlabCache* cache = store.adopt();
    ASSERT_NE(cache, nullptr);
    Object* const object = take(cache);
    cache->give(object);
    if constexpr (weft::config::checked) store.check_whole();
    EXPECT_DEATH(
        {
            cache->give(object);
            if constexpr (weft::config::checked) store.check_whole();
        },
        "does not hold");
}

}   // namespace
