// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulation: a program for several harts runs on virtual harts, one after the other on the calling
// OS thread, with pre-emptions that a seed determines; many times, with another seed each time. A
// run that fails is reported with its seed and replays exactly. It is shrunk to the fewest
// pre-emptions that still make it fail, and printed as a table of steps by hart.
//
// A virtual hart stands for an OS thread: the carrier of a stream, or a weft::sim::thread. It may
// be pre-empted wherever another hart could observe it: at each operation on a weft::sim::atomic
// and at each call of Weft. Its stores may stay in its store buffer for a while, where other harts
// do not see them, as on x86; read-modify-writes, seq_cst stores and system calls empty the buffer.
// Time is virtual: it advances by some nanoseconds a step, and when every hart waits, it jumps to
// the earliest deadline.
//
// The program is linked with weft::sim (libweft_sim) instead of weft::weft: this is the library on
// virtual harts, in a checked build. The program must share data by weft::sim::atomic and Weft's
// own means: the simulation does not see std::atomic, std::thread and std::mutex.
//
//     auto result = weft::sim::explore({.seeds = 500}, [] {
//         queue of;                                           // hand-written, on weft::sim::atomic
//         weft::sim::thread producer([&] { of.push(1); });
//         int got = of.pop_or_wait();
//         producer.join();
//         weft::sim::check(got == 1, "what was pushed is popped");
//     });
//     EXPECT_FALSE(result.failed) << result.report;
//
// The ideas are those of PCT (Burckhardt and others, ASPLOS 2010: priorities, change points), of
// loom and of Shuttle; shrinking is delta debugging (Zeller and Hildebrandt, TSE 2002). Since 0.3.
#pragma once

#include <weft/language.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include <weft/location.hpp>

namespace weft::sim {

/** How the simulation chooses the hart that runs next. */
enum class scheduler {
    /** odd seeds: `random`; even seeds: `priorities` */
    both,
    /** switches to a random hart at random moments */
    random,
    /** the hart with the highest random priority runs; at a few random moments it gets the lowest
     * (PCT) */
    priorities
};

/** What explore() does. The initialisers are the defaults. */
struct options {
    /** how many runs; the first that fails ends them */
    std::uint64_t seeds = 100;
    /** the seed of the first run; the seeds of the others follow it */
    std::uint64_t first_seed = 1;
    /** how the hart that runs next is chosen */
    scheduler by = scheduler::both;
    /** CPUs that the virtual machine claims to have; there may be more virtual harts */
    unsigned harts = 4;
    /** a run that takes more steps has failed: it never ends */
    std::uint64_t most_steps = 5'000'000;
    /** a run that takes more seconds of real time has failed: a hart is in a loop that it cannot
     * leave */
    unsigned most_seconds = 60;
    /** false: other harts see each store immediately */
    bool store_buffers = true;
    /** futex waits may wake spuriously, and deadlines come early, as on a slow machine */
    bool early_wakes = true;
    /** Weft's calls that a system may refuse (memory, threads, descriptors; or a futex wait that a
     * signal ends) are counted from 1, and this one is refused; 0: none */
    std::uint64_t fail_at = 0;
    /** memory that Weft has not freed at the end is a failure */
    bool leaks = true;
    /** a failure is shrunk before it is reported */
    bool shrink = true;
    /** the text after "replay:" in a report: explore() does this run alone, instead of seeds */
    const char* replay = nullptr;
    /** the report includes the table of steps, whether the run failed or not */
    bool trace = false;
    /** how many lines of the table are printed, counted from its end */
    std::size_t lines = 250;
    /** the table includes the steps of Weft's own code; false: it has their number between two
     * steps of the program. Since 0.7 */
    bool weft_steps = false;
};

/** The result of explore(). */
struct result {
    /** a run has failed */
    bool failed = false;
    /** how many runs there were, without those that shrank a failure */
    std::uint64_t runs = 0;
    /** the steps of all runs */
    std::uint64_t steps = 0;
    /** the calls that a system may refuse, in the run that had most of them: the largest useful
     * options::fail_at */
    std::uint64_t refusable = 0;
    /** the seed of the run that failed */
    std::uint64_t seed = 0;
    /** what went wrong, the table of steps, and how to replay it; empty when no run failed */
    std::string report;
    /** the value for options::replay */
    std::string replay;
};

/** Runs `body` as the first virtual hart of a new virtual machine, once for each seed, each time in
 * a process of its own (fork), so that runs are independent and may crash. A run fails when check()
 * fails, when an assertion in Weft fails, when an exception leaves `body`, when the run crashes or
 * exits, when all harts wait for one another, or when it takes too long. Not from a virtual hart,
 * nor while the runtime runs. Returns when all runs have passed or one has failed and been
 * shrunk. */
result explore(const options& with, const std::function<void()>& body);

/** Whether the caller runs on a virtual hart. */
bool simulated() noexcept;

/** Ends the run as failed unless `holds`. Outside of a run: ends the process. */
void check(bool holds, const char* what, const weft::location& where = weft::location::current());

/** The virtual time of the run, in nanoseconds; outside of a run the time of the monotonic
 * clock. */
std::uint64_t now_ns() noexcept;

/** Lets the calling virtual hart sleep in virtual time. Not from a unit, which uses
 * weft_sleep_until. */
void sleep_ns(std::uint64_t duration_ns, const weft::location& where = weft::location::current());

/** Lets other harts run: the point of pre-emption that a loop needs which polls something until it
 * changes. A virtual hart that only yields waits for other harts, as a sleeping hart does. When all
 * harts do nothing but yield, the run never ends. */
void yield(const weft::location& where = weft::location::current());

/** A virtual hart beside the calling one. It is like std::thread, and must be joined. */
class thread {
public:
    /** Starts body() on a hart of its own. */
    template <class Body>
    explicit thread(Body body, const weft::location& where = weft::location::current())
        : body_(std::make_unique<std::function<void()>>(std::move(body))) {
        start(where);
    }
    thread(thread&&) = default; /**< the moved-from thread counts as joined */
    /** If the thread was not joined, a check fails. */
    ~thread();
    /** Waits for the end of its body. To be called once. */
    void join(const weft::location& where = weft::location::current());

private:
    void start(const weft::location& where);

