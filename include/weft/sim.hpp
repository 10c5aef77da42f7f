// Simulation: a program for several harts runs on virtual ones, one after the other on the calling
// OS thread, pre-empted by a seed; again and again, with another seed each time. A run that fails
// is told by its seed, replays exactly, and is shrunk to the fewest pre-emptions that still make it
// fail, printed as a table of steps by hart.
//
// A virtual hart is what an OS thread is elsewhere: the carrier of a stream, or a
// weft::sim::thread. It may be pre-empted wherever another could see it: at each operation on a
// weft::sim::atomic and at each call of Weft. What it stores may stay in its store buffer for a
// while, where others do not see it, as on x86; read-modify-writes, stores that are seq_cst and
// system calls empty the buffer. Time is virtual: it goes on by some nanoseconds a step, and when
// every hart waits, at once to the earliest deadline.
//
// The program is linked with weft::sim (libweft_sim) in the place of weft::weft: the same library
// on virtual harts, checked. It must share data by weft::sim::atomic and Weft's own means:
// std::atomic, std::thread and std::mutex are not seen.
//
//     auto result = weft::sim::explore({.seeds = 500}, [] {
//         queue of;                                            // hand-written, on weft::sim::atomic
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

/** How the hart that runs next is chosen. */
enum class scheduler {
    /** odd seeds: random; even seeds: priorities */
    both,
    /** at random moments a random hart */
    random,
    /** the hart of the highest random priority runs; at a few random moments it becomes the lowest
     * (PCT) */
    priorities
};

/** What explore() does. All zero but the seeds are the defaults. */
struct options {
    /** how many runs; the first that fails ends them */
    std::uint64_t seeds = 100;
    /** of the first run; the others follow */
    std::uint64_t first_seed = 1;
    /** who chooses the hart that runs next */
    scheduler by = scheduler::both;
    /** CPUs that the virtual machine claims to have; there may be more virtual harts */
    unsigned harts = 4;
    /** a run that takes more has failed: it never ends */
    std::uint64_t most_steps = 5'000'000;
    /** a run that takes more real time has failed: it waits by a loop that no hart can leave */
    unsigned most_seconds = 60;
    /** false: each store is seen at once */
    bool store_buffers = true;
    /** futex waits may end for no reason, and deadlines come early, as on a slow machine */
    bool early_wakes = true;
    /** of the calls of Weft's that a system may refuse (memory, threads, descriptors; or a futex
     * wait that a signal ends), counted from 1, this one is refused; 0: none */
    std::uint64_t fail_at = 0;
    /** memory of Weft's that is left at the end is a failure */
    bool leaks = true;
    /** a failure is shrunk before it is reported */
    bool shrink = true;
    /** what a report said after "replay:": this run alone, instead of seeds */
    const char* replay = nullptr;
    /** the report has the table of steps, whether the run failed or not */
    bool trace = false;
    /** of the table, the last ones */
    std::size_t lines = 250;
    /** the table has the steps that Weft's own code makes, too; false: it tells how many there are
     * between two of the program's. Since 0.7 */
    bool weft_steps = false;
};

/** What came of it. */
struct result {
    /** a run has failed */
    bool failed = false;
    /** without those that shrank a failure */
    std::uint64_t runs = 0;
    /** of all runs */
    std::uint64_t steps = 0;
    /** calls that a system may refuse, in the run that had most of them: how far options::fail_at
     * goes */
    std::uint64_t refusable = 0;
    /** of the run that failed */
    std::uint64_t seed = 0;
    /** what went wrong, the table of steps, how to replay it; empty when nothing did */
    std::string report;
    /** for options::replay */
    std::string replay;
};

/** Runs `body` as the first virtual hart of a new virtual machine, once for each seed, each time in
 * a process of its own (fork), so that runs are independent and may crash. A run fails when check()
 * does, when an assertion of Weft's does, when an exception leaves `body`, when it crashes or
 * exits, when all harts wait for one another, or when it takes too long. Not from a virtual hart,
 * nor while the runtime runs. Returns when all runs have passed or one has failed and been
 * shrunk. */
result explore(const options& with, const std::function<void()>& body);

/** Whether the caller runs on a virtual hart. */
bool simulated() noexcept;

/** Ends the run as failed unless `holds`. Outside of a run: ends the process. */
void check(bool holds, const char* what, const weft::location& where = weft::location::current());

/** Virtual time, in nanoseconds. Of a run; elsewhere that of the monotonic clock. */
std::uint64_t now_ns() noexcept;

/** The calling virtual hart sleeps, in virtual time. Not from a unit: weft_sleep_until. */
void sleep_ns(std::uint64_t duration_ns, const weft::location& where = weft::location::current());

/** Lets others run: for loops that look at something until it changes. The point of pre-emption
 * that such a loop needs; a virtual hart that only yields waits for others as one that sleeps does,
 * and when all of them do nothing but yield the run never ends. */
