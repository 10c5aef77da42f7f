// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Task reductions of C++ objects: every copy is made before a task uses it, and destroyed;
// references, members and arrays of them. Each construct that may have the task modifier.
#include <atomic>
#include <complex>
#include <string>
#include <utility>

#include "check.h"

namespace {

constexpr int some = 24;

struct Sum {
    static inline std::atomic<int> alive{0}, made{0};
    int value = 0;
    const Sum* self = this;   // only a constructor sets it

    Sum(int from = 0) : value(from) { ++alive, ++made; }
    Sum(const Sum& from) : value(from.value) { ++alive, ++made; }
    Sum& operator=(const Sum& from) {
        value = from.value;
        return *this;
    }
    ~Sum() {
        CHECK(self == this);
        self = nullptr;
        --alive;
    }
    void add(int by) {
        CHECK(self == this);
        value += by;
    }
};
#pragma omp declare reduction(+ : Sum : omp_out.add(omp_in.value)) initializer(omp_priv(0))
#pragma omp declare reduction(as_original : Sum : omp_out.add(omp_in.value - 100)) \
    initializer(omp_priv(omp_orig.value + 100))

// Without an initialiser: copies begin with the default constructor.
struct Text {
    std::string value;
    void append(const Text& by) { value += by.value; }
};
#pragma omp declare reduction(+ : Text : omp_out.append(omp_in))

void expect_none_left() { EQUAL(Sum::alive.load(), 0); }

void objects_of_groups(int size) {
    {
        Sum sum(5), array[3], zero;
        Text text{"a"};
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum, array, text) task_reduction(as_original : zero)
        for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : sum, array, text) in_reduction(as_original : zero)
            {
                sum.add(1);
                array[i % 3].add(2);
                text.value += "b";
                zero.add(1);
            }
        }
        EQUAL(sum.value, 5 + some);
        EQUAL(array[0].value + array[1].value + array[2].value, 2 * some);
        EQUAL(text.value.size(), 1 + some);
        EQUAL(zero.value, some);
    }
    expect_none_left();
}

// A copy that no task has used is neither made nor combined.
void no_task(int size) {
    {
        Sum sum(5);
#pragma omp parallel num_threads(size)
#pragma omp single
        {
            const int before = Sum::made;
#pragma omp taskgroup task_reduction(+ : sum)
            {}
#pragma omp taskloop reduction(+ : sum)
            for (int i = 0; i < 0; ++i) sum.add(1);
            EQUAL(Sum::made - before, 0);
        }
        EQUAL(sum.value, 5);
    }
    expect_none_left();
}

void objects_of_regions(int size) {
    {
        Sum sum(1);
#pragma omp parallel num_threads(size) reduction(task, + : sum)
        {
            sum.add(1);
#pragma omp task in_reduction(+ : sum)
            sum.add(10);
#pragma omp barrier
#pragma omp task in_reduction(+ : sum)
            sum.add(100);
        }
        EQUAL(sum.value, 1 + 111 * size);
#pragma omp parallel for num_threads(size) reduction(task, + : sum)
        for (int i = 0; i < some; ++i) {
            sum.add(1);
#pragma omp task in_reduction(+ : sum)
            sum.add(1);
        }
        EQUAL(sum.value, 1 + 111 * size + 2 * some);
#pragma omp parallel sections num_threads(size) reduction(task, + : sum)
        {
            sum.add(1);
#pragma omp section
            {
#pragma omp task in_reduction(+ : sum)
                sum.add(1);
            }
        }
        EQUAL(sum.value, 3 + 111 * size + 2 * some);
    }
    expect_none_left();
}

void objects_of_constructs(int size) {
    {
        Sum sum(1);
#pragma omp parallel num_threads(size)
        {
#pragma omp for reduction(task, + : sum) schedule(dynamic, 2)
            for (int i = 0; i < some; ++i) {
                sum.add(1);
#pragma omp task in_reduction(+ : sum)
                sum.add(1);
            }
#pragma omp sections reduction(task, + : sum)
            {
                sum.add(1);
#pragma omp section
                {
#pragma omp task in_reduction(+ : sum)
                    sum.add(1);
                }
            }
#pragma omp scope reduction(task, + : sum)
            {
                sum.add(1);
#pragma omp task in_reduction(+ : sum)
                sum.add(1);
            }
#pragma omp for simd reduction(+ : sum)
            for (int i = 0; i < some; ++i) sum.value += 1;
        }
        EQUAL(sum.value, 1 + 3 * some + 2 + 2 * size);
    }
    expect_none_left();
}

