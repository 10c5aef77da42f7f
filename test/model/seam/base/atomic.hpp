// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam to the atomics, for the models: the names of src/base/atomic.hpp on Relacy's types,
// which search the interleavings and report races. Each access carries its source location, so that
// a failing history reads like a trace of the structure.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include "relacy_seam.hpp"

namespace weft {

namespace model {

inline rl::debug_info info(const std::source_location& where) {
    return {where.function_name(), where.file_name(), where.line()};
}

[[noreturn]] inline void broken(const char* what, const char* file, unsigned line) {
    rl::ctx().fail_test(what, rl::test_result_user_assert_failed, rl::debug_info("", file, line));
    std::abort();   // not reached: fail_test leaves the thread
}

inline rl::memory_order order(std::memory_order order) {
    switch (order) {
    case std::memory_order_relaxed: return rl::mo_relaxed;
    case std::memory_order_consume: return rl::mo_consume;
    case std::memory_order_acquire: return rl::mo_acquire;
    case std::memory_order_release: return rl::mo_release;
    case std::memory_order_acq_rel: return rl::mo_acq_rel;
    case std::memory_order_seq_cst: return rl::mo_seq_cst;
    }
    std::abort();
}

}   // namespace model

template <class T>
class atomic {
    using Order = std::memory_order;
    using Where = std::source_location;
    static constexpr Order seq_cst = std::memory_order_seq_cst;

public:
    atomic(T value = T()) : value_(value) {}
    ~atomic() { alive_ = false; }

    T load(Order order = seq_cst, Where where = Where::current()) const {
        return value_.load(model::order(order), model::info(where));
    }
    void store(T value, Order order = seq_cst, Where where = Where::current()) {
        value_.store(value, model::order(order), model::info(where));
    }
    T exchange(T value, Order order = seq_cst, Where where = Where::current()) {
        return value_.exchange(value, model::order(order), model::info(where));
    }
    T fetch_add(T value, Order order = seq_cst, Where where = Where::current()) {
        return value_.fetch_add(value, model::order(order), model::info(where));
    }
    T fetch_or(T value, Order order = seq_cst, Where where = Where::current()) {
        return value_.fetch_or(value, model::order(order), model::info(where));
    }
    T fetch_and(T value, Order order = seq_cst, Where where = Where::current()) {
        return value_.fetch_and(value, model::order(order), model::info(where));
    }
    T fetch_sub(T value, Order order = seq_cst, Where where = Where::current()) {
        return value_.fetch_sub(value, model::order(order), model::info(where));
    }

    // Relacy does not support a compare-and-swap that releases on success and acquires on failure:
    // it would silently fall back to relaxed.
    bool compare_exchange_strong(T& expected, T desired, Order success, Order failure, Where where = Where::current()) {
        if (success == std::memory_order_release && failure != std::memory_order_relaxed) std::abort();
        return value_.compare_exchange(rl::bool_t<false>(), expected, desired, model::order(success),
                                       model::order(failure), model::info(where));
    }
    bool compare_exchange_weak(T& expected, T desired, Order success, Order failure, Where where = Where::current()) {
        if (success == std::memory_order_release && failure != std::memory_order_relaxed) std::abort();
        return value_.compare_exchange(rl::bool_t<true>(), expected, desired, model::order(success),
                                       model::order(failure), model::info(where));
    }
    bool compare_exchange_strong(T& expected, T desired, Order both = seq_cst, Where where = Where::current()) {
        return value_.compare_exchange(rl::bool_t<false>(), expected, desired, model::order(both), model::info(where));
    }

    // For the futex seam: the word that the kernel would compare, and whether it exists, since a
    // wake may go to an address where a word used to be. A model keeps the storage; volatile keeps
    // the destructor's store.
    rl::atomic<T>& inner() const { return value_; }
    bool alive() const { return alive_; }

private:
    mutable rl::atomic<T> value_;
    volatile bool alive_ = true;
};

// Where the library has a plain field that one place accesses atomically, a model has an atomic.
template <class T>
atomic<T>& atomic_ref(atomic<T>& word) {
    return word;
}

// A plain field: Relacy reports two accesses, at least one of them a write, that nothing orders. It
// cannot print enumerations, so they are kept as numbers.
template <class T>
class plain {
    using Kept = typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>::type;

public:
    plain(T value = T()) : value_(static_cast<Kept>(value)) {}
    plain(const plain& other) : plain(static_cast<T>(other)) {}
    plain& operator=(const plain& other) {
        *this = static_cast<T>(other);
        return *this;
    }

    operator T() const { return static_cast<T>(value_(model::info(std::source_location::current())).load()); }
    T operator=(T value) {
        value_(model::info(std::source_location::current())).store(static_cast<Kept>(value));
        return value;
    }
    T operator->() const { return *this; }
    T operator++() { return *this = static_cast<T>(static_cast<T>(*this) + 1); }
    T operator--() { return *this = static_cast<T>(static_cast<T>(*this) - 1); }

private:
    rl::var<Kept> value_;
};

// Together with os::process_barrier() it is worth as much as two full fences, and Relacy knows
// those.
inline void light_fence(std::source_location where = std::source_location::current()) {
    rl::atomic_thread_fence(rl::mo_seq_cst, model::info(where));
}

}   // namespace weft
