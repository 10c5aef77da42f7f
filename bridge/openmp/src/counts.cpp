#include "counts.hpp"

#include <pthread.h>

#include <weft/trace.h>

namespace weft_openmp {

namespace {

constinit std::atomic<Counts*> newest{nullptr};   // of a list that only grows
constinit std::atomic<std::uint64_t> members{0};

std::uint64_t sum(std::atomic<std::uint64_t> Counts::* which) {
    std::uint64_t total = 0;
    // acquire: pairs with take_counts; relaxed: a statistic
    for (Counts* one = newest.load(std::memory_order_acquire); one != nullptr; one = one->next) total += (one->*which).load(std::memory_order_relaxed);
    return total;
}

// The child of a fork has regions of its own.
void begin_anew() {
    members.store(0, std::memory_order_relaxed);   // relaxed, all: there is one thread
    for (Counts* one = newest.load(std::memory_order_relaxed); one != nullptr; one = one->next) {
        one->regions.store(0, std::memory_order_relaxed);
        one->tasks.store(0, std::memory_order_relaxed);
    }
}

// A name that is known already means that two of these libraries are loaded: the first is told of.
bool add_counters() {
    weft_counter_add("/openmp/count/members", [](void*) -> std::uint64_t { return members.load(std::memory_order_relaxed); }, nullptr);   // relaxed: a statistic
    weft_counter_add("/openmp/count/tasks", [](void*) { return sum(&Counts::tasks); }, nullptr);
    weft_counter_add("/openmp/count/regions", [](void*) { return sum(&Counts::regions); }, nullptr);
    pthread_atfork(nullptr, nullptr, begin_anew);
    return true;
}

}  // namespace

void count_member() { members.fetch_add(1, std::memory_order_relaxed); }   // relaxed: a statistic

Counts& take_counts() {
    [[maybe_unused]] static const bool added = add_counters();
    for (Counts* one = newest.load(std::memory_order_acquire); one != nullptr; one = one->next) {   // acquire: pairs with the release below
        // acquire: pairs with give_back, so that the last thread's numbers are gone on from
        if (!one->taken.load(std::memory_order_relaxed) && !one->taken.exchange(true, std::memory_order_acquire)) return *one;   // relaxed: a hint
    }
    auto* const made = new Counts;
    made->next = newest.load(std::memory_order_relaxed);   // relaxed: the exchange tells
    while (!newest.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_relaxed)) {}   // release: pairs with the acquires above
    return *made;
}

void give_back(Counts& counts) { counts.taken.store(false, std::memory_order_release); }   // release: pairs with take_counts

}  // namespace weft_openmp
