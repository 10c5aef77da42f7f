// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrivals of many members (bridge/openmp/src/arrivals.hpp, and Helpers in its wait.hpp): each
// member is counted in the row of the hart that runs it, and leaves for the next member of that
// hart's line. A member that finds no next one gathers what all rows have counted; the member that
// completes the team's count ends the barrier. If a count is never gathered, the barrier never
// ends.
#include "bridge/openmp/src/arrivals.hpp"
#include "test/model/model.hpp"

namespace weft::model {

using weft_openmp::ArrivalsOrders;

template <class Orders>
using Counted = weft_openmp::BasicArrivals<atomic, Orders>;

constexpr std::uint64_t region = 2;

// Two members on two harts, and nothing else.
template <class Row>
struct Two : rl::test_suite<Two<Row>, 2> {
    Row rows[2];
    atomic<unsigned> team{0};
    plain<int> written[2], ends{0};

    void thread(unsigned hart) {
        written[hart] = 1;
        rows[hart].count(region);
        unsigned count = 0;
        for (Row& row : rows) count += row.take(region);
        if (count == 0 || team.fetch_add(count) + count != 2) return;
        for (const auto& one : written) WEFT_ASSERT(one == 1);
        ++ends;
    }
    void after() { WEFT_ASSERT(ends == 1); }
};

// What waiting members do.
struct Careful {
    static constexpr bool next_gathers = true;     // also a member that another has left for
    static constexpr bool left_out_wakes = true;   // a member outside the region makes others check again
    static constexpr bool zero_gathers = true;     // also a member that waits in no row
};

// Members, one bit each.
class Line {
public:
    void push(unsigned members) { members_.fetch_add(members); }   // none of them is in any line
    int pop() {
        unsigned seen = members_.load();
        while (seen != 0) {
            if (members_.compare_exchange_strong(seen, seen & (seen - 1))) return __builtin_ctz(seen);
        }
        return -1;
    }
    unsigned take_all() { return members_.exchange(0); }
    bool remove(int member) {
        const unsigned bit = 1U << member;
        unsigned seen = members_.load();
        while ((seen & bit) != 0) {
            if (members_.compare_exchange_strong(seen, seen & ~bit)) return true;
        }
        return false;
    }

private:
    atomic<unsigned> members_{0};
};

// `harts` harts run `members` members, which meet `rounds` times; the first two begin in one line.
// left_out: behind those, another member is ready that is not in the region. in_dock: an additional
// thread is a member that still waits in the dock of the previous region. with_zero: the second
// member is thread 0 of a team within a team, at the region's end.
template <class Row, class Habits, int harts, int members, int rounds = 1, bool left_out = false, bool in_dock = false,
          bool with_zero = false>
struct Meet : rl::test_suite<Meet<Row, Habits, harts, members, rounds, left_out, in_dock, with_zero>, harts + in_dock> {
    Row rows[harts];
    Line lines[harts], asleep;
    atomic<unsigned> team{0};
    atomic<int> generation{0};
    plain<int> written[members], round[members];
    plain<bool> arrived[members], is_next[members + left_out];

    void before() {
        for (int i = 0; i < members; ++i) {
            lines[i < 2 ? 0 : (i - 1) % harts].push(1U << i);
            written[i] = 0;
            round[i] = 0;
            arrived[i] = false;
        }
        if (left_out) lines[0].push(1U << members);
    }
    void thread(unsigned index) {
        if (index == harts) {
            // and would notify thread 0 of the region's end
            if (const unsigned count = gather(region - 1); count != 0) team.fetch_add(count);
            return;
        }
        for (int member = -1; member >= 0 || (member = enter(index)) >= 0;)
            member = member == members ? be_left_out(index) : be(index, member);
    }
    void after() {
        WEFT_ASSERT(generation.load() == rounds);
        for (int i = 0; i < members; ++i) WEFT_ASSERT(round[i] == rounds);
    }

