// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++: exceptions within a region, objects with constructors in clauses, thread_local objects.
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"

namespace {

thread_local std::string own = "first";

void thrown_and_caught() {
    int caught = 0;
#pragma omp parallel num_threads(8) reduction(+ : caught)
    for (int round = 0; round < 50; ++round) {
        try {
#pragma omp barrier
            throw std::runtime_error(std::to_string(omp_get_thread_num()));
        } catch (const std::runtime_error& error) {
#pragma omp barrier
            caught += error.what() == std::to_string(omp_get_thread_num());
        }
    }
    EQUAL(caught, 400);
}

void thread_locals() {
#pragma omp parallel num_threads(8)
    own = "thread " + std::to_string(omp_get_thread_num());
    int same = 0;
#pragma omp parallel num_threads(8) reduction(+ : same)
    {
#pragma omp barrier
        same += own == "thread " + std::to_string(omp_get_thread_num());
    }
    EQUAL(same, 8);
}

struct Counted {
    static inline int alive = 0;
    std::vector<int> values{1, 2, 3};
    Counted() { count(1); }
    Counted(const Counted& other) : values(other.values) { count(1); }
    ~Counted() { count(-1); }
    static void count(int delta) { __atomic_add_fetch(&alive, delta, __ATOMIC_SEQ_CST); }
};

void copies_in_tasks() {
    int sum = 0;
    {
        Counted object;
#pragma omp parallel num_threads(4) firstprivate(object)
#pragma omp single
        for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(object)
#pragma omp atomic
            sum += object.values[2];
        }
    }
    EQUAL(sum, 300);
    EQUAL(Counted::alive, 0);
}
#pragma omp declare reduction(joined : std::string : omp_out += omp_in) initializer(omp_priv = "")

void own_reductions() {
    std::string text;
#pragma omp parallel num_threads(4) reduction(joined : text)
    text += "x";
    EQUAL(text.size(), 4);
    std::vector<int> values(100, 2);
    long sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (auto at = values.begin(); at < values.end(); ++at) sum += *at;
    EQUAL(sum, 200);
}

}   // namespace

int main() {
    thrown_and_caught();
    thread_locals();
    copies_in_tasks();
    own_reductions();
    return verdict();
}
