// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams that steal from each other, where the owner of a deque does not come to it: it blocks
// until what it has pushed has run elsewhere. Without rescue, whose OS threads would run it.
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/notes.hpp"
#include "test/behaviour/support.hpp"

using namespace weft_test;

namespace {

weft_settings stealing(std::size_t streams) {
    weft_settings settings = with_streams(streams);
    settings.pool = WEFT_POOL_DEQUE;
    settings.rescue = WEFT_RESCUE_OFF;
    return settings;
}

// Blocks the OS thread of the caller until all have come.
class Meeting {
public:
    explicit Meeting(int all) : all_(all) {}
    void come() {
        come_.fetch_add(1);
        come_.notify_all();
        for (int seen = come_.load(); seen < all_; seen = come_.load()) come_.wait(seen);
    }

private:
    const int all_;
    atomic<int> come_{0};
};

void come(void* meeting) { static_cast<Meeting*>(meeting)->come(); }

// `streams` - 1 units and their spawner meet, each on a stream of its own. `idle_rounds`: how long
// the other streams have had nothing to run.
void meet(std::size_t streams, int idle_rounds) {
    static atomic<int> idle;
    idle = 0;
    for (int i = 0; i < idle_rounds; ++i) idle.fetch_add(1);
    Meeting meeting(static_cast<int>(streams));
    std::vector<weft_unit*> units;
    for (std::size_t i = 1; i < streams; ++i) units.push_back(spawn(come, &meeting));
    meeting.come();
    for (weft_unit* unit : units) EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
}

TEST(Deque, AUnitThatItsSpawnerBlocksForRunsOnAnotherStream) {
    Runtime runtime(stealing(2));
    for (int round = 0; round < 12; ++round) Ult([round] { meet(2, 40 * round); }).join();
}

TEST(Deque, UnitsThatTheirSpawnerBlocksForRunOnAStreamEach) {
    Runtime runtime(stealing(3));
    for (int round = 0; round < 8; ++round) Ult([round] { meet(3, 60 * round); }).join();
}

// They are spawned while the other stream is busy, which only finds them when it runs out of work.
TEST(Deque, UnitsThatAreLeftToOthersRunWhenThoseHaveTime) {
    Runtime runtime(stealing(2));
    for (int round = 0; round < 8; ++round) {
        Ult([round] {
            Meeting begun(2);
            struct Busy {
                Meeting& begun;
                int rounds;
                static void run(void* raw) {
                    auto& self = *static_cast<Busy*>(raw);
                    self.begun.come();
                    static atomic<int> work;
                    for (int i = 0; i < self.rounds; ++i) work.fetch_add(1);
                }
            } busy{begun, 20 * round};
            weft_unit* other = spawn(Busy::run, &busy);
            begun.come();
            // one after the other, on the stream that the busy unit has
            static atomic<int> runs;
            runs = 0;
            auto run = [](void*) {
                runs.fetch_add(1);
                runs.notify_all();
            };
            weft_unit* units[20];
            EXPECT_EQ(weft_unit_spawn_many(nullptr, 20, run, nullptr, nullptr, units), WEFT_OK);
            for (int seen = runs.load(); seen < 20; seen = runs.load()) runs.wait(seen);
            EXPECT_EQ(weft_unit_join_free_many(units, 20), WEFT_OK);
            EXPECT_EQ(weft_unit_join_free(other), WEFT_OK);
        }).join();
    }
}

void run_short_ones(int count) {
    for (int i = 0; i < count; ++i) EXPECT_EQ(weft_unit_join_free(spawn([](void*) {}, nullptr)), WEFT_OK);
}

// Its units have been so short that no other stream was to have them: the next one is not.
void leave_one_behind(std::size_t streams, int short_units) {
    run_short_ones(short_units);
    meet(streams, 0);
}

TEST(Deque, AUnitThatItsSpawnerBlocksForRunsElsewhereAfterManyShortOnes) {
    Runtime runtime(stealing(2));
    for (int round = 0; round < 12; ++round) Ult([round] { leave_one_behind(2, 5 * round); }).join();
}

TEST(Deque, UnitsThatTheirSpawnerBlocksForRunOnAStreamEachAfterManyShortOnes) {
    Runtime runtime(stealing(3));
    for (int round = 0; round < 8; ++round) Ult([round] { leave_one_behind(3, 8 * round); }).join();
}

// The stream that watches the one with short units gets other work, which blocks until the third
// stream has run what is left behind.
TEST(Deque, AStreamTakesOverFromTheOneThatWatched) {
    Runtime runtime(stealing(3));
    for (int round = 0; round < 8; ++round) {
        Ult([round] {
            Meeting meeting(3);
            std::vector<weft_unit*> units;
            run_short_ones(6 * round);
            units.push_back(spawn(come, &meeting));
            run_short_ones(6 * round);
            units.push_back(spawn(come, &meeting));
            meeting.come();
            for (weft_unit* unit : units) EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        }).join();
    }
}

}   // namespace
