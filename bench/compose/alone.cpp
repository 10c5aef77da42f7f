// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TBB alone, as programs use it: the three of Lithe's Table 3 (tree sum, preorder traversal,
// fibonacci), loops, reductions, a sort and a flow graph. --kernel, --threads, --passes. Each
// program knows its result. It neither includes nor links Weft: run.py runs it with and without.
#include <tbb/blocked_range.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"
#include "samples.hpp"

namespace {

[[noreturn]] void fail(const char* kernel, const char* what) {
    std::fprintf(stderr, "bench: %s: %s\n", kernel, what);
    std::exit(1);
}

std::uint32_t next(std::uint32_t& state) { return state = state * 1664525U + 1013904223U; }

// ---- trees --------------------------------------------------------------------------------------

struct Node {
    std::unique_ptr<Node> left, right;
    std::uint64_t value = 1, size = 1;
};

std::unique_ptr<Node> tree_of(std::uint64_t nodes) {
    if (nodes == 0) return nullptr;
    auto node = std::make_unique<Node>();
    node->size = nodes;
    node->left = tree_of((nodes - 1) / 2);
    node->right = tree_of(nodes - 1 - (nodes - 1) / 2);
    return node;
}

std::uint64_t sum_alone(const Node* node) {
    return node == nullptr ? 0 : node->value + sum_alone(node->left.get()) + sum_alone(node->right.get());
}

std::uint64_t sum(const Node* node) {
    if (node == nullptr) return 0;
    if (node->size < 1000) return sum_alone(node);
    std::uint64_t left = 0, right = 0;
    tbb::task_group group;
    group.run([&] { left = sum(node->left.get()); });
    right = sum(node->right.get());
    group.wait();
    return node->value + left + right;
}

// Each cell is computed once its predecessors are, as in an acyclic graph of matrices.
struct Cell {
    std::atomic<int> waits_for{0};
    std::vector<Cell*> after;
    double value = 0;
};

class Preorder {
public:
    Preorder() : cells_(20'000) {
        std::uint32_t state = 1;
        for (std::size_t i = 1; i < cells_.size(); ++i) {
            const std::size_t inputs = next(state) % 3;
            for (std::size_t k = 0; k < inputs; ++k) {
                cells_[next(state) % i].after.push_back(&cells_[i]);
                ++inputs_[&cells_[i] - cells_.data()];
            }
        }
    }
    double pass() {
        std::vector<Cell*> roots;
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            cells_[i].waits_for.store(inputs_[i], std::memory_order_relaxed);
            if (inputs_[i] == 0) roots.push_back(&cells_[i]);
        }
        tbb::parallel_for_each(roots.begin(), roots.end(), [](Cell* cell, tbb::feeder<Cell*>& feeder) {
            double x = 1;
            for (int i = 0; i < 200; ++i) x = std::sqrt(x + i);
            cell->value = x;
            for (Cell* const one : cell->after) {
                if (one->waits_for.fetch_sub(1) == 1) feeder.add(one);
            }
        });
        double all = 0;
        for (Cell& cell : cells_) all += std::exchange(cell.value, 0.0);
        return all;
    }
    std::size_t size() const { return cells_.size(); }

private:
    std::vector<Cell> cells_;
    std::vector<int> inputs_ = std::vector<int>(20'000);
};

long fib_alone(int n) { return n < 2 ? n : fib_alone(n - 1) + fib_alone(n - 2); }

long fib(int n) {
    if (n < 2) return n;
    long one = 0, other = 0;
    tbb::task_group group;
    group.run([&] { one = fib(n - 1); });
    other = fib(n - 2);
    group.wait();
    return one + other;
}

// ---- the kernels --------------------------------------------------------------------------------

// Calls pass() once before the samples.
void measure(const std::string& name, int passes, const std::function<bool()>& pass) {
    for (int i = 0; i <= passes; ++i) {
        const std::uint64_t start = bench::now_ns();
        const bool right = pass();
        const auto ns = static_cast<double>(bench::now_ns() - start);
        if (!right) fail(name.c_str(), "wrong result");
        if (i != 0) bench::print_sample(name.c_str(), ns);
    }
}

void run(const std::string& kernel, int passes) {
    if (kernel == "tree_sum") {
        constexpr std::uint64_t nodes = 1'000'000;
        const auto tree = tree_of(nodes);
        measure(kernel, passes, [&] { return sum(tree.get()) == nodes; });
    } else if (kernel == "preorder") {
        Preorder graph;
        double x = 1;
        for (int i = 0; i < 200; ++i) x = std::sqrt(x + i);
        const double known = x * static_cast<double>(graph.size());
        measure(kernel, passes, [&] { return std::fabs(graph.pass() / known - 1) < 1e-9; });
    } else if (kernel == "fibonacci") {
        measure(kernel, passes, [] { return fib(22) == fib_alone(22); });
    } else if (kernel == "parallel_for") {
        std::vector<float> a(1 << 20, 1.0F);
        measure(kernel, passes, [&] {
            for (int round = 0; round < 50; ++round) {
                tbb::parallel_for(tbb::blocked_range<std::size_t>(0, a.size() / 16), [&](const auto& range) {
                    for (std::size_t i = range.begin(); i < range.end(); ++i) a[i] = a[i] * 0.5F + 0.5F;
                });
            }
            return a[17] == 1.0F;
        });
    } else if (kernel == "reduce") {
        const std::vector<double> a(1 << 20, 0.25);
        measure(kernel, passes, [&] {
            const double all = tbb::parallel_reduce(
                tbb::blocked_range<std::size_t>(0, a.size()), 0.0,
                [&](const auto& range, double sum) {
                    for (std::size_t i = range.begin(); i < range.end(); ++i) sum += a[i];
                    return sum;
                },
                std::plus<>());
            return all == 0.25 * (1 << 20);
        });
    } else if (kernel == "sort") {
        std::vector<std::uint32_t> a(1 << 19);
        measure(kernel, passes, [&] {
            std::uint32_t state = 1;
            for (std::uint32_t& one : a) one = next(state);
            tbb::parallel_sort(a.begin(), a.end());
            return std::is_sorted(a.begin(), a.end());
        });
    } else if (kernel == "flow_graph") {
        measure(kernel, passes, [] {
            tbb::flow::graph graph;
            std::atomic<long> all{0};
            // Messages of less work take longer on two threads than on one, or not, by chance.
            const auto work = [](int i) {
                double x = i;
                for (int step = 0; step < 400; ++step) x = std::sqrt(x + step);
                return x < 0 ? 0 : i;
            };
            tbb::flow::function_node<int, int> first(graph, tbb::flow::unlimited, [&](int i) { return work(i) + 1; });
            tbb::flow::function_node<int, int> second(graph, tbb::flow::unlimited, [&](int i) { return 2 * work(i); });
            tbb::flow::function_node<int> last(graph, tbb::flow::serial, [&](int i) { all += i; });
            tbb::flow::make_edge(first, second);
            tbb::flow::make_edge(second, last);
            for (int i = 0; i < 5'000; ++i) first.try_put(i);
            graph.wait_for_all();
            return all == 5'000L * 5'001L;
        });
    } else {
        fail(kernel.c_str(), "there is no such kernel");
    }
}

}   // namespace

int main(int argc, char** argv) {
    const std::string kernel = bench::take_flag(argc, argv, "kernel", "tree_sum");
    const int threads = std::atoi(bench::take_flag(argc, argv, "threads", "2").c_str());
    const int passes = std::atoi(bench::take_flag(argc, argv, "passes", "5").c_str());
    bench::refuse_others(argc, argv);
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    run(kernel, passes);
    return 0;
}