    int enter(unsigned hart) {
        for (unsigned i = 0; i < harts; ++i) {
            const int member = lines[(hart + i) % harts].pop();
            if (member < 0) continue;
            is_next[member] = false;
            return member;
        }
        return -1;
    }
    unsigned gather(std::uint64_t of) {
        unsigned count = 0;
        for (Row& row : rows) count += row.take(of);
        return count;
    }
    int be_left_out(unsigned hart) {
        if (Habits::left_out_wakes) lines[hart].push(asleep.take_all());
        return -1;
    }
    // Returns the member that the hart goes on with, or a negative number if its line has none.
    int be(unsigned hart, int member) {
        while (round[member] < rounds) {
            if (!arrived[member]) {
                written[member] = round[member] + 1;
                arrived[member] = true;
                if (with_zero && member == 1) {
                    const unsigned count = 1 + (Habits::zero_gathers ? gather(region) : 0);
                    if (team.fetch_add(count) + count == members) end(hart);
                } else {
                    rows[hart].count(region);
                }
            }
            if (is_over(member)) {
                arrived[member] = false;
                round[member] = round[member] + 1;
                continue;
            }
            const bool in_row = !with_zero || member != 1;
            const int next = in_row ? lines[hart].pop() : -1;
            if (next >= 0) {
                is_next[next] = true;
            } else if (in_row && (Habits::next_gathers || !is_next[member])) {
                if (const unsigned count = gather(region); count != 0 && team.fetch_add(count) + count == members) {
                    end(hart);
                    continue;
                }
            }
            sleep(hart, member);
            return next;
        }
        return -1;
    }
    bool is_over(int member) { return generation.load(std::memory_order_acquire) != round[member]; }
    void end(unsigned hart) {
        const int over = generation.load(std::memory_order_relaxed) + 1;
        for (int i = 0; i < members; ++i) WEFT_ASSERT(written[i] == over);
        team.store(0, std::memory_order_relaxed);
        generation.store(over);
        lines[hart].push(asleep.take_all());
    }
    // Like Helpers::publish: another hart may run the member as soon as it is published.
    void sleep(unsigned hart, int member) {
        const int mine = round[member];
        asleep.push(1U << member);
        if (generation.load() != mine && asleep.remove(member)) lines[hart].push(1U << member);
    }
};

struct CountRelaxed : ArrivalsOrders {
    static constexpr std::memory_order count = std::memory_order_relaxed;
};
struct TakeRelaxed : ArrivalsOrders {
    static constexpr std::memory_order take = std::memory_order_relaxed;
};
// A faulty row that takes in two steps.
struct Torn {
    atomic<std::uint64_t> counted{0};
    void count(std::uint64_t) { counted.fetch_add(1); }
    unsigned take(std::uint64_t) {
        const auto taken = static_cast<unsigned>(counted.load());
        if (taken != 0) counted.store(0);
        return taken;
    }
};
// A faulty row that takes a count of whatever region it finds.
struct AnyRegion : Counted<ArrivalsOrders> {
    unsigned take(std::uint64_t) { return Counted<ArrivalsOrders>::take(region); }
};
struct NextGathersNothing : Careful {
    static constexpr bool next_gathers = false;
};
struct ZeroCountsItselfAlone : Careful {
    static constexpr bool zero_gathers = false;
};
struct LeavesInSilence : Careful {
    static constexpr bool left_out_wakes = false;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Row = Counted<ArrivalsOrders>;
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 10 : 1;
    models.holds<Two<Row>>("two members on two harts", All{});
    models.holds<Meet<Row, Careful, 2, 2>>("two members of one line", Preemptions{3 + more});
    models.holds<Meet<Row, Careful, 2, 3>>("three members of two lines", Preemptions{2 + more});
    models.holds<Meet<Row, Careful, 2, 3>>("three members of two lines", Random{100'000 * times});
    models.holds<Meet<Row, Careful, 3, 4>>("four members of three lines", Random{100'000 * times});
    models.holds<Meet<Row, Careful, 2, 3, 2>>("three members that meet twice", Random{100'000 * times});
    models.holds<Meet<Row, Careful, 2, 3, 1, true>>("three members, and one that is left out", Preemptions{2 + more});
    models.holds<Meet<Row, Careful, 2, 3, 1, true>>("three members, and one that is left out", Random{100'000 * times});
    models.holds<Meet<Row, Careful, 2, 3, 1, false, false, true>>("two members, and a thread 0 that is one",
                                                                  Preemptions{2 + more});
    models.holds<Meet<Row, Careful, 2, 3, 1, false, false, true>>("two members, and a thread 0 that is one",
                                                                  Random{100'000 * times});
    models.holds<Meet<Row, Careful, 2, 3, 1, false, true>>("three members, and one of the region before",
                                                           Preemptions{1 + more});
    models.holds<Meet<Row, Careful, 2, 3, 1, false, true>>("three members, and one of the region before",
                                                           Random{100'000 * times});

    models.fails<Two<Counted<CountRelaxed>>>("a count that releases nothing", All{});
    models.fails<Two<Counted<TakeRelaxed>>>("a taking that acquires nothing", All{});
    models.fails<Two<Torn>>("a taking in two steps", All{});
    models.fails<Meet<Row, NextGathersNothing, 2, 2>>("a next one that gathers nothing", Preemptions{2});
    models.fails<Meet<Row, LeavesInSilence, 2, 3, 1, true>>("one that is left out and wakes nobody", Preemptions{2});
    models.fails<Meet<Row, ZeroCountsItselfAlone, 2, 3, 1, false, false, true>>("a thread 0 that leaves the rows alone",
                                                                                Preemptions{2});
    models.fails<Meet<AnyRegion, Careful, 2, 3, 1, false, true>>("one of the region before that takes all counts",
                                                                 Preemptions{2});
}
