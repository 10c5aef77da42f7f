// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "counts.hpp"

#include <pthread.h>
#include <mutex>
#include <utility>

#include <weft/trace.h>

#include "usual_threads.hpp"
#include "wait.hpp"

namespace weft_openmp {

namespace {

constinit std::atomic<Counts*> newest{nullptr};   // the head of a list that only grows
constinit SpinLock free_lock;
constinit Counts* first_free = nullptr;   // guarded by free_lock
constinit std::atomic<std::uint64_t> members{0};

std::uint64_t sum(std::atomic<std::uint64_t> Counts::*which) {
    std::uint64_t total = 0;
    // acquire: pairs with take_counts; relaxed: a statistic
    Counts* one = newest.load(std::memory_order_acquire);
    for (; one != nullptr; one = one->next) total += (one->*which).load(std::memory_order_relaxed);
    return total;
}

// The child of a fork has regions of its own. No lock is held across the fork: a library may join
// threads before it (OpenBLAS does), and a thread that ends gives its counts back. So the list of
// free ones may be half changed, and the child does without it.
void begin_anew() {
    free_lock.unlock();
    first_free = nullptr;
    members.store(0, std::memory_order_relaxed);   // relaxed, all: there is one thread
    for (Counts* one = newest.load(std::memory_order_relaxed); one != nullptr; one = one->next) {
        one->regions.store(0, std::memory_order_relaxed);
        one->tasks.store(0, std::memory_order_relaxed);
        one->of_units.store(0, std::memory_order_relaxed);
    }
}

// A name that is known already means that two of these libraries are loaded: the first one is
// reported.
bool add_counters() {
    // relaxed: a statistic
    weft_counter_register(
        "/openmp/count/members", [](void*) -> std::uint64_t { return members.load(std::memory_order_relaxed); },
        nullptr);
    weft_counter_register(
        "/openmp/count/tasks", [](void*) { return sum(&Counts::tasks); }, nullptr);
    weft_counter_register(
        "/openmp/count/regions-of-units", [](void*) { return sum(&Counts::of_units); }, nullptr);
    weft_counter_register(
        "/openmp/count/regions", [](void*) { return sum(&Counts::regions); }, nullptr);
    weft_counter_register(
        "/openmp/threads/asking", [](void*) -> std::uint64_t { return asking_threads(); }, nullptr);
    pthread_atfork(nullptr, nullptr, begin_anew);
    return true;
}

}   // namespace

void count_members(unsigned more) { members.fetch_add(more, std::memory_order_relaxed); }   // relaxed: a statistic

// A new thread reads no other thread's numbers: in a team of thousands each thread would read
// thousands.
Counts& take_counts() {
    [[maybe_unused]] static const bool added = add_counters();
    const std::lock_guard guard(free_lock);
    if (first_free != nullptr) return *std::exchange(first_free, first_free->next_free);
    auto* const made = new Counts;
    made->next = newest.load(std::memory_order_relaxed);   // relaxed: written under the lock
    newest.store(made, std::memory_order_release);         // release: pairs with the load in sum
    return *made;
}

void give_back(Counts& counts) {
    const std::lock_guard guard(free_lock);
    counts.next_free = std::exchange(first_free, &counts);
}

}   // namespace weft_openmp
