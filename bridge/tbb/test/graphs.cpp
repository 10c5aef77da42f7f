// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flow graphs: each message comes through, nodes keep to their limits and orders, threads outside
// bring results, and a graph that is cancelled or has thrown can be used again.
#include <oneapi/tbb.h>

#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "check.hpp"

namespace {

namespace flow = tbb::flow;

void functions() {
    for (const std::size_t limit : {std::size_t{flow::serial}, std::size_t{2}, std::size_t{flow::unlimited}}) {
        flow::graph graph;
        std::atomic<int> inside{0}, most{0};
        long sum = 0;
        flow::function_node<int, long> square(graph, limit, [&](int value) {
            const int now = ++inside;
            int before = most;
            while (before < now && !most.compare_exchange_weak(before, now)) {}
            std::this_thread::yield();
            --inside;
            return static_cast<long>(value) * value;
        });
        flow::function_node<long> add(graph, flow::serial, [&](long value) { sum += value; });
        flow::make_edge(square, add);
        for (int i = 0; i < 200; ++i) CHECK(square.try_put(i));
        graph.wait_for_all();
        EQUAL(sum, 199L * 200 * 399 / 6);
        if (limit != flow::unlimited) CHECK(most <= static_cast<int>(limit));
    }
}

void sources_and_joins() {
    flow::graph graph;
    int next = 0, pairs = 0;
    long sum = 0;
    flow::input_node<int> source(graph, [&](tbb::flow_control& control) {
        if (next == 100) control.stop();
        return next++;
    });
    flow::function_node<int, int> once(graph, flow::unlimited, [](int value) { return value; });
    flow::function_node<int, int> twice(graph, flow::unlimited, [](int value) { return 2 * value; });
    using Pair = std::tuple<int, int>;
    flow::join_node<Pair, flow::key_matching<int>> join(
        graph, [](int value) { return value; }, [](int value) { return value / 2; });
    flow::function_node<Pair> add(graph, flow::serial, [&](const Pair& pair) {
        CHECK(std::get<1>(pair) == 2 * std::get<0>(pair));
        ++pairs;
        sum += std::get<0>(pair);
    });
    flow::make_edge(source, once);
    flow::make_edge(source, twice);
    flow::make_edge(once, flow::input_port<0>(join));
    flow::make_edge(twice, flow::input_port<1>(join));
    flow::make_edge(join, add);
    source.activate();
    graph.wait_for_all();
    EQUAL(pairs, 100);
    EQUAL(sum, 4950);
}

void several_outputs() {
    flow::graph graph;
    int even = 0, odd = 0;
    using Split = flow::multifunction_node<int, std::tuple<int, int>>;
    Split split(graph, flow::unlimited, [](int value, Split::output_ports_type& ports) {
        if (value % 2 == 0) std::get<0>(ports).try_put(value);
        else std::get<1>(ports).try_put(value);
    });
    flow::function_node<int> count_even(graph, flow::serial, [&](int) { ++even; });
    flow::function_node<int> count_odd(graph, flow::serial, [&](int) { ++odd; });
    flow::make_edge(flow::output_port<0>(split), count_even);
    flow::make_edge(flow::output_port<1>(split), count_odd);
    for (int i = 0; i < 101; ++i) split.try_put(i);
    graph.wait_for_all();
    EQUAL(even, 51);
    EQUAL(odd, 50);
}

// No more messages between the limiter and its decrement than it lets through.
void limiters() {
    flow::graph graph;
    int next = 0;
    std::atomic<int> under_way{0}, most{0}, done{0};
    flow::input_node<int> source(graph, [&](tbb::flow_control& control) {
        if (next == 300) control.stop();
        return next++;
    });
    flow::limiter_node<int> limiter(graph, 3);
    flow::function_node<int, flow::continue_msg> work(graph, flow::unlimited, [&](int) {
        const int now = ++under_way;
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {}
        std::this_thread::yield();
        --under_way;
        ++done;
        return flow::continue_msg();
    });
    flow::make_edge(source, limiter);
    flow::make_edge(limiter, work);
    flow::make_edge(work, limiter.decrementer());
    source.activate();
    graph.wait_for_all();
    EQUAL(done, 300);
    CHECK(most <= 3);
}

// In the order of the numbers, although the node before lets messages overtake each other.
void sequences() {
    flow::graph graph;
    std::vector<int> results;
    flow::function_node<int, int> mix(graph, flow::unlimited, [](int value) { return value; });
    flow::sequencer_node<int> order(graph, [](int value) { return static_cast<std::size_t>(value); });
    flow::function_node<int> keep(graph, flow::serial, [&](int value) { results.push_back(value); });
    flow::make_edge(mix, order);
    flow::make_edge(order, keep);
    for (int i = 199; i >= 0; --i) mix.try_put(i);
    graph.wait_for_all();
    EQUAL(results.size(), 200);
    for (std::size_t i = 0; i < results.size(); ++i) EQUAL(results[i], i);
}

// A grid in which each node waits for its neighbours above and to the left.
void dependences() {
    constexpr int size = 12;
    flow::graph graph;
    int values[size][size] = {};
    using Node = flow::continue_node<flow::continue_msg>;
    std::vector<Node> nodes;
    nodes.reserve(size * size);
    for (int i = 0; i < size * size; ++i) {
        nodes.emplace_back(graph, [&values, i](flow::continue_msg message) {
            const int row = i / size, column = i % size;
            values[row][column] = row == 0 || column == 0 ? 1 : values[row - 1][column] + values[row][column - 1];
            return message;
        });
    }
    for (std::size_t i = 0; i < size * size; ++i) {
        if (i % size != 0) flow::make_edge(nodes[i - 1], nodes[i]);
        if (i >= size) flow::make_edge(nodes[i - size], nodes[i]);
    }
    for (int round = 0; round < 10; ++round) {
        nodes[0].try_put(flow::continue_msg());
        graph.wait_for_all();
        EQUAL(values[size - 1][size - 1], 705432);
        values[size - 1][size - 1] = 0;
    }
}

// Results come from threads of the program, for which the graph waits.
void outside() {
    flow::graph graph;
    using Async = flow::async_node<int, int>;
    std::vector<std::thread> threads;
    int sum = 0;
    Async async(graph, flow::serial, [&](int value, Async::gateway_type& gateway) {
        gateway.reserve_wait();
        threads.emplace_back([value, &gateway] {
            std::atomic<int> part{0};
            tbb::parallel_for(0, value, [&](int) { ++part; });
            gateway.try_put(part);
            gateway.release_wait();
        });
    });
    flow::function_node<int> add(graph, flow::serial, [&](int value) { sum += value; });
    flow::make_edge(async, add);
    for (int i = 0; i < 10; ++i) async.try_put(i);
    graph.wait_for_all();
    for (std::thread& thread : threads) thread.join();
    EQUAL(sum, 45);
}

void ends_early() {
    flow::graph graph;
    std::atomic<int> done{0};
    flow::function_node<int> node(graph, flow::serial, [&](int value) {
        ++done;
        if (value == -1) throw std::runtime_error("node");
        if (value == -2) graph.cancel();
    });
    for (int round = 0; round < 10; ++round) {
        int caught = 0;
        node.try_put(-1);
        for (int i = 0; i < 10; ++i) node.try_put(i);
        try {
            graph.wait_for_all();
        } catch (const std::runtime_error&) {
            ++caught;
        }
        EQUAL(caught, 1);
        CHECK(graph.exception_thrown());
        graph.reset();
        node.try_put(-2);
        for (int i = 0; i < 10; ++i) node.try_put(i);
        graph.wait_for_all();
        CHECK(graph.is_cancelled());
        graph.reset();
        done = 0;
        for (int i = 0; i < 10; ++i) node.try_put(i);
        graph.wait_for_all();
        EQUAL(done, 10);
    }
}

void all() {
    functions();
    sources_and_joins();
    several_outputs();
    limiters();
    sequences();
    dependences();
    outside();
    ends_early();
}

}   // namespace

int main() {
    all();
    for (const int threads : {1, 4}) with_threads(threads, all);
    return verdict();
}