    std::unique_ptr<std::function<void()>> body_;
    void* hart_ = nullptr;
};

/** The interface between atomics and the virtual machine; not for users. */
namespace detail {

enum class access : std::uint8_t {
    load,
    store,
    exchange,
    compare,
    add,
    subtract,
    set_bits,
    clear_bits,
    flip_bits,
    wait,
    notify
};

extern std::int64_t countdown;   // steps until at_point() must be called; never, outside of a run
extern bool buffering;           // the running hart's stores are buffered

void at_point(access what, const void* word, const weft::location& where);

// Called before each operation that other harts can see.
[[gnu::always_inline]] inline void point(access what, const void* word, const weft::location& where) {
    if (--countdown < 0) [[unlikely]]
        at_point(what, word, where);
}

// Buffers the store that comes next: other harts see the present value until the buffer is emptied.
void keep_old(void* word, std::size_t bytes);
void empty_buffer();

void wait_while_equal(const void* word, const void* old, std::size_t bytes, const weft::location& where);
void notify(const void* word, bool all, const weft::location& where);

template <class T>
struct amount {
    using type = T;
};
template <class T>
struct amount<T*> {
    using type = std::ptrdiff_t;
};

// The operations on a word anywhere in memory.
template <class T>
struct operations {
    using where = weft::location;

    static T load(const T& word, const where& at) {
        point(access::load, &word, at);
        return word;
    }
    static void store(T& word, T value, std::memory_order order, const where& at) {
        point(access::store, &word, at);
        if (buffering) {
            if (order == std::memory_order_seq_cst) {
                empty_buffer();
            } else {
                keep_old(&word, sizeof word);
            }
        }
        word = value;
    }
    template <class Change>
    static T change(access what, T& word, Change to, const where& at) {
        point(what, &word, at);
        if (buffering) empty_buffer();
        const T old = word;
        word = to(old);
        return old;
    }
    static bool compare_exchange(T& word, T& expected, T desired, const where& at) {
        point(access::compare, &word, at);
        if (buffering) empty_buffer();
        if (std::memcmp(&word, &expected, sizeof word) == 0) {
            word = desired;
            return true;
        }
        expected = word;
        return false;
    }
};

}   // namespace detail

/** An atomic that virtual harts see, with the interface of std::atomic. The orders mean what they
 * mean on x86: a store that is not seq_cst may be buffered; orders weaker than those of x86 are not
 * simulated. Each operation is a point where the hart may be pre-empted. */
template <class T>
class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "up to eight bytes, trivially copyable");
    using order = std::memory_order;
    using where = weft::location;
    using on = detail::operations<T>;
    using change = typename detail::amount<T>::type;
    static constexpr order seq_cst = std::memory_order_seq_cst;