void objects_of_taskloops(int size) {
    {
        Sum sum(1), outer(2);
#pragma omp parallel num_threads(size)
#pragma omp single
        {
#pragma omp taskloop reduction(+ : sum) grainsize(2)
            for (int i = 0; i < some; ++i) sum.add(1);
#pragma omp taskloop reduction(+ : sum) collapse(2) num_tasks(5)
            for (int i = 0; i < 4; ++i) {
                for (int k = 0; k < 6; ++k) sum.add(1);
            }
#pragma omp taskloop reduction(+ : sum) if (0)
            for (int i = 0; i < some; ++i) sum.add(1);
#pragma omp taskgroup task_reduction(+ : outer)
            {
#pragma omp taskloop in_reduction(+ : outer) nogroup
                for (int i = 0; i < some; ++i) outer.add(1);
#pragma omp taskloop in_reduction(+ : outer) reduction(+ : sum) untied
                for (unsigned i = 0; i < some; ++i) {
                    sum.add(1);
                    outer.add(1);
#pragma omp task in_reduction(+ : outer, sum)
                    outer.add(1), sum.add(1);
                }
            }
        }
        EQUAL(sum.value, 1 + 5 * some);
        EQUAL(outer.value, 2 + 3 * some);
    }
    expect_none_left();
}

// A reference stands for the object that it is bound to.
void references(int size) {
    {
        Sum sum(1), array[2];
        Sum& reference = sum;
        Sum(&of_array)[2] = array;
        int number = 0;
        int& of_number = number;
        std::complex<double> z(1, 0);
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : reference, of_array, of_number)
        for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : reference, of_array, of_number)
            {
                reference.add(1);
                of_array[i % 2].add(1);
                of_number += 1;
#pragma omp task in_reduction(+ : of_number)
                of_number += 1;
            }
        }
        EQUAL(sum.value, 1 + some);
        EQUAL(array[0].value + array[1].value, some);
        EQUAL(number, 2 * some);
        CHECK(z.real() == 1);
    }
    expect_none_left();
}

template <class Value>
Value templated(int size, Value zero) {
    Value value = zero, array[4] = {zero, zero, zero, zero};
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : value, array[1 : 2])
    for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : value, array[1 : 2])
        {
            value += 1;
            array[1 + i % 2] += 1;
        }
    }
    return value + array[0] + array[1] + array[2] + array[3];
}

// Lambdas and members, which reach the item by a captured reference and by `this`.
class Counter {
public:
    int count() {
#pragma omp taskgroup task_reduction(+ : total_)
        for (int i = 0; i < some; ++i) add();
        return total_;
    }
    void add() {
#pragma omp task in_reduction(+ : total_)
        total_ += 2;
    }

private:
    int total_ = 1;
};

// gcc 12 compiles no members of an object in a parallel region's clause.
void members(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    EQUAL(Counter().count(), 1 + 2 * some);
}

void from_lambdas(int size) {
    int sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    {
        const auto add = [&sum](int by) {
#pragma omp task in_reduction(+ : sum)
            sum += by;
        };
        for (int i = 0; i < some; ++i) add(i);
    }
    EQUAL(sum, some * (some - 1) / 2);
}

// A target task takes part like other tasks.
void target_tasks(int size) {
    int sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < some; ++i) {
#pragma omp target in_reduction(+ : sum)
        sum += 1;
#pragma omp target nowait in_reduction(+ : sum)
        sum += 10;
    }
    EQUAL(sum, 11 * some);
}

// Copies that have been made are combined and destroyed, even where the group is cancelled.
void cancelled(int size) {
    {
        Sum sum, looped;
        std::atomic<int> added{0};
#pragma omp parallel num_threads(size)
        {
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
            for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : sum)
                {
                    sum.add(1);
                    ++added;
#pragma omp cancel taskgroup if (i == some / 2)
                }
            }
#pragma omp for reduction(task, + : looped)
            for (int i = 0; i < some; ++i) {
                looped.add(1);
                ++added;
#pragma omp cancel for if (i == some / 2)
#pragma omp task in_reduction(+ : looped)
                {
                    looped.add(1);
                    ++added;
                }
            }
        }
        EQUAL(sum.value + looped.value, added.load());
    }
    expect_none_left();
}

// The region ends although some threads are in the construct and others are not, or come late. (For
// objects, gcc 12 destroys copies there that it has never made.)
void cancelled_regions(int size) {
    int sums[300] = {}, inside = 0, iterations = 0;
#pragma omp parallel num_threads(size)
    {
        if (size > 1 && omp_get_thread_num() == 0) {
            for (int seen = 0; seen == 0;) {
#pragma omp atomic read
                seen = inside;
            }
#pragma omp cancel parallel
        }
#pragma omp for reduction(task, + : sums) schedule(dynamic)
        for (int i = 0; i < some; ++i) {
#pragma omp atomic write
            inside = 1;
#pragma omp task in_reduction(+ : sums)
            for (int& sum : sums) sum += 1;
#pragma omp atomic
            iterations++;
        }
    }
    if (omp_get_cancellation() == 0 || size == 1) EQUAL(sums[299], some);
    CHECK(iterations <= some);
}

}   // namespace

int main() {
    EACH_SIZE(size) {
        objects_of_groups(size);
        no_task(size);
        objects_of_regions(size);
        objects_of_constructs(size);
        objects_of_taskloops(size);
        references(size);
        EQUAL(templated(size, 0), 2 * some);
        EQUAL(templated(size, 0.0), 2 * some);
        members(size);
        from_lambdas(size);
        target_tasks(size);
        cancelled(size);
        cancelled_regions(size);
    }
    return verdict();
}
