// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pools that a program has not created itself: which streams share them, whether priorities
// count, and for which unit another may leave.
#include <string>
#include <vector>

#include "test/behaviour/variable.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

weft_settings two_streams(weft_pool_kind pool) {
    weft_settings made = with_streams(2);
    made.pool = pool;
    made.rescue = WEFT_RESCUE_IGNORE;   // rescue would take units from a stream that is busy
    return made;
}

// A unit of stream 0 waits, without ever leaving its stream, for another unit that it has put into
// its pool.
bool is_shared() {
    atomic<bool> ran{false};
    Ult waits([&] {
        weft_unit* other = nullptr;
        EXPECT_EQ(
            weft_ult_spawn(
                nullptr, [](void* flag) { static_cast<atomic<bool>*>(flag)->store(true); }, &ran, nullptr, &other),
            WEFT_OK);
        const std::uint64_t deadline = weft_now_ns() + patience_ms * ms;
        while (!ran && weft_now_ns() < deadline) std::this_thread::yield();
        const bool came = ran;
        EXPECT_EQ(weft_unit_join_free(other), WEFT_OK);
        ran = came;
    });
    EXPECT_EQ(waits.join(), WEFT_OK);
    return ran;
}

class DefaultPools : public testing::TestWithParam<weft_pool_kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, DefaultPools,
                         testing::Values(WEFT_POOL_DEFAULT, WEFT_POOL_SHARED, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY,
                                         WEFT_POOL_BLOCKING));

TEST_P(DefaultPools, OfTwoStreamsAreShared) {
    Runtime runtime(two_streams(GetParam()));
    EXPECT_TRUE(is_shared());
}

TEST(DefaultPoolsByVariable, OfTwoStreamsAreSharedToo) {
    for (const char* kind : {"shared", "lifo", "priority"}) {
        const Variable chosen("WEFT_POOL", kind);
        Runtime runtime(two_streams(WEFT_POOL_DEFAULT));
        EXPECT_TRUE(is_shared()) << kind;
    }
}

// Expects the error that a pool reports when it cannot honour the priority of a unit.
void expect_no_priorities(weft_pool* pool) {
    const std::size_t alive = units_alive();
    auto urgent = options();
    urgent.priority = 3;
    weft_unit *unit = nullptr, *row[2] = {};
    const auto expect_said = [](weft_status status) {
        EXPECT_EQ(status, WEFT_UNSUPPORTED);
        EXPECT_NE(std::string(weft_error_text()).find("WEFT_POOL=priority"), std::string::npos) << weft_error_text();
    };
    expect_said(weft_ult_spawn(
        pool, [](void*) {}, nullptr, &urgent, &unit));
    expect_said(weft_tasklet_spawn(
        pool, [](void*) {}, nullptr, &urgent, &unit));
    expect_said(weft_unit_spawn_many(
        pool, 2, [](void*) {}, nullptr, &urgent, row));
    urgent.child_first = true;
    if (pool == nullptr)
        expect_said(weft_ult_spawn(
            pool, [](void*) {}, nullptr, &urgent, &unit));
    EXPECT_EQ(units_alive(), alive);
    Ult plain([] {}, nullptr, pool);
    expect_said(weft_unit_priority_set(plain.handle(), -1));
    EXPECT_EQ(weft_unit_priority_set(plain.handle(), 0), WEFT_OK);
}

TEST(PoolsOfStreams, WithoutAnOrderRefusePriorities) {
    for (const std::size_t streams : {1, 2}) {
        for (const weft_pool_kind kind :
             {WEFT_POOL_DEFAULT, WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_LIFO, WEFT_POOL_BLOCKING}) {
            auto settings = two_streams(kind);
            settings.streams = streams;
            Runtime runtime(settings);
            Ult([] { expect_no_priorities(nullptr); }).join();
        }
    }
}

TEST(PoolsOfStreams, GiveTheMoreUrgentFirstWhereThatIsAskedFor) {
    const Variable chosen("WEFT_POOL", "priority");
    Runtime runtime(with_streams(1));
    std::string order;
    auto urgent = options();
    urgent.priority = 3;
    {
        Ult first([&] { order += 'n'; });
        Ult second([&] { order += 'u'; }, &urgent);
        auto bound = urgent;
        bound.bound = true;
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_ult_spawn(
                      nullptr, [](void*) {}, nullptr, &bound, &unit),
                  WEFT_UNSUPPORTED)
            << "it waits in a pool of its own";
    }
    EXPECT_EQ(order, "un");
}

TEST(PoolsOfStreams, LetOneLeaveForTheUnitThatIsNext) {
    using Call = weft_status (*)(weft_unit*);
    for (const Call call : {Call{weft_unit_yield_to}, Call{hand_off<WEFT_TO_READY, WEFT_BY_SUSPEND>}}) {
        auto settings = two_streams(WEFT_POOL_DEQUE);
        settings.streams = 1;   // otherwise a thief may come first
        Runtime runtime(settings);
        for (int round = 0; round < 200; ++round) {   // whichever pool has its turn
            std::string order;
            Ult leaves([&] {
                weft_unit* const self = weft_unit_self();
                Ult oldest([&] { order += 'o'; }), next([&] {
                    order += 'n';
                    if (call != Call{hand_off<WEFT_TO_READY, WEFT_BY_SUSPEND>}) return;
                    EXPECT_EQ(weft_unit_resume(self), WEFT_OK);
                });
                EXPECT_EQ(call(oldest.handle()), WEFT_UNSUPPORTED);
                EXPECT_EQ(oldest.state(), WEFT_UNIT_READY);
                EXPECT_EQ(order, "");
                EXPECT_EQ(call(next.handle()), WEFT_OK) << weft_error_text();
                order += 'l';
                EXPECT_EQ(order[0], 'n');
                EXPECT_EQ(call(next.handle()), WEFT_WRONG_STATE) << "it has ended";
            });
            EXPECT_EQ(leaves.join(), WEFT_OK);
            EXPECT_EQ(order[0], 'n') << order;
        }
    }
}