public:
    /** As std::atomic has it. */
    using value_type = T;
    /** As std::atomic has it. */
    static constexpr bool is_always_lock_free = true;

    /** An atomic with the value T(). */
    constexpr atomic() noexcept : value_() {}
    /** An atomic with this value. No other hart knows the atomic yet, so this is no point of
     * pre-emption. */
    constexpr atomic(T value) noexcept : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    /** The value, as this hart sees it. */
    T load(order = seq_cst, const where& at = where::current()) const noexcept { return on::load(value_, at); }
    /** Stores a value. Unless the order is seq_cst, the store may stay in the store buffer for a
     * while. */
    void store(T value, order by = seq_cst, const where& at = where::current()) noexcept {
        on::store(value_, value, by, at);
    }
    /** Exchanges the value and returns the old one. This and the following read-modify-writes empty
     * the store buffer. */
    T exchange(T value, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::exchange, value_, [value](T) { return value; }, at);
    }
    /** Compares and exchanges; never fails spuriously. */
    bool compare_exchange_strong(T& expected, T desired, order = seq_cst, order = seq_cst,
                                 const where& at = where::current()) noexcept {
        return on::compare_exchange(value_, expected, desired, at);
    }
    /** As compare_exchange_strong. */
    bool compare_exchange_weak(T& expected, T desired, order = seq_cst, order = seq_cst,
                               const where& at = where::current()) noexcept {
        return on::compare_exchange(value_, expected, desired, at);
    }
    /** Returns the old value. */
    T fetch_add(change by, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::add, value_, [by](T old) { return static_cast<T>(old + by); }, at);
    }
    /** Returns the old value. */
    T fetch_sub(change by, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::subtract, value_, [by](T old) { return static_cast<T>(old - by); }, at);
    }
    /** Returns the old value. */
    T fetch_or(T bits, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::set_bits, value_, [bits](T old) { return static_cast<T>(old | bits); }, at);
    }
    /** Returns the old value. */
    T fetch_and(T bits, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::clear_bits, value_, [bits](T old) { return static_cast<T>(old & bits); }, at);
    }
    /** Returns the old value. */
    T fetch_xor(T bits, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::flip_bits, value_, [bits](T old) { return static_cast<T>(old ^ bits); }, at);
    }

    /** load(). */
    operator T() const noexcept { return load(); }
    /** store(value). */
    T operator=(T value) noexcept {
        store(value);
        return value;
    }
    /** Returns the new value. */
    T operator++() noexcept { return static_cast<T>(fetch_add(1) + 1); }
    /** Returns the new value. */
    T operator--() noexcept { return static_cast<T>(fetch_sub(1) - 1); }
    /** Returns the old value. */
    T operator++(int) noexcept { return fetch_add(1); }
    /** Returns the old value. */
    T operator--(int) noexcept { return fetch_sub(1); }
    /** Returns the new value. */
    T operator+=(change by) noexcept { return static_cast<T>(fetch_add(by) + by); }
    /** Returns the new value. */
    T operator-=(change by) noexcept { return static_cast<T>(fetch_sub(by) - by); }

    /** Sleeps until notified, while the value is `old`; loops, as std::atomic::wait does. */
    void wait(T old, order = seq_cst, const where& at = where::current()) const noexcept {
        detail::wait_while_equal(&value_, &old, sizeof old, at);
    }
    /** Wakes one waiter, if there is one. */
    void notify_one(const where& at = where::current()) noexcept { detail::notify(&value_, false, at); }
    /** Wakes all waiters. */
    void notify_all(const where& at = where::current()) noexcept { detail::notify(&value_, true, at); }

private:
    alignas(std::bit_ceil(sizeof(T))) T value_;
};

}   // namespace weft::sim
