// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two classic bugs, found by simulation: a queue that loses a wake-up, and a stack with the ABA
// problem. The program explores each, and prints the table of the steps that lead to the failure.
// Then it explores the corrected versions, and finds nothing.
//
// Linked with weft::sim instead of weft::weft.
#include <weft/sim.hpp>

#include <cstdio>
#include <vector>

namespace {

namespace sim = weft::sim;

// ---- a queue for one producer and one consumer, who sleeps when there is nothing ----------------

template <bool mended>
class queue {
public:
    void push(int value) {
        slots_[pushed_.load() % slots] = value;
        pushed_.store(pushed_.load() + 1, mended ? std::memory_order_seq_cst : std::memory_order_release);
        // Without a full fence the store above may still be in this processor's store buffer when
        // the load below is executed.
        if (asleep_.load()) {
            asleep_.store(false);
            asleep_.notify_one();
        }
    }
    int pop() {
        while (pushed_.load() == popped_) {
            asleep_.store(true);
            if (pushed_.load() != popped_) break;   // pushed before the producer could see `asleep_`
            asleep_.wait(true);
        }
        return slots_[popped_++ % slots];
    }

private:
    static constexpr unsigned slots = 8;
    int slots_[slots] = {};
    unsigned popped_ = 0;   // the consumer's
    sim::atomic<unsigned> pushed_{0};
    sim::atomic<bool> asleep_{false};
};

template <bool mended>
void use_queue() {
    queue<mended> numbers;
    int sum = 0;
    sim::thread consumer([&] {
        for (int i = 0; i < 3; ++i) sum += numbers.pop();
    });
    for (int i = 1; i <= 3; ++i) numbers.push(i);
    consumer.join();
    sim::check(sum == 6, "what was pushed is popped once");
}

// ---- a stack, from which several threads pop ----------------------------------------------------

struct node {
    int value = 0;
    node* next = nullptr;
};

template <bool mended>
class stack {
public:
    void push(node* top) {
        head seen = head_.load();
        do {
            top->next = at(seen.index);
        } while (!head_.compare_exchange_weak(seen, {index_of(top), mended ? seen.tag + 1 : 0}));
    }
    node* pop() {
        head seen = head_.load();
        for (;;) {
            node* const top = at(seen.index);
            if (top == nullptr) return nullptr;
            // Another thread may pop this node and the next one, and push this one again: the head
            // is then as before, but for a tag, which tells the two states apart.
            sim::yield();
            if (head_.compare_exchange_weak(seen, {index_of(top->next), mended ? seen.tag + 1 : 0})) return top;
        }
    }
    explicit stack(std::vector<node>& nodes) : nodes_(nodes) {}

private:
    struct head {
        std::uint32_t index;   // 0: none
        std::uint32_t tag;
    };
    node* at(std::uint32_t index) const { return index == 0 ? nullptr : &nodes_[index - 1]; }
    std::uint32_t index_of(const node* of) const {
        return of == nullptr ? 0 : static_cast<std::uint32_t>(of - nodes_.data()) + 1;
    }

    std::vector<node>& nodes_;
    sim::atomic<head> head_{head{0, 0}};
};

// Two threads pop and push again; at the end each node must be there once. They may as well be
// units on two streams (weft::thread and a weft::runtime); the table then shows how many steps are
// the runtime's own.
template <bool mended>
void use_stack() {
    std::vector<node> nodes(3);
    stack<mended> all(nodes);
    for (node& one : nodes) all.push(&one);
    const auto work = [&all] {
        for (int i = 0; i < 2; ++i) {
            node* const first = all.pop();
            node* const second = all.pop();
            if (first != nullptr) all.push(first);
            if (second != nullptr) all.push(second);
        }
    };
    sim::thread other(work);
    work();
    other.join();
    unsigned found = 0;
    while (all.pop() != nullptr && found <= nodes.size()) ++found;
    sim::check(found == nodes.size(), "each node is on the stack once");
}

bool explored(const char* what, bool expected, void (*body)()) {
    const sim::result came = sim::explore({.seeds = 2000, .most_steps = 100'000}, body);
    std::printf("%s: %s after %llu runs\n", what, came.failed ? "FAILED" : "nothing found",
                static_cast<unsigned long long>(came.runs));
    if (came.failed) std::printf("%s\n", came.report.c_str());
    return came.failed == expected;
}

}   // namespace

int main() {
    bool as_expected = explored("a queue without a fence", true, use_queue<false>);
    as_expected &= explored("the queue, mended", false, use_queue<true>);
    as_expected &= explored("a stack without a tag", true, use_stack<false>);
    as_expected &= explored("the stack, mended", false, use_stack<true>);
    return as_expected ? 0 : 1;
}
