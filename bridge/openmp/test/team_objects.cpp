// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ in leagues: objects in every clause are made and destroyed once for each team, iterators and
// members are distributed, and exceptions stay within.
#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"

namespace {

// The compiler allows only distribute and parallel in teams, but does not check within functions.
void add(std::atomic<int>& to, int value) { to += value; }

struct Counted {
    static inline std::atomic<int> made{0}, copied{0}, alive{0};
    std::vector<int> values{1, 2, 3};
    int last = 0;
    Counted() { ++made, ++alive; }
    Counted(const Counted& other) : values(other.values), last(other.last) { ++copied, ++alive; }
    Counted& operator=(const Counted&) = default;
    ~Counted() { --alive; }
    Counted& operator+=(const Counted& other) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
        return *this;
    }
    static void forget() { made = copied = 0; }
};
#pragma omp declare reduction(+ : Counted : omp_out += omp_in)

// For each team a private object is made and a firstprivate one is copied, and all are gone after
// the region.
void made_for_each_team() {
    Counted own, first;
    first.values[2] = 30;
    Counted::forget();
    std::atomic<int> sum{0};
#pragma omp teams num_teams(4) private(own) firstprivate(first) shared(sum)
    {
        add(sum, own.values[2] + first.values[2]);
        own.values[2] = first.values[2] = omp_get_team_num();
    }
    EQUAL(sum, 4 * 33);
    EQUAL(Counted::made, 4);
    EQUAL(Counted::copied, 4);
    EQUAL(Counted::alive, 2);
    EQUAL(own.values[2] + first.values[2], 33);
}

// Each team's part of a reduction is made by the initializer, and combined once.
void reduced() {
    Counted sum;
    const int alive = Counted::alive;
#pragma omp teams num_teams(3) reduction(+ : sum)
    sum.values[0] += omp_get_team_num();
    EQUAL(sum.values[0], 1 + 3 * 1 + 3);
    EQUAL(sum.values[2], 3 + 3 * 3);
    EQUAL(Counted::alive, alive);
#pragma omp teams distribute parallel for num_teams(2) num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 50; ++i) sum.values[1] += 1;
    CHECK(sum.values[1] >= 8 + 50);
    EQUAL(Counted::alive, alive);
}

// lastprivate assigns the object of the last iteration.
void last_one() {
    Counted object;
    const int alive = Counted::alive;
#pragma omp teams distribute num_teams(3) dist_schedule(static, 2) lastprivate(object)
    for (int i = 0; i < 21; ++i) object.last = i;
    EQUAL(object.last, 20);
#pragma omp teams distribute parallel for num_teams(2) num_threads(3) lastprivate(object)
    for (int i = 0; i < 33; ++i) object.last = i;
    EQUAL(object.last, 32);
    EQUAL(object.values[2], 3);
    EQUAL(Counted::alive, alive);
}

// Random access iterators, and the elements of a range.
void iterators() {
    std::vector<int> cells(101, 1);
    std::array<std::string, 7> texts{};
#pragma omp teams distribute num_teams(3)
    for (auto at = cells.begin(); at < cells.end(); at += 2) *at = 5;
#pragma omp teams distribute parallel for num_teams(2) num_threads(2)
    for (auto at = cells.rbegin(); at != cells.rend(); ++at) *at += 10;
#pragma omp teams distribute num_teams(2) dist_schedule(static, 2)
    for (std::string& text : texts) text += "a text that fits into no object of the library's";
    int sum = 0;
    for (const int cell : cells) sum += cell;
    EQUAL(sum, 51 * 15 + 50 * 11);
    for (const std::string& text : texts) CHECK(text.size() == 48);
}

template <class T, int teams>
T sum_of(const std::vector<T>& values) {
    T sum{};
    const auto count = values.size();
#pragma omp teams distribute parallel for simd num_teams(teams) reduction(+ : sum)
    for (std::size_t i = 0; i < count; ++i) sum += values[i];
    return sum;
}

class Table {
public:
    explicit Table(int rows) : rows_(rows), cells_(static_cast<std::size_t>(rows) * 4) {}
    // Members in a league, and references to them.
    int fill() {
        std::atomic<int> teams{0};
        auto& cells = cells_;
#pragma omp teams num_teams(3) shared(cells, teams)
        {
            add(teams, 1);
#pragma omp distribute collapse(2)
            for (int row = 0; row < rows_; ++row)
                for (int column = 0; column < 4; ++column) {
                    cells[static_cast<std::size_t>(row * 4 + column)] += row - column;
                }
        }
        EQUAL(teams, 3);
        int sum = 0;
        for (const int cell : cells_) sum += cell;
        return sum;
    }

private:
    int rows_;
    std::vector<int> cells_;
};

// An exception in a team's region is caught there, and each team goes on.
void exceptions_within() {
    std::atomic<int> caught{0};
#pragma omp teams num_teams(3) shared(caught)
    {
#pragma omp parallel num_threads(2)
        try {
            throw std::runtime_error("thrown");
        } catch (const std::runtime_error&) {
            ++caught;
        }
        try {
            throw 1;
        } catch (int) {
            add(caught, 10);
        }
    }
    CHECK(caught >= 33 && caught <= 36);
}

}   // namespace

int main() {
    made_for_each_team();
    reduced();
    last_one();
    iterators();
    EQUAL((sum_of<long, 3>({1, 2, 3, 4})), 10);
    EQUAL((sum_of<double, 2>(std::vector<double>(100, 0.5))), 50);
    EQUAL(Table(9).fill(), 4 * 36 - 9 * 6);
    exceptions_within();
    return verdict();
}