// When nothing else is ready, the oldest of the units that have yielded is next.
TEST(PoolsOfStreams, LetTwoLeaveForEachOther) {
    auto settings = two_streams(WEFT_POOL_DEQUE);
    settings.streams = 1;
    Runtime runtime(settings);
    int turns = 0;
    weft_unit* handles[2] = {};
    Ult first([&] {
        Ult second([&] {
            for (int i = 0; i < 300; ++i) {
                EXPECT_EQ(turns++ % 2, 1);
                EXPECT_EQ(weft_unit_yield_to(handles[0]), WEFT_OK) << weft_error_text();
            }
        });
        handles[1] = second.handle();
        for (int i = 0; i < 300; ++i) {
            EXPECT_EQ(turns++ % 2, 0);
            EXPECT_EQ(weft_unit_yield_to(handles[1]), WEFT_OK) << weft_error_text();
        }
        EXPECT_EQ(second.join(), WEFT_OK);
    });
    handles[0] = first.handle();
    EXPECT_EQ(first.join(), WEFT_OK);
    EXPECT_EQ(turns, 600);
}

// Only the stream itself knows its next unit. Both streams are busy all the while, so the unit is
// not stolen.
TEST(PoolsOfStreams, KeepTheUnitThatIsNextForTheirStream) {
    Runtime runtime(two_streams(WEFT_POOL_DEQUE));
    const auto bound_to = [](std::size_t rank) {
        auto made = options();
        made.stream = weft_stream_at(rank);
        made.bound = true;
        return made;
    };
    const auto wait_for = [](const atomic<bool>& flag) {
        while (!flag.load()) std::this_thread::yield();
    };
    atomic<bool> other_runs{false}, is_next{false}, asked{false};
    weft_unit* next = nullptr;
    const auto here = bound_to(0), there = bound_to(1);
    Ult owner(
        [&] {
            wait_for(other_runs);
            EXPECT_EQ(weft_ult_spawn(
                          pool_of(0), [](void*) {}, nullptr, nullptr, &next),
                      WEFT_OK);
            is_next = true;
            wait_for(asked);
            EXPECT_EQ(weft_unit_join_free(next), WEFT_OK);
        },
        &here);
    Ult other(
        [&] {
            other_runs = true;
            wait_for(is_next);
            EXPECT_EQ(weft_unit_yield_to(next), WEFT_UNSUPPORTED);
            asked = true;
        },
        &there);
    EXPECT_EQ(owner.join(), WEFT_OK);
    EXPECT_EQ(other.join(), WEFT_OK);
}

// With two streams, the named unit may be stolen before: then the call does nothing, and the unit
// runs nevertheless.
TEST(PoolsOfStreams, OfTwoStreamsLetOneLeaveForTheNextOrSayThatItIsGone) {
    Runtime runtime(two_streams(WEFT_POOL_DEFAULT));
    atomic<int> ran{0};
    Ult leaves([&] {
        for (int i = 0; i < 300; ++i) {
            Ult next([&] { ++ran; });
            const weft_status status = weft_unit_yield_to(next.handle());
            EXPECT_TRUE(status == WEFT_OK || status == WEFT_UNSUPPORTED || status == WEFT_WRONG_STATE)
                << weft_status_name(status);
            EXPECT_EQ(next.join(), WEFT_OK);
        }
    });
    EXPECT_EQ(leaves.join(), WEFT_OK);
    EXPECT_EQ(ran, 300);
}

// Other streams do not steal from a later stream: what that has stolen goes back to the pool that
// it comes from.
TEST(PoolsOfStreams, AUnitThatALaterStreamHasStolenOutlivesThatStream) {
    Runtime runtime(two_streams(WEFT_POOL_DEFAULT));
    weft_stream* later = nullptr;
    ASSERT_EQ(weft_stream_create(nullptr, &later), WEFT_OK);
    struct Stolen {
        weft_stream* by;
        const atomic<bool>* over;
        weft_unit* unit = nullptr;
        atomic<bool> ran{false}, waits{false};
    };
    atomic<bool> over{false};
    // The other stream may take the first unit, and keeps it until the later stream has taken the
    // second one.
    Stolen first{later, &over}, second{later, &over};
    for (Stolen* const one : {&first, &second}) {
        if (first.waits) break;
        ASSERT_EQ(weft_ult_spawn(
                      nullptr,
                      [](void* raw) {
                          auto& self = *static_cast<Stolen*>(raw);
                          self.waits = weft_stream_self() == self.by;
                          self.ran = true;
                          if (self.waits) {
                              EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_OK);
                          } else {
                              while (!*self.over) std::this_thread::yield();
                          }
                      },
                      one, nullptr, &one->unit),
                  WEFT_OK);
        while (!one->ran) std::this_thread::yield();   // the unit's stream is busy, so another one runs it
    }
    const Stolen& stolen = first.waits ? first : second;
    EXPECT_TRUE(stolen.waits);
    EXPECT_EQ(weft_stream_join_free(later), WEFT_OK);
    EXPECT_EQ(weft_unit_resume(stolen.unit), WEFT_OK);
    over = true;
    EXPECT_EQ(weft_unit_join_free(first.unit), WEFT_OK);
    if (second.unit != nullptr) {
        EXPECT_EQ(weft_unit_join_free(second.unit), WEFT_OK);
    }
}

}   // namespace