void yield(const weft::location& where = weft::location::current());

/** A virtual hart beside the calling one. Like std::thread; it must be joined. */
class thread {
public:
    /** Starts body() on a hart of its own. */
    template <class Body>
    explicit thread(Body body, const weft::location& where = weft::location::current())
        : body_(std::make_unique<std::function<void()>>(std::move(body))) {
        start(where);
    }
    thread(thread&&) = default; /**< the other one is joined already */
    /** A thread that was not joined is a failed check. */
    ~thread();
    /** Waits for the end of its body. Once. */
    void join(const weft::location& where = weft::location::current());

private:
    void start(const weft::location& where);

    std::unique_ptr<std::function<void()>> body_;
    void* hart_ = nullptr;
};

/** How atomics meet the machine; not for users. */
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

extern std::int64_t countdown;   // steps until somebody must look; never, outside of a run
extern bool buffering;           // the running hart's stores are buffered

void at_point(access what, const void* word, const weft::location& where);

// Before each operation that others can see.
[[gnu::always_inline]] inline void point(access what, const void* word, const weft::location& where) {
    if (--countdown < 0) [[unlikely]]
        at_point(what, word, where);
}

// The store that comes next goes to the buffer: what is there now is what others see until it is
// emptied.
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

// The operations, on a word that lies anywhere.
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

/** An atomic that virtual harts see: std::atomic's interface. The orders mean what they mean on
 * x86: a store that is not seq_cst may be buffered; weaker orders than x86's are not simulated. An
 * operation is a point where the hart may be pre-empted. */
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

    /** The value is T(). */
    constexpr atomic() noexcept : value_() {}
    /** No other hart knows it yet: this is no operation on an atomic. */
    constexpr atomic(T value) noexcept : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    /** The value, as this hart sees it. */
    T load(order = seq_cst, const where& at = where::current()) const noexcept { return on::load(value_, at); }
    /** Unless seq_cst, it may stay in the store buffer for a while. */
    void store(T value, order by = seq_cst, const where& at = where::current()) noexcept {
        on::store(value_, value, by, at);
    }
    /** Empties the store buffer, as all of the following. Returns the value before. */
    T exchange(T value, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::exchange, value_, [value](T) { return value; }, at);
    }
    /** Never fails for no reason. */
    bool compare_exchange_strong(T& expected, T desired, order = seq_cst, order = seq_cst,
                                 const where& at = where::current()) noexcept {
        return on::compare_exchange(value_, expected, desired, at);
    }
    /** As compare_exchange_strong. */
    bool compare_exchange_weak(T& expected, T desired, order = seq_cst, order = seq_cst,
                               const where& at = where::current()) noexcept {
        return on::compare_exchange(value_, expected, desired, at);
    }
    /** Returns the value before. */
    T fetch_add(change by, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::add, value_, [by](T old) { return static_cast<T>(old + by); }, at);
    }
    /** Returns the value before. */
    T fetch_sub(change by, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::subtract, value_, [by](T old) { return static_cast<T>(old - by); }, at);
    }
    /** Returns the value before. */
    T fetch_or(T bits, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::set_bits, value_, [bits](T old) { return static_cast<T>(old | bits); }, at);
    }
    /** Returns the value before. */
    T fetch_and(T bits, order = seq_cst, const where& at = where::current()) noexcept {
        return on::change(
            detail::access::clear_bits, value_, [bits](T old) { return static_cast<T>(old & bits); }, at);
    }
    /** Returns the value before. */
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
    /** Returns the value afterwards. */
    T operator++() noexcept { return static_cast<T>(fetch_add(1) + 1); }
    /** Returns the value afterwards. */
    T operator--() noexcept { return static_cast<T>(fetch_sub(1) - 1); }
    /** Returns the value before. */
    T operator++(int) noexcept { return fetch_add(1); }
    /** Returns the value before. */
    T operator--(int) noexcept { return fetch_sub(1); }
    /** Returns the value afterwards. */
    T operator+=(change by) noexcept { return static_cast<T>(fetch_add(by) + by); }
    /** Returns the value afterwards. */
    T operator-=(change by) noexcept { return static_cast<T>(fetch_sub(by) - by); }

    /** Sleeps while the value is `old`, until it is notified; by loops, as std::atomic::wait. */
    void wait(T old, order = seq_cst, const where& at = where::current()) const noexcept {
        detail::wait_while_equal(&value_, &old, sizeof old, at);
    }
    /** Wakes one that waits, if any. */
    void notify_one(const where& at = where::current()) noexcept { detail::notify(&value_, false, at); }
    /** Wakes all that wait. */
    void notify_all(const where& at = where::current()) noexcept { detail::notify(&value_, true, at); }

private:
    alignas(std::bit_ceil(sizeof(T))) T value_;
};

}   // namespace weft::sim
