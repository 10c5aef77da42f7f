// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cancelled task releases what it was given, whether or not it begins: objects that have been
// made for it are destroyed, and what depends on it goes on.
#include <sched.h>
#include <array>
#include <vector>

#include "check.h"

namespace {

constexpr int some = 30;

bool on;
int flag;

void raise() {
#pragma omp atomic write
    flag = 1;
}
bool raised() {
    int seen;
#pragma omp atomic read
    seen = flag;
    return seen != 0;
}
void lower() {
#pragma omp atomic write
    flag = 0;
}

// For threads that are not to run tasks until the first thread has cancelled.
void stand_by() {
    while (!raised()) sched_yield();
}

void cancel_group() {
#pragma omp task if (0)
    {
#pragma omp cancel taskgroup
        CHECK(!on);
    }
    raise();
}

int made, destroyed;

struct Counted {
    int value = 7;
    Counted() { count(made); }
    Counted(const Counted& from) : value(from.value) { count(made); }
    Counted& operator=(const Counted&) = default;
    ~Counted() {
        value = -1;
        count(destroyed);
    }
    static void count(int& what) {
#pragma omp atomic
        ++what;
    }
};

void begin() {
    made = destroyed = 0;
    lower();
}
void expect_all_destroyed() { EQUAL(destroyed, made); }

void one_object(int size) {
    begin();
    int right = 0, wrong = 0;
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        if (omp_get_thread_num() == 0) {
            Counted object;
            object.value = 9;
            for (int i = 0; i < some; ++i) {
#pragma omp task firstprivate(object) shared(right, wrong)
                {
#pragma omp cancellation point taskgroup
                    Counted::count(object.value == 9 ? right : wrong);
                }
            }
            cancel_group();
        }
        stand_by();
    }
    expect_all_destroyed();
    EQUAL(wrong, 0);
    if (!on) EQUAL(right, some);
    else CHECK(right <= some);
}

// Several objects, arrays of them, vectors with memory of their own, and plain values beside them.
void many_objects(int size) {
    begin();
    int wrong = 0;
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        if (omp_get_thread_num() == 0) {
            Counted one, array[3];
            std::vector<int> numbers(1000, 4);
            std::array<Counted, 2> two;
            double plain = 0.5;
            for (int i = 0; i < some; ++i) {
#pragma omp task firstprivate(one, array, numbers, two, plain, i) shared(wrong)
                {
                    const int sum = one.value + array[2].value + two[1].value;
                    if (sum != 21 || numbers[999] != 4 || plain != 0.5 || i >= some) Counted::count(wrong);
                }
            }
            cancel_group();
        }
        stand_by();
    }
    expect_all_destroyed();
    EQUAL(wrong, 0);
}

// Tasks made by tasks that have begun are discarded as well, and so are the descendants of the
// group's tasks.
void of_tasks_of_tasks(int size) {
    begin();
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        if (omp_get_thread_num() == 0) {
            Counted object;
            for (int i = 0; i < 3; ++i) {
#pragma omp task firstprivate(object) if (0)
                {
                    for (int k = 0; k < 5; ++k) {
#pragma omp task firstprivate(object)
                        Counted another(object);
                    }
                }
            }
            cancel_group();
#pragma omp task firstprivate(object)
            Counted another(object);
        }
        stand_by();
    }
    expect_all_destroyed();
}

// The body makes private objects, if it begins; those of the parallel region are made by its
// threads.
void private_objects(int size) {
    begin();
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        if (omp_get_thread_num() == 0) {
            Counted object;
            for (int i = 0; i < some; ++i) {
#pragma omp task private(object)
                {
                    Counted within(object);
#pragma omp cancellation point taskgroup
                    Counted another;
                }
            }
            cancel_group();
        }
        stand_by();
    }
    expect_all_destroyed();
}

void references_and_members(int size) {
    begin();
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        if (omp_get_thread_num() == 0) {
            Counted object;
            const Counted& reference = object;
            for (int i = 0; i < some; ++i) {
#pragma omp task firstprivate(reference)
                CHECK(reference.value == 7);
            }
            cancel_group();
        }
        stand_by();
    }
    expect_all_destroyed();
}

void a_region(int size) {
    begin();
    int behind = 0;
#pragma omp parallel num_threads(size)
    {
        Counted object;
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < some; ++i) {
#pragma omp task firstprivate(object)
                CHECK(object.value == 7);
            }
            raise();
#pragma omp cancel parallel
        }
        stand_by();
#pragma omp barrier
        Counted::count(behind);
    }
    expect_all_destroyed();
    EQUAL(behind, on ? 0 : size);
}

void a_taskloop(int size) {
    begin();
    int wrong = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        Counted object;
#pragma omp taskgroup
        {
#pragma omp taskloop firstprivate(object) grainsize(1) nogroup
            for (int i = 0; i < some; ++i) {
                if (object.value != 7) Counted::count(wrong);
#pragma omp cancel taskgroup if (i == 3)
            }
        }
#pragma omp taskloop firstprivate(object) num_tasks(some)
        for (int i = 0; i < some; ++i) {
            if (object.value != 7) Counted::count(wrong);
#pragma omp cancel taskgroup if (i % 8 == 3)
        }
    }
    expect_all_destroyed();
    EQUAL(wrong, 0);
}

// For the tasks that depend on it a discarded task has ended: some have objects, some have none.
void dependences(int size) {
    begin();
    int order = 0, last = 0, without = 0;
    [[maybe_unused]] int turn[2];
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        Counted object;
#pragma omp taskgroup
        {
            for (int i = 0; i < some; ++i) {
#pragma omp task firstprivate(object, i) depend(inout : turn[0]) shared(order, last)
                {
                    if (i < last) Counted::count(order);
                    last = i;
#pragma omp cancel taskgroup if (i == 5)
                }
#pragma omp task depend(inout : turn[1]) shared(without)
                without++;
            }
        }
#pragma omp task depend(inout : turn[0]) depend(in : turn[1]) shared(last)
        last = 1000;
    }
    expect_all_destroyed();
    EQUAL(order, 0);
    EQUAL(last, 1000);
    CHECK(without <= some && (on || without == some));
}

// A function also copies arrays whose length the program computes.
void arrays_of_any_length(int size, int length) {
    lower();
    int wrong = 0;
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        if (omp_get_thread_num() == 0) {
            int numbers[length];
            for (int i = 0; i < length; ++i) numbers[i] = i;
            for (int i = 0; i < some; ++i) {
#pragma omp task firstprivate(numbers) shared(wrong)
                if (numbers[length - 1] != length - 1) Counted::count(wrong);
            }
            cancel_group();
        }
        stand_by();
    }
    EQUAL(wrong, 0);
}

}   // namespace

int main() {
    on = omp_get_cancellation() != 0;
    EACH_SIZE(size) {
        one_object(size);
        many_objects(size);
        of_tasks_of_tasks(size);
        private_objects(size);
        references_and_members(size);
        a_region(size);
        a_taskloop(size);
        dependences(size);
        arrays_of_any_length(size, 500);
    }
    return verdict();
}
