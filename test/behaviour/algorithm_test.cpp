// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parallel algorithms, each compared with its counterpart in the standard library, and groups
// of tasks.
#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "test/behaviour/several.hpp"

using weft_test::counter;
using weft_test::Runtime;

namespace {

constexpr std::size_t sizes[] = {0, 1, 2, 3, 7, 16, 64, 65, 511, 1025, 20'000};

// The default splitting, which divides as finely as streams ask for, and two fixed grains.
constexpr weft::splitting splittings[] = {{}, {.grain = 1}, {.grain = 5}};

std::vector<int> random_numbers(std::size_t count, unsigned seed, int most = INT_MAX) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<int> any(0, most);
    std::vector<int> made(count);
    for (int& number : made) number = any(generator);
    return made;
}

std::vector<std::string> words(std::size_t count) {
    std::vector<std::string> made(count);
    for (std::size_t i = 0; i < count; ++i)
        made[i] = std::string(1, static_cast<char>('a' + i % 26)) + (i % 7 == 0 ? " " : "");
    return made;
}

// Takes long enough for another stream to take part. It never suspends.
void take_a_while(std::uint64_t ns = 20'000) {
    const std::uint64_t begin = weft_now_ns();
    while (weft_now_ns() - begin < ns) continue;
}

struct Failed {
    int at;
};

// Calls f() on an OS thread that is no stream, while the streams go on running.
template <class F>
void on_an_os_thread(F f) {
    weft_test::atomic<bool> ended{false};
    std::thread thread([&] {
        f();
        ended = true;
    });
    weft_test::until_set(ended);
    thread.join();
}

// With one stream, two, and more than there are processors.
class Algorithm : public testing::TestWithParam<std::size_t> {
protected:
    Runtime runtime{GetParam()};
};
std::string named_streams(const testing::TestParamInfo<std::size_t>& streams) {
    return "On" + std::to_string(streams.param);
}

class ParallelFor : public Algorithm {};
class ParallelReduce : public Algorithm {};
class ParallelScan : public Algorithm {};
class ParallelSort : public Algorithm {};
class TaskGroup : public Algorithm {};
INSTANTIATE_TEST_SUITE_P(Streams, ParallelFor, testing::Values(1, 2, 5), named_streams);
INSTANTIATE_TEST_SUITE_P(Streams, ParallelReduce, testing::Values(1, 2, 5), named_streams);
INSTANTIATE_TEST_SUITE_P(Streams, ParallelScan, testing::Values(1, 2, 5), named_streams);
INSTANTIATE_TEST_SUITE_P(Streams, ParallelSort, testing::Values(1, 2, 5), named_streams);
INSTANTIATE_TEST_SUITE_P(Streams, TaskGroup, testing::Values(1, 2, 5), named_streams);

// ---- refused calls ------------------------------------------------------------------------------

constexpr auto no_op = [](auto&&...) {};
struct Impatient {
    void operator()(int);   // not const, so it could not be called on several streams at once
};
using weft::detail::reduces_in, weft::detail::sorts, weft::detail::takes_each_between, weft::detail::takes_each_in;
static_assert(takes_each_between<decltype(no_op), int, int> && takes_each_in<decltype(no_op), std::vector<int>> &&
              takes_each_between<decltype(no_op), int*, int*>);
static_assert(!takes_each_in<decltype(no_op), std::list<int>> && !takes_each_between<decltype(no_op), double, double> &&
              !takes_each_between<decltype(no_op), bool, bool>);
static_assert(!takes_each_between<Impatient, int, int> && !takes_each_between<void (*)(std::string), int, int>);
static_assert(!sorts<std::identity, std::vector<int>::const_iterator, std::less<>> &&
              sorts<std::identity, std::vector<std::unique_ptr<int>>::iterator, std::less<>>);
static_assert(!reduces_in<std::plus<>, int, std::vector<std::string>> &&
              reduces_in<std::plus<>, long, std::vector<int>>);

// ---- loops --------------------------------------------------------------------------------------

TEST_P(ParallelFor, VisitsEachElementOnce) {
    for (const std::size_t size : sizes) {
        for (const weft::splitting how : splittings) {
            std::vector<weft_test::atomic<int>> visits(size);
            weft::parallel_for(
                std::size_t{0}, size, [&](std::size_t i) { visits[i].fetch_add(1); }, how);
            weft::parallel_for(
                visits.begin(), visits.end(), [&](weft_test::atomic<int>& visit) { visit.fetch_add(10); }, how);
            weft::parallel_for(
                visits, [&](auto& visit) { visit.fetch_add(100); }, how);
            for (std::size_t i = 0; i < size; ++i)
                ASSERT_EQ(visits[i], 111) << i << " of " << size << ", grain " << how.grain;
        }
    }
}

TEST_P(ParallelFor, RangesOfNumbersMayCrossZeroAndBeAsWideAsTheirType) {
    const auto check = [](auto first, auto last) {
        using number = decltype(first);
        std::mutex lock;
        std::vector<number> seen, wanted;
        for (number i = first; i != last; ++i) wanted.push_back(i);
        weft::parallel_for(
            first, last,
            [&](number i) {
                const std::lock_guard guard(lock);
                seen.push_back(i);
            },
            weft::splitting{.grain = 1});
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(seen, wanted);
    };
    check(-50, 50);
    check(INT_MIN, INT_MIN + 100);
    check(INT_MAX - 100, INT_MAX);
    check(std::numeric_limits<std::int8_t>::min(), std::numeric_limits<std::int8_t>::max());
    check(std::numeric_limits<std::int64_t>::max() - 9, std::numeric_limits<std::int64_t>::max());
    check((std::size_t{1} << 32) - 5, (std::size_t{1} << 32) + 5);
}

TEST_P(ParallelFor, AnEndlessRangeCountsWithoutOverflow) {
    std::stop_source stop;
    weft_test::atomic<int> visits{0};
    const bool whole = weft::parallel_for(
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
        [&](std::int64_t) {
            if (visits.fetch_add(1) == 100) stop.request_stop();
        },
        stop.get_token());
    EXPECT_FALSE(whole);
    EXPECT_GT(visits, 100);
}

TEST_P(ParallelFor, NumbersOfTwoTypesHaveOneInCommon) {
    const std::vector<int> numbers(10, 1);
    weft_test::atomic<std::size_t> sum{0};
    weft::parallel_for(0, numbers.size(), [&](auto i) {
        static_assert(std::same_as<decltype(i), std::size_t>);
        sum.fetch_add(i);
    });
    EXPECT_EQ(sum, 45u);
}

TEST_P(ParallelFor, NothingIsDoneWhereTheFirstIsNotBelowTheLast) {
    weft::parallel_for(5, 5, [](int) { FAIL(); });
    weft::parallel_for(5, -5, [](int) { FAIL(); });
    weft::parallel_for(5u, 3u, [](unsigned) { FAIL(); });
    weft::parallel_for(7, 3u, [](unsigned) { FAIL(); });
}

TEST_P(ParallelFor, CallsWhateverCanBeInvoked) {
    struct Cell {
        int value = 0;
        void fill() { value = 7; }
    };
    std::vector<Cell> cells(100);
    weft::parallel_for(cells, &Cell::fill);
    for (const Cell& cell : cells) EXPECT_EQ(cell.value, 7);
}

TEST_P(ParallelFor, LoopsNest) {
    std::vector<std::vector<int>> table(40, std::vector<int>(300));
    weft::parallel_for(
        table,
        [](std::vector<int>& row) {
            weft::parallel_for(
                row, [](int& cell) { ++cell; }, weft::splitting{.grain = 10});
            weft::parallel_for(row, [](int& cell) { ++cell; });
        },
        weft::splitting{.grain = 1});
    for (const auto& row : table) EXPECT_EQ(std::accumulate(row.begin(), row.end(), 0), 600);
}

TEST_P(ParallelFor, ElementsMayWait) {
    weft::mutex lock;
    int sum = 0;
    weft::parallel_for(
        0, 100,
        [&](int i) {
            const std::scoped_lock guard(lock);
            weft::this_thread::yield();
            sum += i;
        },
        weft::splitting{.grain = 1});
    EXPECT_EQ(sum, 4950);
}

TEST_P(ParallelFor, TheFirstExceptionComesOutWhenAllThatRunsHasEnded) {
    for (const weft::splitting how : splittings) {
        weft_test::atomic<int> running{0}, begun{0};
        try {
            weft::parallel_for(
                0, 100'000,
                [&](int i) {
                    begun.fetch_add(1);
                    running.fetch_add(1);
                    if (i % 64 == 3) {
                        running.fetch_sub(1);
                        throw Failed{i};
                    }
                    weft::this_thread::yield();
                    running.fetch_sub(1);
                },
                how);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Failed& failed) {
            EXPECT_EQ(failed.at % 64, 3);
        }
        EXPECT_EQ(running, 0);
        EXPECT_LT(begun, 50'000) << "the others stop soon";
    }
}

// From outside, a test cannot know which of two exceptions that are thrown at once is the first.
TEST(ParallelForDetail, OfSeveralExceptionsTheFirstIsKept) {
    weft::detail::common all{weft::detail::chosen{}};
    for (const int at : {1, 2}) {
        try {
            throw Failed{at};
        } catch (...) {
            all.fail();
        }
    }
    EXPECT_TRUE(all.over());
    int kept = 0;
    try {
        all.settle();
    } catch (const Failed& failed) {
        kept = failed.at;
    }
    EXPECT_EQ(kept, 1);
}

TEST_P(ParallelFor, ExitInAnElementEndsTheCaller) {
    bool after = false;
    weft::thread caller([&] {
        weft::parallel_for(
            0, 100,
            [](int i) {
                if (i == 50) weft::this_thread::exit();
            },
            weft::splitting{.grain = 1});
        after = true;
    });
    caller.join();
    EXPECT_FALSE(after);
}

TEST_P(ParallelFor, AStopLeavesOutWhatHasNotBegunAndTheCallSaysSo) {
    std::stop_source stop;
    weft_test::atomic<int> visits{0};
    const auto visit = [&](int i) {
        // Another stream may have the other half, and finish it while this stream waits for a
        // processor.
        while (i > 1'000 && !stop.stop_requested()) weft::this_thread::yield();
        visits.fetch_add(1);
        if (i == 10) stop.request_stop();
    };
    EXPECT_TRUE(weft::parallel_for(0, 5, visit, stop.get_token()));
    EXPECT_EQ(visits, 5);
    EXPECT_FALSE(weft::parallel_for(0, 1'000'000, visit, stop.get_token(), weft::splitting{.grain = 2}));
    EXPECT_LT(visits, 500'000);
    visits = 0;
    EXPECT_FALSE(weft::parallel_for(0, 5, visit, weft::splitting{}, stop.get_token()));
    EXPECT_EQ(visits, 0);
    EXPECT_TRUE(weft::parallel_for(0, 0, visit, stop.get_token())) << "nothing was left out";
    EXPECT_TRUE(weft::parallel_for(0, 5, visit, std::stop_token()));
}

TEST_P(ParallelFor, AStopInTheLastElementHasLeftNothingOut) {
    std::stop_source stop;
    EXPECT_TRUE(weft::parallel_for(
        0, 1, [&](int) { stop.request_stop(); }, stop.get_token()));
}

TEST_P(ParallelFor, AsManyElementsAsTheGrainSaysStayTogether) {
    constexpr std::size_t count = 1'000, grain = 100;
    std::vector<weft_unit*> ran_by(count);
    weft::parallel_for(
        std::size_t{0}, count,
        [&](std::size_t i) {
            take_a_while();
            ran_by[i] = weft_unit_self();
        },
        weft::splitting{.grain = grain});
    for (std::size_t begin = 0, end = 0; begin != count; begin = end) {
        while (end != count && ran_by[end] == ran_by[begin]) ++end;
        EXPECT_GE(end - begin, grain) << "from " << begin;
    }
}

TEST_P(ParallelFor, ATaskletMayCallItToo) {
    weft_test::atomic<int> sum{0};
    weft::tasklet([&] {
        weft::parallel_for(
            0, 1000, [&](int i) { sum.fetch_add(i); }, weft::splitting{.grain = 1});
    }).join();
    EXPECT_EQ(sum, 499'500);
}

TEST(ParallelForOnOneStream, MakesNoUnits) {
    Runtime runtime;
    const std::uint64_t before = counter("/units/count/created");
    std::vector<int> cells(200'000);
    weft::parallel_for(cells, [](int& cell) { ++cell; });
    weft::parallel_for(
        0, 1000, [&](int i) { ++cells[static_cast<std::size_t>(i)]; }, weft::splitting{.grain = 1});
    EXPECT_EQ(weft::parallel_reduce(cells, 0), 201'000);
    weft::parallel_sort(cells);
    EXPECT_EQ(counter("/units/count/created"), before);
}

TEST(ParallelForOnOneStream, AThrowLeavesOutTheHalfThatHasNotBegun) {
    Runtime runtime;
    int last = 0;
    // A unit's first fork always makes a job: it is not known yet whether a thief has asked for
    // one.
    weft::thread([&] {
        EXPECT_THROW(weft::parallel_for(
                         0, 1000,
                         [&](int i) {
                             last = i;
                             if (i == 3) throw Failed{i};
                         },
                         weft::splitting{.grain = 1}),
                     Failed);
    }).join();
    EXPECT_EQ(last, 3);
}

TEST(ParallelForOnTwoStreams, ManyElementsMakeFewUnits) {
    Runtime runtime(2);
    const std::uint64_t before = counter("/units/count/created");
    std::vector<unsigned char> cells(10'000'000);
    weft::parallel_for(cells, [](unsigned char& cell) { ++cell; });
    EXPECT_LT(counter("/units/count/created") - before, 200u);
    EXPECT_EQ(std::count(cells.begin(), cells.end(), 1), 10'000'000);
}

TEST(ParallelForOnTwoStreams, BothTakePartInAFewLongElementsAndInManyShortOnes) {
    Runtime runtime(2);
    for (const int count : {2, 5, 100, 5'000}) {
        std::mutex lock;
        std::set<weft_stream*> streams;
        // Sometimes the other stream comes too late, because its processor is busy with something
        // else; but not every time.
        const std::uint64_t patience = weft_now_ns() + 5'000'000'000;
        while (streams.size() < 2 && weft_now_ns() < patience) {
            weft::parallel_for(0, count, [&](int) {
                take_a_while(2'000'000 / static_cast<unsigned>(count) + 10'000);
                const std::lock_guard guard(lock);
                streams.insert(weft_stream_self());
            });
        }
        EXPECT_EQ(streams.size(), 2u) << count << " elements";
    }
}

TEST(ParallelForElsewhere, AnOsThreadThatIsNoStreamHandsALongLoopToAUnit) {
    Runtime runtime(2);
    on_an_os_thread([] {
        weft_test::atomic<int> here{0}, in_units{0};
        weft::parallel_for(0, 2'000, [&](int) {
            take_a_while();
            (weft::this_thread::self() ? in_units : here).fetch_add(1);
        });
        EXPECT_GT(here, 0);
        EXPECT_GT(in_units, 1'900);
        EXPECT_EQ(here + in_units, 2'000);
        // A short loop stays on the thread. The clock decides what is short, and the thread may
        // have been kept from running, hence the retries.
        do {
            in_units = 0;
            weft::parallel_for(0, 10, [&](int) { in_units.fetch_add(weft::this_thread::self() ? 1 : 0); });
        } while (in_units != 0);
        std::vector<int> numbers = random_numbers(50'000, 1), wanted = numbers;
        std::sort(wanted.begin(), wanted.end());
        weft::parallel_sort(numbers);
        EXPECT_EQ(numbers, wanted);
        EXPECT_EQ(weft::parallel_reduce(0, 50'000, std::int64_t{0}), std::int64_t{50'000} * 49'999 / 2);
        EXPECT_THROW(weft::parallel_for(0, 2'000,
                                        [](int i) {
                                            take_a_while();
                                            if (i == 1'000) throw Failed{i};
                                        }),
                     Failed);
    });
}

TEST(ParallelForElsewhere, WithoutARuntimeItIsALoop) {
    int sum = 0;
    weft::parallel_for(0, 10'000, [&](int i) { sum += i; });
    EXPECT_EQ(sum, 49'995'000);
    EXPECT_EQ(weft::parallel_reduce(0, 10'000, 0), 49'995'000);
    std::vector<int> numbers = random_numbers(50'000, 1);
    weft::parallel_sort(numbers);
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    weft::parallel_scan(numbers, numbers.begin(), [](int, int b) { return b; });
    EXPECT_EQ(numbers.size(), 50'000u);
}

// ---- reductions ---------------------------------------------------------------------------------

TEST_P(ParallelReduce, KeepsTheOrderOfItsOperands) {
    for (const std::size_t size : sizes) {
        const std::vector<std::string> list = words(std::min<std::size_t>(size, 2'000));
        const std::string wanted = std::accumulate(list.begin(), list.end(), std::string("begin: "));
        for (const weft::splitting how : splittings) {
            EXPECT_EQ(weft::parallel_reduce(list, std::string("begin: "), std::plus<>(), how), wanted);
            EXPECT_EQ(weft::parallel_reduce(list.begin(), list.end(), std::string("begin: "), std::plus<>(), how),
                      wanted);
            EXPECT_EQ(
                weft::parallel_reduce(list, std::string("begin: "), std::plus<>(), weft::splitting{how.grain, true}),
                wanted);
        }
    }
}

TEST_P(ParallelReduce, AddsAsAccumulateDoesForAnyLength) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        for (const std::size_t size : sizes) {
            const std::vector<int> numbers = random_numbers(size, seed);
            const auto wanted = std::accumulate(numbers.begin(), numbers.end(), std::int64_t{3});
            for (const weft::splitting how : splittings)
                EXPECT_EQ(weft::parallel_reduce(numbers, std::int64_t{3}, std::plus<>(), how), wanted);
            EXPECT_EQ(weft::parallel_reduce(numbers, std::int64_t{3}), wanted);
        }
    }
}

TEST_P(ParallelReduce, TransformsElementsAndNumbers) {
    const auto square = [](std::int64_t i) { return i * i; };
    EXPECT_EQ(weft::parallel_reduce(-5, 10'000, std::int64_t{0}, std::plus<>(), square, weft::splitting{.grain = 3}),
              333'283'335'055);
    EXPECT_EQ(weft::parallel_reduce(std::array{3, 4}, std::int64_t{0}, std::plus<>(), square), 25);
    const std::vector<std::string> list = words(100);
    EXPECT_EQ(
        weft::parallel_reduce(
            list, std::size_t{0}, [](std::size_t a, std::size_t b) { return std::max(a, b); }, &std::string::size),
        2u);
}

TEST_P(ParallelReduce, ValuesMayBeMoveOnly) {
    using Number = std::unique_ptr<int>;
    const auto add = [](Number a, Number b) {
        *a += *b;
        return a;
    };
    const auto sum = weft::parallel_reduce(
        0, 1000, std::make_unique<int>(1), add, [](int i) { return std::make_unique<int>(i); },
        weft::splitting{.grain = 1});
    EXPECT_EQ(*sum, 499'501);
}

TEST_P(ParallelReduce, AReproducibleSumIsTheSameToTheBitForAnyNumberOfStreams) {
    std::vector<float> numbers(10'000);
    std::mt19937 generator(1);
    for (float& number : numbers) number = std::uniform_real_distribution<float>(-1, 1)(generator);
    const auto sum = [&](std::size_t grain) {
        return weft::parallel_reduce(numbers, 0.0f, std::plus<>(), weft::splitting{grain, true});
    };
    // Bracketed by hand: in halves down to the grain, with the initial value before everything.
    const auto by_hand = [&](const auto& self, std::size_t begin, std::size_t end, std::size_t grain) -> float {
        if (end - begin <= grain)
            return std::accumulate(numbers.begin() + static_cast<int>(begin) + 1,
                                   numbers.begin() + static_cast<int>(end), numbers[begin]);
        const std::size_t middle = begin + (end - begin) / 2;
        const float left = self(self, begin, middle, grain);
        return left + self(self, middle, end, grain);
    };
    for (int attempt = 0; attempt < 5; ++attempt) {
        EXPECT_EQ(sum(0), 0.0f + by_hand(by_hand, 0, numbers.size(), 1024));
        EXPECT_EQ(sum(10), 0.0f + by_hand(by_hand, 0, numbers.size(), 10));
    }
}

TEST_P(ParallelReduce, ThrowsWhatTheOperationThrowsAndDropsThePartialSums) {
    const auto token = std::make_shared<int>(0);
    using Held = std::shared_ptr<int>;
    weft_test::atomic<int> calls{0};
    const auto add = [&](Held a, const Held&) {
        if (calls.fetch_add(1) == 300) throw Failed{0};
        return a;
    };
    for (const bool reproducible : {false, true}) {
        calls = 0;
        EXPECT_THROW(weft::parallel_reduce(
                         0, 1000, token, add, [&](int) { return token; }, weft::splitting{1, reproducible}),
                     Failed);
        EXPECT_EQ(token.use_count(), 1);
    }
}

TEST_P(ParallelReduce, ThrowsWhicheverElementItIs) {
    for (const bool reproducible : {false, true}) {
        for (int at = 0; at < 32; ++at) {
            const auto throwing = [at](int i) {
                take_a_while();
                if (i == at) throw Failed{i};
                return i;
            };
            EXPECT_THROW(weft::parallel_reduce(0, 32, 0, std::plus<>(), throwing, weft::splitting{1, reproducible}),
                         Failed)
                << at;
        }
    }
}

TEST_P(ParallelReduce, AStoppedOneReturnsNothing) {
    std::stop_source stop;
    EXPECT_EQ(weft::parallel_reduce(0, 10, 0, std::plus<>(), stop.get_token()), std::optional(45));
    const auto stopping = [&](int i) {
        if (i == 10) stop.request_stop();
        return i;
    };
    EXPECT_EQ(weft::parallel_reduce(0, 1'000'000, std::int64_t{0}, std::plus<>(), stopping, stop.get_token()),
              std::nullopt);
    EXPECT_EQ(weft::parallel_reduce(0, 10, 0, std::plus<>(), stop.get_token(), weft::splitting{.reproducible = true}),
              std::nullopt);
}

// ---- scans --------------------------------------------------------------------------------------

TEST_P(ParallelScan, TellsTheSumsUpToEachElement) {
    for (const std::size_t size : sizes) {
        const std::vector<std::string> list = words(std::min<std::size_t>(size, 600));
        std::vector<std::string> wanted(list.size()), got(list.size());
        std::inclusive_scan(list.begin(), list.end(), wanted.begin());
        for (const weft::splitting how : splittings) {
            got.assign(list.size(), "");
            EXPECT_EQ(weft::parallel_scan(list, got.begin(), std::plus<>(), how), got.end());
            EXPECT_EQ(got, wanted);
        }
        std::exclusive_scan(list.begin(), list.end(), wanted.begin(), std::string("begin "));
        for (const weft::splitting how : splittings) {
            got = list;
            EXPECT_EQ(weft::parallel_exclusive_scan(got, got.begin(), std::string("begin "), std::plus<>(), how),
                      got.end())
                << "in place";
            EXPECT_EQ(got, wanted);
        }
    }
}

TEST_P(ParallelScan, AgreesWithTheStandardOnManyNumbersInPlaceAndBetweenIterators) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const std::vector<int> numbers = random_numbers(100'000, seed, 1000);
        std::vector<int> wanted(numbers.size()), got(numbers);
        std::inclusive_scan(numbers.begin(), numbers.end(), wanted.begin());
        weft::parallel_scan(got.begin(), got.end(), got.begin());
        EXPECT_EQ(got, wanted);
        std::exclusive_scan(numbers.begin(), numbers.end(), wanted.begin(), 5);
        weft::parallel_exclusive_scan(numbers.begin(), numbers.end(), got.begin(), 5, std::plus<>(),
                                      weft::splitting{.grain = 100});
        EXPECT_EQ(got, wanted);
    }
}

TEST_P(ParallelScan, ScansNumbersThatNobodyStores) {
    std::vector<int> sums(1000);
    weft::parallel_scan(1, 1001, sums.begin());
    EXPECT_EQ(sums.back(), 500'500);
}

TEST_P(ParallelScan, ThrowsWhatTheOperationThrowsAndStopsWhenItIsAskedTo) {
    std::vector<int> sums(100'000);
    weft_test::atomic<int> calls{0};
    EXPECT_THROW(weft::parallel_scan(
                     0, 100'000, sums.begin(),
                     [&](int a, int b) {
                         if (calls.fetch_add(1) == 5'000) throw Failed{0};
                         return std::max(a, b);
                     },
                     weft::splitting{.grain = 1}),
                 Failed);
    std::stop_source stop;
    const auto stopping = [&](int a, int b) {
        if (b == 50) stop.request_stop();
        return std::max(a, b);
    };
    EXPECT_TRUE(weft::parallel_scan(0, 20, sums.begin(), stopping, stop.get_token()));
    EXPECT_FALSE(weft::parallel_scan(0, 100'000, sums.begin(), stopping, stop.get_token()));
    EXPECT_FALSE(weft::parallel_exclusive_scan(0, 100, sums.begin(), 0, stopping, stop.get_token()));
}

// ---- sorting ------------------------------------------------------------------------------------

std::vector<std::vector<int>> inputs_to_sort(std::size_t size, unsigned seed) {
    std::vector<int> random = random_numbers(size, seed), few = random_numbers(size, seed, 5), sorted = random,
                     pipe(size), equal(size, 4);
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> reverse(sorted.rbegin(), sorted.rend()), nearly = sorted;
    if (size > 3) std::swap(nearly[size / 3], nearly[size / 2]);
    for (std::size_t i = 0; i < size; ++i) pipe[i] = static_cast<int>(std::min(i, size - i));
    return {random, few, sorted, reverse, nearly, pipe, equal};
}

TEST_P(ParallelSort, SortsWhateverOrderThereWas) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        for (const std::size_t size : sizes) {
            int kind = 0;
            for (const std::vector<int>& input : inputs_to_sort(size, seed)) {
                SCOPED_TRACE("seed " + std::to_string(seed) + ", input " + std::to_string(kind++) + " of " +
                             std::to_string(size));
                std::vector<int> wanted = input, got = input;
                std::sort(wanted.begin(), wanted.end());
                weft::parallel_sort(got);
                EXPECT_EQ(got, wanted);
                weft::parallel_sort(got.begin(), got.end(), std::greater<>());
                EXPECT_TRUE(std::equal(got.begin(), got.end(), wanted.rbegin()));
            }
        }
    }
}

TEST_P(ParallelSort, TakesProjectionsMoveOnlyElementsAndAnySizedRange) {
    std::vector<std::unique_ptr<int>> pointers;
    for (const int number : random_numbers(5'000, 1)) pointers.push_back(std::make_unique<int>(number));
    weft::parallel_sort(pointers, {}, [](const std::unique_ptr<int>& pointer) { return *pointer; });
    for (std::size_t i = 1; i < pointers.size(); ++i) ASSERT_LE(*pointers[i - 1], *pointers[i]);
    std::vector<int> halves = random_numbers(10'000, 2);
    weft::parallel_sort(std::span(halves).first(5'000), {}, {}, weft::splitting{.grain = 1000});
    EXPECT_TRUE(std::is_sorted(halves.begin(), halves.begin() + 5'000));
    EXPECT_FALSE(std::is_sorted(halves.begin(), halves.end()));
}

TEST_P(ParallelSort, AsManyElementsAsTheGrainSaysAreSortedByOneStream) {
    std::vector<int> numbers = random_numbers(5'000, 1);
    std::mutex lock;
    std::set<weft_stream*> streams;
    weft::parallel_sort(
        numbers,
        [&](int a, int b) {
            std::lock_guard guard(lock);
            streams.insert(weft_stream_self());
            return a < b;
        },
        {}, weft::splitting{.grain = numbers.size()});
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    EXPECT_EQ(streams.size(), 1u);
}

TEST_P(ParallelSort, AThrowingComparisonLeavesTheElementsValid) {
    for (const int at : {1, 10, 5'000, 50'000}) {
        std::vector<std::string> list(10'000);
        for (std::size_t i = 0; i < list.size(); ++i)
            list[i] = std::to_string(i * 7919 % list.size()) + " and more than a small string holds";
        weft_test::atomic<int> calls{0};
        EXPECT_THROW(weft::parallel_sort(list,
                                         [&](const std::string& a, const std::string& b) {
                                             if (calls.fetch_add(1) == at) throw Failed{at};
                                             return a < b;
                                         }),
                     Failed);
        list.assign(3, "usable");
    }
}

TEST_P(ParallelSort, NoOrderHoweverInconsistentLeadsOutOfTheRange) {
    std::vector<int> numbers = random_numbers(3'000, 1);
    std::vector<int> guarded(numbers.size() + 2, -1);
    std::copy(numbers.begin(), numbers.end(), guarded.begin() + 1);
    // std::sort would leave the range with these orders, so it must see no piece: our own code
    // divides the whole range.
    const auto sorting = [&](auto less) {
        weft::detail::common all{weft::detail::chosen{}};
        const std::identity same;
        weft::detail::sort<std::vector<int>::iterator, decltype(less), std::identity> pieces(all, less, same);
        const auto cut = pieces.divide(guarded.begin() + 1, guarded.end() - 1, numbers.size());
        EXPECT_TRUE(cut > guarded.begin() && cut < guarded.end() - 1);
        EXPECT_EQ(guarded.front(), -1);
        EXPECT_EQ(guarded.back(), -1);
    };
    sorting([](int, int) { return true; });
    sorting([](int, int) { return false; });
}

// McIlroy, "A killer adversary for quicksort", 1999: the adversary fixes the value of an element
// only when it is compared, and then as unfavourably as it can.
TEST(ParallelSortOnOneStream, NoInputTakesItMoreThanSomeComparisonsForEachElementAndLevel) {
    Runtime runtime;
    constexpr int count = 1 << 14, gas = count;
    std::vector<int> worth(count, gas), numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    int solid = 0, candidate = 0;
    std::int64_t comparisons = 0;
    const auto less = [&](int a, int b) {
        ++comparisons;
        const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
        if (worth[x] == gas && worth[y] == gas) worth[a == candidate ? x : y] = solid++;
        if (worth[x] == gas) candidate = a;
        else if (worth[y] == gas) candidate = b;
        return worth[x] < worth[y];
    };
    weft::parallel_sort(numbers, less);
    EXPECT_LT(comparisons, std::int64_t{count} * 14 * 8);
}

TEST(ParallelSortOnOneStream, EqualElementsDivideAsWellAsOthers) {
    Runtime runtime;
    const auto comparisons = [](std::vector<int> numbers) {
        std::int64_t made = 0;
        weft::parallel_sort(numbers, [&](int a, int b) {
            ++made;
            return a < b;
        });
        return made;
    };
    constexpr std::size_t count = 1 << 16;
    EXPECT_LT(comparisons(std::vector<int>(count, 4)), 2 * comparisons(random_numbers(count, 1)));
}

TEST_P(ParallelSort, AStopLeavesAllElementsInSomeOrder) {
    std::vector<int> numbers = random_numbers(200'000, 1), wanted = numbers;
    std::stop_source stop;
    weft_test::atomic<int> calls{0};
    EXPECT_FALSE(weft::parallel_sort(
        numbers,
        [&](int a, int b) {
            if (calls.fetch_add(1) == 250'000) stop.request_stop();
            return a < b;
        },
        {}, stop.get_token()));
    EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
    EXPECT_TRUE(weft::parallel_sort(numbers, {}, {}, std::stop_token()));
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(numbers, wanted);
}

// ---- groups of tasks ----------------------------------------------------------------------------

TEST_P(TaskGroup, WaitsForAllTasksAndForThoseThatTheyAdd) {
    weft::task_group group;
    weft_test::atomic<int> ended{0};
    const std::function<void(int)> tree = [&](int depth) {
        if (depth > 0) {
            group.run([&tree, depth] { tree(depth - 1); });
            group.run([&tree, depth] { tree(depth - 1); });
        }
        weft::this_thread::yield();
        ended.fetch_add(1);
    };
    EXPECT_TRUE(group.wait()) << "it has none yet";
    for (int round = 1; round <= 3; ++round) {
        group.run([&] { tree(6); });
        EXPECT_TRUE(group.wait());
        EXPECT_EQ(ended, 127 * round);
    }
}

TEST_P(TaskGroup, RethrowsTheFirstExceptionOnceAndThenRunsNothingMore) {
    weft::task_group group;
    weft_test::atomic<int> running{0};
    for (int i = 0; i < 20; ++i) {
        group.run([&running, i] {
            running.fetch_add(1);
            weft::this_thread::yield();
            running.fetch_sub(1);
            if (i % 5 == 2) throw Failed{i};
        });
    }
    EXPECT_THROW(group.wait(), Failed);
    EXPECT_EQ(running, 0);
    EXPECT_TRUE(group.stop_requested());
    group.run([] { FAIL() << "the group was stopped"; });
    EXPECT_FALSE(group.wait());
}

TEST_P(TaskGroup, CancelLeavesOutWhatHasNotBegunAndTellsThoseThatTakeAToken) {
    weft::task_group group;
    weft_test::atomic<bool> begun{false}, seen{false};
    group.run([&](std::stop_token stop) {
        EXPECT_EQ(stop, group.get_stop_token());
        begun = true;
        while (!stop.stop_requested()) weft::this_thread::yield();
        seen = true;
    });
    weft_test::until_set(begun);
    EXPECT_FALSE(seen);
    EXPECT_TRUE(group.cancel());
    EXPECT_FALSE(group.cancel());
    group.run([] { FAIL() << "it was cancelled"; });
    EXPECT_FALSE(group.wait());
    EXPECT_TRUE(seen);
}

TEST(TaskGroupOnOneStream, AStopLeavesOutTasksThatWereAddedAndHaveNotBegun) {
    Runtime runtime;
    for (const bool cancelled : {false, true}) {
        weft::task_group group;
        int ran = 0;
        if (!cancelled) group.run([] { throw Failed{0}; });
        for (int i = 0; i < 10; ++i) group.run([&] { ++ran; });
        if (cancelled) {
            group.cancel();
            EXPECT_FALSE(group.wait());
        } else {
            EXPECT_THROW(group.wait(), Failed);
        }
        EXPECT_EQ(ran, 0);
    }
}

TEST(TaskGroupOnOneStream, OfSeveralExceptionsTheFirstIsKept) {
    Runtime runtime;
    weft::task_group group;
    for (const int at : {1, 2}) {
        group.run([at] {
            weft::this_thread::yield();   // so that both have begun
            throw Failed{at};
        });
    }
    int kept = 0;
    try {
        group.wait();
    } catch (const Failed& failed) {
        kept = failed.at;
    }
    EXPECT_EQ(kept, 1);
}

TEST_P(TaskGroup, AStopOfTheParentStopsIt) {
    std::stop_source parent;
    weft::task_group outer(parent.get_token()), inner(outer.get_stop_token());
    weft_test::atomic<bool> begun{false};
    inner.run([&](std::stop_token stop) {
        begun = true;
        while (!stop.stop_requested()) weft::this_thread::yield();
    });
    weft_test::until_set(begun);
    parent.request_stop();
    EXPECT_FALSE(inner.wait());
    EXPECT_FALSE(outer.wait());
    const weft::task_group late(parent.get_token());
    EXPECT_TRUE(late.stop_requested());
}

TEST_P(TaskGroup, StoppingAChildLeavesItsParentAlone) {
    weft::task_group outer, inner(outer.get_stop_token());
    inner.cancel();
    EXPECT_FALSE(outer.stop_requested());
}

TEST_P(TaskGroup, TheDestructorAsksToStopAndWaits) {
    weft_test::atomic<bool> begun{false};
    weft_test::atomic<int> ended{0};
    {
        weft::task_group group;
        group.run([&](std::stop_token stop) {
            begun = true;
            while (!stop.stop_requested()) weft::this_thread::yield();
            ended.fetch_add(1);
        });
        weft_test::until_set(begun);
    }
    EXPECT_EQ(ended, 1);
}

TEST_P(TaskGroup, AnExceptionOnItsWayThroughTakesPrecedence) {
    try {
        weft::task_group group;
        weft_test::atomic<bool> begun{false};
        group.run([&] {
            begun = true;
            throw Failed{1};
        });
        weft_test::until_set(begun);
        throw std::runtime_error("the body's");
    } catch (const std::runtime_error&) {
        return;
    }
    FAIL();
}

TEST_P(TaskGroup, WhatATaskHoldsIsGoneWhenItHasBeenWaitedFor) {
    const auto held = std::make_shared<int>(1);
    weft::task_group group;
    for (int i = 0; i < 50; ++i) group.run([held, own = std::make_unique<int>(i)]() mutable { *own += *held; });
    group.wait();
    EXPECT_EQ(held.use_count(), 1);
    group.cancel();
    group.run([held] {});
    EXPECT_EQ(held.use_count(), 1);
}

TEST_P(TaskGroup, WhatATaskHoldsIsGoneThoughThatTakesItsTime) {
    weft_test::atomic<bool> gone{false};
    {
        weft::task_group group;
        const auto drop = [&](int* held) {
            weft::this_thread::yield();
            delete held;
            gone = true;
        };
        group.run([held = std::unique_ptr<int, decltype(drop)>(new int(1), drop)] { EXPECT_EQ(*held, 1); });
        group.wait();
        EXPECT_TRUE(gone);
    }
}

TEST_P(TaskGroup, RunAndWaitRunsHereAndThenWaits) {
    weft::task_group group;
    weft::unit_id where;
    weft_test::atomic<int> others{0};
    EXPECT_TRUE(group.run_and_wait([&] {
        where = weft::this_thread::get_id();
        for (int i = 0; i < 10; ++i) group.run([&] { others.fetch_add(1); });
    }));
    EXPECT_EQ(where, weft::this_thread::get_id());
    EXPECT_EQ(others, 10);
    EXPECT_THROW(group.run_and_wait([] { throw Failed{1}; }), Failed);
    EXPECT_FALSE(group.run_and_wait([] { FAIL(); }));
}

TEST_P(TaskGroup, ATaskMayEndByExit) {
    weft::task_group group;
    group.run([] { weft::this_thread::exit(); });
    EXPECT_TRUE(group.wait());
}

TEST_P(TaskGroup, AnOsThreadThatIsNoStreamMayUseIt) {
    on_an_os_thread([] {
        weft::task_group group;
        weft_test::atomic<int> sum{0};
        for (int i = 0; i < 100; ++i) group.run([&sum, i] { sum.fetch_add(i); });
        EXPECT_TRUE(group.wait());
        EXPECT_EQ(sum, 4950);
    });
}

TEST_P(TaskGroup, ATaskletThatWouldHaveToWaitIsRefusedAndNothingHasChanged) {
    weft::task_group group;
    weft_test::atomic<bool> go{false};
    weft::tasklet([&] {
        group.run([&] { weft_test::until_set(go); });
        EXPECT_THROW(group.wait(), weft::error);
    }).join();
    go = true;
    EXPECT_TRUE(group.wait());
    weft::tasklet([&] { EXPECT_TRUE(group.wait()) << "it need not wait"; }).join();
}

TEST_P(TaskGroup, ATaskIsAsItsAttributesSay) {
    weft::task_group group;
    std::string name;
    group.run(weft::attributes{.name = "task"}, [&] { name = weft::this_thread::name(); });
    group.wait();
    EXPECT_EQ(name, "task");
    EXPECT_THROW(group.run(weft::attributes{.priority = 99}, [] {}), weft::error);
    EXPECT_TRUE(group.wait()) << "what was refused is not waited for";
}

TEST(TaskGroupWithoutARuntime, RefusesTasks) {
    weft::task_group group;
    EXPECT_THROW(group.run([] {}), weft::error);
    EXPECT_TRUE(group.wait());
}

TEST(TaskGroupDeathTest, AnExceptionThatNobodyWaitedForEndsTheProcess) {
    EXPECT_DEATH(
        {
            weft::runtime runtime{{.streams = 1}};
            weft::task_group group;
            bool begun = false;
            group.run([&] {
                begun = true;
                throw Failed{1};
            });
            while (!begun) weft::this_thread::yield();
        },
        "");
}

}   // namespace
