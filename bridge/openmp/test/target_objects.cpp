// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ in target regions that the host runs: references of every kind in clauses, members,
// templates, objects whose memory the region shares. (gcc 12 crashes on lambdas there, and
// constructs no private objects.)
#include <array>
#include <string>
#include <vector>

#include "check.h"

namespace {

struct Pair {
    int first = 1, second = 2;
    friend bool operator==(const Pair& a, const Pair& b) { return a.first == b.first && a.second == b.second; }
};

// A reference's object is copied, not its address: the object outside keeps its value.
template <class T>
void keeps_behind_reference(T& item, const T& other) {
    const T before = item;
    bool seen = false;
#pragma omp target firstprivate(item) map(from : seen)
    {
        seen = item == before;
        item = other;
        seen = seen && item == other;
    }
    CHECK(seen);
    CHECK(item == before);
}

void references() {
    Pair pair;
    keeps_behind_reference(pair, Pair{50, 60});
    std::array<int, 100> cells{};
    cells[99] = 3;
    keeps_behind_reference(cells, std::array<int, 100>{});
    double real = 1.5;
    keeps_behind_reference(real, 2.5);
    __int128 wide = 1;
    keeps_behind_reference(wide, static_cast<__int128>(1) << 90);
    long double longer = 1;
    keeps_behind_reference(longer, 3.0L);
    short small = 1;
    keeps_behind_reference(small, short{2});
    bool truth = true;
    keeps_behind_reference(truth, false);
    int* pointer = &cells[0];
    keeps_behind_reference(pointer, &cells[1]);
}

// A reference to an array, and one to an array's element.
void references_to_arrays() {
    int cells[6] = {1, 2, 3, 4, 5, 6};
    int(&all)[6] = cells;
    int& third = cells[2];
    int sum = 0;
#pragma omp target firstprivate(all, third) map(from : sum)
    {
        sum = all[5] + third;
        all[5] = third = -1;
    }
    EQUAL(sum, 9);
    EQUAL(cells[5], 6);
    EQUAL(cells[2], 3);
}

// The object of a reference is mapped where the clause maps the reference.
void mapped_references() {
    Pair pair;
    Pair& same = pair;
    int value = 1;
    int& number = value;
#pragma omp target map(tofrom : same, number)
    {
        same.first = 50;
        number = 60;
    }
    EQUAL(pair.first, 50);
    EQUAL(value, 60);
#pragma omp target defaultmap(tofrom : scalar)
    number++;
    EQUAL(value, 61);
#pragma omp target
    number++;   // a reference to a scalar is firstprivate
    EQUAL(value, 61);
}

class Account {
public:
    int balance() const { return balance_; }
    // Members are reached by `this`, whose object is the program's.
    void add(int amount) {
#pragma omp target firstprivate(amount)
        {
            balance_ += amount;
            amount = 0;
        }
        CHECK(amount != 0);
    }
    void add_in_team(int amount) {
        int sum = 0;
#pragma omp target parallel num_threads(3) reduction(+ : sum) map(tofrom : sum)
        sum += amount + rates_[0];
        CHECK(sum % (amount + 1) == 0 && sum > 0);
#pragma omp target map(tofrom : this->rates_[0 : 2])
        rates_[1] = amount;
        EQUAL(rates_[1], amount);
    }

private:
    int balance_ = 10;
    int rates_[2] = {1, 2};
};

template <class T, int size>
T sum_of(const T (&values)[size]) {
    T sum{};
#pragma omp target teams distribute parallel for num_teams(2) reduction(+ : sum) map(tofrom : sum) map(to : values)
    for (int i = 0; i < size; ++i) sum += values[i];
    return sum;
}

// A container's elements stay where they are: the region uses the host's memory.
void containers() {
    std::vector<int> cells(100, 1);
    int* const data = cells.data();
#pragma omp target map(tofrom : data[0 : 100])
    for (int i = 0; i < 100; ++i) data[i] += i;
    EQUAL(cells[99], 100);
#pragma omp target data use_device_ptr(data)
    {
#pragma omp target is_device_ptr(data)
        data[0] = 5;
    }
    EQUAL(cells[0], 5);
}

// An exception that the region catches itself leaves the thread where it was.
void exceptions_within() {
    int caught = 0;
#pragma omp parallel num_threads(3) reduction(+ : caught)
    {
        int here = 0;
#pragma omp target map(tofrom : here)
        try {
            throw std::string("thrown");
        } catch (const std::string& what) {
            here = what == "thrown";
        }
        caught += here == 1 && omp_get_level() == 1;
    }
    CHECK(caught >= 1 && caught <= 3);
}

}   // namespace

int main() {
    references();
    references_to_arrays();
    mapped_references();
    Account account;
    account.add(5);
    EQUAL(account.balance(), 15);
    account.add_in_team(4);
    const long longs[] = {1, 2, 3, 4};
    EQUAL(sum_of(longs), 10);
    const double reals[] = {0.5, 1.5};
    EQUAL(sum_of(reals), 2);
    containers();
    exceptions_within();
    return verdict();
}
