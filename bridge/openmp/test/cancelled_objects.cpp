// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data of cancelled constructs: private objects are destroyed, original objects keep their
// value or get the one assigned, and reductions that have begun end.
#include <sched.h>
#include <atomic>

#include "check.h"

namespace {

constexpr int some = 30;

bool on;

struct Counted {
    static inline std::atomic<int> alive{0};
    int value = 0;
    Counted() { ++alive; }
    Counted(const Counted& from) : value(from.value) { ++alive; }
    Counted& operator=(const Counted& from) {
        value = from.value;
        return *this;
    }
    ~Counted() { --alive; }
};
#pragma omp declare reduction(+ : Counted : omp_out.value += omp_in.value)

void expect_none_left() { EQUAL(Counted::alive.load(), 0); }

void objects_of_regions(int size) {
    {
        Counted given, hidden;
        given.value = 4;
        std::atomic<int> right{0}, behind{0};
#pragma omp parallel num_threads(size) firstprivate(given) private(hidden)
        {
            Counted local(given);
            right += local.value == 4 && hidden.value == 0;
            if (omp_get_thread_num() == 0) {
                const Counted inner;
#pragma omp cancel parallel
            }
#pragma omp barrier
            ++behind;
        }
        CHECK(right >= 1 && right <= size);
        EQUAL(behind.load(), on ? 0 : size);
    }
    expect_none_left();
}

void objects_of_loops(int size) {
    {
        Counted given, hidden, last;
        given.value = 4;
        last.value = -1;
        std::atomic<int> ran{0}, wrong{0};
#pragma omp parallel num_threads(size)
        {
#pragma omp for schedule(dynamic) firstprivate(given) private(hidden) lastprivate(last)
            for (int i = 0; i < some; ++i) {
                const Counted local(given);
                wrong += local.value != 4;
                last.value = i;
                ++ran;
#pragma omp cancel for if (i == 7)
            }
#pragma omp single
            ran += 1000;
        }
        EQUAL(wrong.load(), 0);
        if (on) CHECK(ran > 1000 && ran <= 1000 + some);
        else EQUAL(ran.load(), 1000 + some);
        if (!on) EQUAL(last.value, some - 1);
    }
    expect_none_left();
}

void objects_of_sections(int size) {
    {
        Counted given, last;
        given.value = 4;
        std::atomic<int> ran{0};
#pragma omp parallel num_threads(size)
        {
#pragma omp sections firstprivate(given) lastprivate(last)
            {
#pragma omp section
                {
                    const Counted local(given);
                    ++ran;
#pragma omp cancel sections
                    ran += 10;
                }
#pragma omp section
                {
                    const Counted local(given);
                    last.value = 2;
#pragma omp cancellation point sections
                    ran += 100;
                }
            }
        }
        if (!on) EQUAL(ran.load(), 111);
        else CHECK(ran == 0 || ran == 1 || ran == 100 || ran == 101);
        if (!on) EQUAL(last.value, 2);
    }
    expect_none_left();
}

// The result of a cancelled reduction is unspecified, but the constructs end, and the next ones are
// right.
void reductions(int size) {
    {
        Counted sum;
        int number = 0, whole = 0;
#pragma omp parallel num_threads(size) reduction(+ : whole)
        {
#pragma omp for reduction(+ : sum, number)
            for (int i = 0; i < some; ++i) {
                sum.value += 1;
                number += 1;
#pragma omp cancel for if (i == 3)
            }
#pragma omp sections reduction(+ : number)
            {
#pragma omp section
                {
#pragma omp cancel sections
                    number += 1;
                }
#pragma omp section
                number += 1;
            }
#pragma omp barrier
#pragma omp single
            number = 0;
#pragma omp for reduction(+ : number)
            for (int i = 0; i < some; ++i) number += 1;
            whole += number;
        }
        EQUAL(number, some);
        EQUAL(whole, size * some);
        if (!on) EQUAL(sum.value, some);
#pragma omp parallel num_threads(size) reduction(+ : whole) reduction(+ : sum)
        {
            whole += 1;
            sum.value += 1;
#pragma omp cancel parallel if (omp_get_thread_num() == 0)
#pragma omp barrier
        }
    }
    expect_none_left();
}

// The tasks of a cancelled taskgroup that begin have their own data environment; shared objects are
// unchanged.
void objects_of_tasks(int size) {
    {
        Counted given, shared;
        given.value = 4;
        std::atomic<int> wrong{0}, passed{0};
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup
        for (int i = 0; i < some; ++i) {
#pragma omp task firstprivate(given) shared(shared, wrong, passed)
            {
                Counted local(given);
                wrong += given.value != 4;
                given.value = i;
#pragma omp cancel taskgroup if (i == 5)
                ++passed;
#pragma omp critical
                shared.value += 1;
            }
        }
        EQUAL(wrong.load(), 0);
        EQUAL(shared.value, passed.load());
        CHECK(on ? passed < some : passed == some);
    }
    expect_none_left();
}

// Objects of a taskloop's tasks, including those of iterations that are left out.
void objects_of_taskloops(int size) {
    {
        Counted given, last;
        std::atomic<int> ran{0};
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskloop firstprivate(given) lastprivate(last) num_tasks(6)
        for (int i = 0; i < some; ++i) {
            const Counted local(given);
            last.value = i;
#pragma omp cancel taskgroup if (i == 5)
            ++ran;
        }
        CHECK(on ? ran < some : ran == some);
        if (!on) EQUAL(last.value, some - 1);
    }
    expect_none_left();
}

}   // namespace

int main() {
    on = omp_get_cancellation() != 0;
    EACH_SIZE(size) {
        objects_of_regions(size);
        objects_of_loops(size);
        objects_of_sections(size);
        reductions(size);
        objects_of_tasks(size);
        objects_of_taskloops(size);
    }
    return verdict();
}
