// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts of tasks: cancellation goes down a tree of them and not up, and an exception that leaves
// a loop has cancelled what was under it.
#include <oneapi/tbb.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

// All levels wait until the outermost context is cancelled, which one leaf does.
void whole_tree() {
    for (int round = 0; round < 20; ++round) {
        tbb::task_group_context root;
        std::atomic<int> leaves{0}, went_on{0};
        tbb::parallel_for(
            0, 8,
            [&](int) {
                tbb::parallel_for(0, 8, [&](int) {
                    tbb::task_group inner;
                    inner.run_and_wait([&] {
                        if (leaves++ == 3) root.cancel_group_execution();
                        while (leaves > 3 && !tbb::is_current_task_group_canceling()) std::this_thread::yield();
                    });
                    if (!tbb::is_current_task_group_canceling()) ++went_on;
                });
            },
            root);
        CHECK(root.is_group_execution_cancelled());
        CHECK(leaves >= 4);
        CHECK(went_on <= 3);
    }
}

void not_upwards() {
    tbb::task_group_context outer;
    std::atomic<int> inner_cancelled{0}, outer_done{0};
    tbb::parallel_for(
        0, 10,
        [&](int) {
            tbb::task_group_context inner;
            tbb::parallel_for(
                0, 10, [&](int) { inner.cancel_group_execution(); }, inner);
            inner_cancelled += inner.is_group_execution_cancelled();
            ++outer_done;
        },
        outer);
    CHECK(!outer.is_group_execution_cancelled());
    EQUAL(inner_cancelled, 10);
    EQUAL(outer_done, 10);
}

// An isolated context is no child of the one that is cancelled.
void isolated() {
    tbb::task_group_context outer;
    std::atomic<int> done{0}, begun{0};
    tbb::parallel_for(
        0, 4,
        [&](int) {
            ++begun;
            outer.cancel_group_execution();
            tbb::task_group_context alone(tbb::task_group_context::isolated);
            tbb::parallel_for(
                0, 50, [&](int) { ++done; }, alone);
        },
        outer);
    CHECK(begun >= 1);
    EQUAL(done, begun * 50);
}

void again() {
    tbb::task_group_context context;
    std::atomic<int> done{0};
    CHECK(context.cancel_group_execution());
    CHECK(!context.cancel_group_execution());
    tbb::parallel_for(
        0, 10, [&](int) { ++done; }, context);
    EQUAL(done, 0);
    context.reset();
    tbb::parallel_for(
        0, 10, [&](int) { ++done; }, context);
    EQUAL(done, 10);
}

struct Counted {
    static inline std::atomic<int> alive{0};
    int value;
    explicit Counted(int number) : value(number) { ++alive; }
    Counted(const Counted& other) : value(other.value) { ++alive; }
    ~Counted() { --alive; }
};

void exceptions() {
    for (int round = 0; round < 50; ++round) {
        int caught = -1;
        std::atomic<int> thrown{0};
        try {
            tbb::parallel_for(0, 100, [&](int i) {
                if (i % 10 == 3) {
                    ++thrown;
                    throw Counted(i);
                }
            });
        } catch (const Counted& one) {
            caught = one.value;
        }
        CHECK(caught >= 0 && caught % 10 == 3);
        CHECK(thrown >= 1);
        EQUAL(Counted::alive, 0);
    }
}

// Through levels of loops, each of which the exception cancels.
void deep_exceptions() {
    std::atomic<int> inner_caught{0};
    int caught = 0;
    try {
        tbb::parallel_for(0, 4, [&](int) {
            try {
                tbb::parallel_for(0, 4, [&](int) {
                    tbb::parallel_for(0, 4, [&](int i) {
                        if (i == 2) throw std::logic_error("leaf");
                    });
                });
            } catch (const std::logic_error&) {
                ++inner_caught;
                throw;
            }
        });
    } catch (const std::logic_error&) {
        ++caught;
    }
    EQUAL(caught, 1);
    CHECK(inner_caught >= 1);
}

// Caught and handled within the body, with loops in the handler.
void loops_in_handlers() {
    std::atomic<int> sum{0};
    tbb::parallel_for(0, 20, [&](int i) {
        try {
            throw i;
        } catch (int value) {
            tbb::parallel_for(0, 10, [&](int) { ++sum; });
            try {
                throw;
            } catch (int again_value) {
                CHECK(value == i && again_value == i);
            }
        }
    });
    EQUAL(sum, 200);
}

void other_algorithms() {
    int caught = 0;
    try {
        tbb::parallel_invoke([] { throw 1; }, [] {}, [] {});
    } catch (int) {
        ++caught;
    }
    try {
        static_cast<void>(tbb::parallel_reduce(
            tbb::blocked_range<int>(0, 100), 0, [](const tbb::blocked_range<int>&, int) -> int { throw 2; },
            [](int a, int b) { return a + b; }));
    } catch (int) {
        ++caught;
    }
    const std::vector<int> items(50, 1);
    try {
        tbb::parallel_for_each(items, [](int item) { throw item; });
    } catch (int) {
        ++caught;
    }
    tbb::task_arena arena(2);
    try {
        arena.execute([] { throw 4; });
    } catch (int) {
        ++caught;
    }
    EQUAL(caught, 4);
}

void all() {
    whole_tree();
    not_upwards();
    isolated();
    again();
    exceptions();
    deep_exceptions();
    loops_in_handlers();
    other_algorithms();
}

}   // namespace

int main() {
    all();
    for (const int threads : {1, 2, 8}) with_threads(threads, all);
    return verdict();
}
