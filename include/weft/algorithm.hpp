// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops, reductions, scans, sorts and groups of tasks: what most programs begin with.
//
//     weft::parallel_for(0, n, [&](int i) { y[i] += a * x[i]; });
//     const double norm =
//         weft::parallel_reduce(x, 0.0, std::plus<>(), [](double v) { return v * v; });
//     weft::parallel_sort(names);
//
// **What they promise.** Each call returns when all its work is done, so its arguments may lie on
// the caller's stack. Elements run in the calling unit and, when other streams (in an arena: its
// harts) have nothing to do, also in units on those streams, in any order and at the same time:
// elements must not race with each other. The functions are called as const, and are copied only
// where the copy cannot be observed. They may wait, lock, throw, and call algorithms themselves.
//
// **Where.** From any unit, in an arena (<weft/arena.hpp>) or not, and from OS threads that are not
// streams: such a thread begins alone, hands what is left after some 20 us to a unit of the
// runtime, and waits for that unit. Without a runtime, and where the caller may not suspend, the
// calls are plain loops. All of them may switch.
//
// **How the work is split.** There is no grain size to tune. A call runs its elements one after the
// other, as a plain loop does, and checks now and then whether another stream asks for work. If one
// does, and the rest is worth a steal (some 4 us), the rest is cut in two, and so are the halves in
// their turn. So a short loop stays a loop, and a long one is cut a few times for each stream,
// however many elements it has. weft::splitting overrides this.
//
// **Options** come last, in any order, each at most once: a weft::splitting, and a std::stop_token.
// With a token, no batch of elements begins once a stop was requested (batches that run are
// finished first), and the call says whether all was done. A call that returns nothing without a
// token then returns bool; a call that returns a value then returns a std::optional of it, which is
// empty if something was left out.
//
// **Exceptions.** The call rethrows the first exception that leaves an element's function, after
// the batches that run have ended. Elements that have not begun by then are left out, as after a
// stop. All other exceptions are dropped. this_thread::exit() in an element ends the caller.
//
// Since 0.4.
#pragma once

#include <weft/language.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/arena.h>
#include <weft/domain.h>
#include <weft/runtime.h>
#include <weft/stream.h>
#include <weft/parallel.hpp>
#include <weft/status.hpp>
#include <weft/sync.hpp>
#include <weft/thread.hpp>

namespace weft {
inline namespace v0 {

/** How the work of a parallel algorithm is split, instead of automatically; to be written with
 * designated initialisers. */
struct splitting {
    /** At least this many elements stay together, and pieces of this size are taken to be worth a
     * steal: nothing is measured. 0: as the head of this file says. */
    std::size_t grain = 0;
    /** For parallel_reduce: the number of elements and the grain (0: 1024) alone determine how
     * operands are bracketed, whichever streams help and however many there are. So sums of
     * floating-point numbers are equal each time, to the bit. */
    bool reproducible = false;
};

namespace detail {

// ---- options ------------------------------------------------------------------------------------

/** An option of a parallel algorithm. */
template <class Option>
concept option = std::same_as<Option, splitting> || std::same_as<Option, std::stop_token>;

// Whether a call with these options can be stopped.
template <class... Options>
inline constexpr bool stoppable = (std::same_as<Options, std::stop_token> || ...);

// The return type with these options of an algorithm that returns Result without a token.
template <class Result, class... Options>
struct answer_of : std::type_identity<std::optional<Result>> {};
template <class Result, class... Options>
requires(!stoppable<Options...>) struct answer_of<Result, Options...> : std::type_identity<Result> {
};
template <class... Options>
requires stoppable<Options...>
struct answer_of<void, Options...> : std::type_identity<bool> {
};
template <class Result, class... Options>
using answer = typename answer_of<Result, Options...>::type;

// The options of a call, including those that are left out.
struct chosen {
    splitting how;
    std::stop_token stop;

    void take(const splitting& one) noexcept { how = one; }
    void take(std::stop_token&& one) noexcept { stop = std::move(one); }
};
template <class... Options>
chosen choose(Options&&... options) {
    static_assert(
        (std::same_as<Options, splitting> + ... + 0) <= 1 && (std::same_as<Options, std::stop_token> + ... + 0) <= 1,
        "an option is given twice");
    chosen made;
    (made.take(std::move(options)), ...);
    return made;
}

// ---- the elements -------------------------------------------------------------------------------

// Elements by their indices from 0: whole numbers from `first` on. Their count is computed in
// unsigned arithmetic, so that a range may cross zero and be as long as the type is wide.
template <std::integral Number>
class numbers {
    using modular = std::make_unsigned_t<Number>;

public:
    template <class Last>
    numbers(Number first, Last last) noexcept
        : first_(static_cast<modular>(first)),
          count_(std::cmp_less(first, last)
                     ? static_cast<modular>(static_cast<modular>(last) - static_cast<modular>(first))
                     : 0) {}

    std::size_t size() const noexcept { return count_; }
    Number operator[](std::size_t i) const noexcept {
        return static_cast<Number>(static_cast<modular>(first_ + static_cast<modular>(i)));
    }

    template <class F>
    [[gnu::always_inline]] void each(std::size_t begin, std::size_t end, F&& f) const {
        const numbers own = *this;   // f cannot write to this copy
        for (; begin != end; ++begin) f(own[begin]);
    }

private:
    modular first_;
    std::size_t count_;
};

// The elements between a random-access iterator and its end.
template <std::random_access_iterator Iterator>
class places {
    using difference = std::iter_difference_t<Iterator>;

public:
    places(Iterator first, std::size_t count) : first_(std::move(first)), count_(count) {}

    std::size_t size() const noexcept { return count_; }
    Iterator at(std::size_t i) const { return first_ + static_cast<difference>(i); }
    decltype(auto) operator[](std::size_t i) const { return *at(i); }

    template <class F>
    [[gnu::always_inline]] void each(std::size_t begin, std::size_t end, F&& f) const {
        Iterator place = at(begin);
        for (; begin != end; ++begin, ++place) f(*place);
    }

private:
    Iterator first_;
    std::size_t count_;
};

// Two whole numbers, of any types: they bound a range of their common type.
template <class First, class Last>
concept whole_numbers =
    std::integral<First> && std::integral<Last> && !std::same_as<First, bool> && !std::same_as<Last, bool>;
template <class First, class Last>
requires whole_numbers<First, Last>
auto sequence(First first, Last last) noexcept {
    return numbers<std::common_type_t<First, Last>>(static_cast<std::common_type_t<First, Last>>(first),
                                                    static_cast<std::common_type_t<First, Last>>(last));
}
template <std::random_access_iterator First, std::sized_sentinel_for<First> Last>
auto sequence(First first, Last last) {
    const auto count = last - first;
    return places<First>(std::move(first), static_cast<std::size_t>(count));
}

/** The two bounds of a range whose elements are known by their indices: two whole numbers, or an
 * iterator with random access and its sized sentinel. */
template <class First, class Last>
concept bounds = whole_numbers<First, Last> ||
    (std::random_access_iterator<First>&& std::sized_sentinel_for<Last, First>);

/** A range whose elements are known by their indices. */
template <class Range>
concept numbered_range = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range>;

template <numbered_range Range>
auto sequence_of(Range&& range) {
    return places<std::ranges::iterator_t<Range>>(std::ranges::begin(range),
                                                  static_cast<std::size_t>(std::ranges::size(range)));
}

template <class Sequence>
using element_of = decltype(std::declval<const Sequence&>()[std::size_t{0}]);
template <class First, class Last>
using element_between = element_of<decltype(sequence(std::declval<First>(), std::declval<Last>()))>;
template <class Range>
using element_in = element_of<decltype(sequence_of(std::declval<Range&>()))>;

/** A function of one element, to be called for each element between two bounds or of a range. */
template <class F, class First, class Last>
concept takes_each_between = bounds<First, Last> && std::invocable<const F&, element_between<First, Last>>;
template <class F, class Range>
concept takes_each_in = numbered_range<Range> && std::invocable<const F&, element_in<Range>>;

// A call that fits none of an algorithm's overloads selects an overload that takes `anything` by a
// conversion, so that every other overload is preferred to it. Its static_assert lists the
// overloads in one sentence, where the compiler would list each overload and why it does not match.
// The concepts of this file decide whether a call fits.
struct anything {
    anything() = default;
    template <class T>
    anything(const T&) {}
};
template <class>
inline constexpr bool fits = false;

// ---- splitting ----------------------------------------------------------------------------------

// Whether a fork would publish its job to a stream that has asked for work.
[[gnu::always_inline]] inline bool work_is_wanted(const weft_jobs& jobs) noexcept {
    // relaxed: to see a steal request a little later does no harm
    return __atomic_load_n(&jobs.closed, __ATOMIC_RELAXED);
}

// The state that all pieces of one call share. It lies on the caller's stack. The caller joins all
// pieces before it returns, which orders their last accesses before its own.
class common {
public:
    explicit common(chosen&& options) noexcept
        : stop_(std::move(options.stop)), grain(options.how.grain), stoppable_(stop_.stop_possible()) {}
    common(const common&) = delete;
    common& operator=(const common&) = delete;

    // Whether to leave out the elements that have not begun.
    bool over() noexcept {
        // relaxed: no data depends on it
        if (over_.load(std::memory_order_relaxed)) [[unlikely]]
            return true;
        if (!stoppable_ || !stop_.stop_requested()) [[likely]]
            return false;
        over_.store(true, std::memory_order_relaxed);
        return true;
    }
    // Called in a handler: keeps the exception, if it is the first.
    void fail() noexcept {
        // relaxed: the joins order the rest
        if (!failed_.exchange(true, std::memory_order_relaxed)) thrown_ = std::current_exception();
        over_.store(true, std::memory_order_relaxed);
    }
    // Called by the caller at the end: true when nothing was left out.
    bool settle() {
        if (thrown_) std::rethrow_exception(std::move(thrown_));
        return !over_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<bool> over_{false};
    std::atomic<bool> failed_{false};
    std::exception_ptr thrown_;
    std::stop_token stop_;

public:
    const std::size_t grain;   // 0: measured

private:
    const bool stoppable_;
};

// On how many harts pieces may run at once: on the harts of an arena; in another library's domain
// on the caller's alone; elsewhere on as many as there are streams.
inline std::size_t parallelism() noexcept {
    std::size_t harts = 1;
    if (const weft_arena* const arena = weft_arena_self();
        arena != nullptr && weft_arena_harts_get(arena, &harts) == WEFT_OK)
        return harts;
    return weft_domain_self() != nullptr ? 1 : weft_stream_count();
}

// Measures how fast one piece runs, and so decides how many elements it runs before it checks for
// requests again. A quiet piece, of which no stream asks for a part, reads no clock: it runs an
// eighth of its elements, so that a stream that asks waits for an eighth of the piece at most,
// however long an element takes. A piece that is asked for a part measures itself until it knows
// whether the rest is worth splitting.
class pace {
public:
    static constexpr std::size_t most_at_once = 1024;   // so that stops and exceptions are seen
    // a measurement of this length is neither an accident nor mostly the clock's own cost
    static constexpr std::uint64_t settled_ns = 500;
    static constexpr double worth_ns = 4000;           // several times the cost of a steal and its join
    static constexpr double between_looks_ns = 1000;   // long compared with reading the clock
    static constexpr std::uint64_t alone_ns = 20000;   // an OS thread that is not a stream begins alone
    static constexpr double worth_a_unit_ns = 50000;

    pace(std::size_t grain, std::size_t count) noexcept
        : quiet_batch_(batch_of(count, grain)),
          grain_(grain),
          guest_(weft_jobs_here() == nullptr),
          alone_(guest_ && !weft_initialized()) {}

    // The pace of a part of the piece, with `count` elements. The part runs on a stream, wherever
    // the piece has run.
    pace of_part(std::size_t count) const noexcept {
        pace made = *this;
        made.guest_ = made.alone_ = false;
        made.since_ns_ = 0;
        made.quiet_batch_ = batch_of(count, grain_);
        return made;
    }
    bool guest() const noexcept { return guest_; }
    // Called after work other than elements.
    void measure_anew() noexcept { since_ns_ = 0; }
    // The number of elements that take `ns`; unlimited when the pace is not known.
    std::size_t elements_in(double ns) const noexcept {
        if (element_ns_ == 0) return static_cast<std::size_t>(-1);
        return std::max({static_cast<std::size_t>(ns / element_ns_), grain_, std::size_t{1}});
    }

    // How many of the `rest` > 0 elements that are left to run now; 0: they are to be split.
    [[gnu::always_inline]] std::size_t next(std::size_t rest) noexcept {
        const weft_jobs* const jobs = weft_jobs_here();
        if (jobs != nullptr && !work_is_wanted(*jobs)) [[likely]] {
            since_ns_ = 0;
            return quiet(rest);
        }
        return asked(rest);
    }

private:
    std::size_t quiet(std::size_t rest) const noexcept {
        if (element_ns_ != 0) [[unlikely]]
            return std::min({rest, quiet_batch_, elements_in(worth_ns)});
        return std::min(rest, quiet_batch_);
    }

    [[gnu::noinline]] std::size_t asked(std::size_t rest) noexcept {
        if (alone_) return std::min(rest, most_at_once);
        if (rest == 1) return 1;
        if (grain_ != 0) {
            if (rest / 2 < grain_) return rest;
            if (!guest_) return 0;
        }
        const std::uint64_t now = weft_now_ns();
        const double worth = guest_ ? worth_a_unit_ns : worth_ns;
        std::size_t count = 1;
        if (since_ns_ == 0) {
            if (!guest_ && (element_ns_ == 0 ? few(rest) : element_ns_ * static_cast<double>(rest) >= worth)) return 0;
            since_ns_ = now;
            measured_ = 0;
        } else {
            const std::uint64_t elapsed = now - since_ns_;
            element_ns_ = static_cast<double>(std::max<std::uint64_t>(elapsed, 1)) / static_cast<double>(measured_);
            const bool known = elapsed >= (guest_ ? alone_ns : settled_ns);
            if (known && element_ns_ * static_cast<double>(rest) >= worth) return 0;
            count = static_cast<std::size_t>(between_looks_ns / element_ns_);
        }
        count = std::min(rest, std::clamp(count, std::max<std::size_t>(1, grain_), std::max(most_at_once, grain_)));
        measured_ += count;
        return count;
    }

    static std::size_t batch_of(std::size_t count, std::size_t grain) noexcept {
        return std::max({std::min(count / 8, most_at_once), grain, std::size_t{1}});
    }

    // So few elements that each may be long, and that splitting costs little if they are not:
    // nothing is measured. Of more elements, one is run first, to measure it.
    static bool few(std::size_t rest) noexcept { return rest <= 64 && rest <= 8 * parallelism(); }

    double element_ns_ = 0;        // 0: not known
    std::uint64_t since_ns_ = 0;   // when the measurement began; 0: no measurement is running
    std::size_t measured_ = 0;     // elements run since then
    std::size_t quiet_batch_;
    std::size_t grain_;
    bool guest_;   // on an OS thread that is not a stream
    bool alone_;   // on such a thread, and there is no runtime
};

// Calls f() in a unit of the runtime and waits for it; calls it here if no unit can be spawned. f
// must not throw.
template <class F>
void in_a_unit(F&& f) noexcept {
    thread helper;
    try {
        helper = thread([&f]() noexcept { f(); });
    } catch (...) {
        f();
        return;
    }
    try {
        helper.join();
    } catch (const not_returned& end) {
        if (end.outcome() != unit_outcome::no_stack) std::terminate();   // it was cancelled in the middle
        f();
    }
}

// Splits a piece: calls left() and right(), perhaps at once. A guest has no stream to share with,
// so for a guest all() runs the whole piece in a unit. None of the three throws.
template <class Left, class Right, class All>
void split(const pace& now, Left&& left, Right&& right, All&& all) noexcept {
    if (now.guest()) {
        in_a_unit(all);
    } else {
        weft::invoke(left, right);
    }
}

// Runs batch(begin, end) over the elements from `begin` to `end`, and shares them with streams that
// ask for work.
template <class Batch>
void run_piece(common& all, const Batch& batch, std::size_t begin, std::size_t end, pace now) noexcept {
    while (begin != end) {
        if (all.over()) return;
        const std::size_t count = now.next(end - begin);
        if (count == 0) {
            const std::size_t middle = begin + (end - begin) / 2;
            return split(
                now, [&]() noexcept { run_piece(all, batch, begin, middle, now.of_part(middle - begin)); },
                [&]() noexcept { run_piece(all, batch, middle, end, now.of_part(end - middle)); },
                [&]() noexcept { run_piece(all, batch, begin, end, now.of_part(end - begin)); });
        }
        try {
            batch(begin, begin + count);
        } catch (...) {
            return all.fail();
        }
        begin += count;
    }
}

template <class Sequence, class F, class... Options>
answer<void, Options...> for_each_in(const Sequence& elements, const F& f, Options... options) {
    common all(choose(std::move(options)...));
    const auto batch = [&](std::size_t begin, std::size_t end) {
        // A small trivially copyable function is copied, so that the compiler knows that f cannot
        // write to its own captures, and may keep them in registers.
        using held = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, const F, const F&>;
        held own = f;
        elements.each(begin, end, [&](auto&& element) { std::invoke(own, std::forward<decltype(element)>(element)); });
    };
    run_piece(all, batch, 0, elements.size(), pace(all.grain, elements.size()));
    const bool whole = all.settle();
    if constexpr (stoppable<Options...>) return whole;
}

}   // namespace detail

// ---- loops --------------------------------------------------------------------------------------

/** Calls f(i) for each whole number i from `first` up to, but not including, `last`; or f(*i) for
 * each iterator i between the two.
 *
 * first, last  whole numbers, of one type or of two: i has their common type, which must be able to
 *              hold both; with `first` not below `last` nothing is called. Or an iterator with
 *              random access and its sized sentinel
 * f            called as const, by several streams at once; its result is ignored
 * options      see the head of this file
 *
 * Returns nothing; with a std::stop_token, whether all was done. Throws the first exception that
 * leaves f. May switch. */
template <class First, class Last, detail::takes_each_between<First, Last> F, detail::option... Options>
detail::answer<void, Options...> parallel_for(First first, Last last, const F& f, Options... options) {
    return detail::for_each_in(detail::sequence(std::move(first), std::move(last)), f, std::move(options)...);
}

/** As parallel_for(first, last, f), for each element of a range with random access and a size:
 * calls f(element). */
template <detail::numbered_range Range, detail::takes_each_in<Range> F, detail::option... Options>
detail::answer<void, Options...> parallel_for(Range&& range, const F& f, Options... options) {
    return detail::for_each_in(detail::sequence_of(range), f, std::move(options)...);
}

/** Chosen by a call that fits none of the overloads: lists the overloads, and does not compile. */
template <class Call = void>
void parallel_for(detail::anything, detail::anything, detail::anything = {}, detail::anything = {},
                  detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
    static_assert(detail::fits<Call>,
                  "weft::parallel_for(first, last, f, options...) or (range, f, options...): whole numbers, iterators "
                  "with random access, or a range that has it and a size; f takes an element, and is called as const");
}

// ---- reductions ---------------------------------------------------------------------------------

namespace detail {

// The grain of a reproducible reduction for which none is given; see splitting::reproducible.
inline constexpr std::size_t reproducible_grain = 1024;

/** What an operation must support to reduce values made from elements to one value. */
template <class Op, class Value, class Element>
concept reduces =
    std::movable<Value> && std::constructible_from<Value, Element> && std::invocable<const Op&, Value, Element> &&
    std::convertible_to<std::invoke_result_t<const Op&, Value, Element>, Value> &&
    std::invocable<const Op&, Value, Value> &&
    std::convertible_to<std::invoke_result_t<const Op&, Value, Value>, Value>;

template <class Transform, class Element>
using transformed = std::invoke_result_t<const Transform&, Element>;

template <class Op, class Value, class First, class Last>
concept reduces_between = bounds<First, Last> && reduces<Op, Value, element_between<First, Last>>;
template <class Op, class Value, class Range>
concept reduces_in = numbered_range<Range> && reduces<Op, Value, element_in<Range>>;
template <class Transform, class Op, class Value, class First, class Last>
concept transforms_between = takes_each_between<Transform, First, Last> &&
    reduces<Op, Value, transformed<Transform, element_between<First, Last>>>;
template <class Transform, class Op, class Value, class Range>
concept transforms_in =
    takes_each_in<Transform, Range> && reduces<Op, Value, transformed<Transform, element_in<Range>>>;

// A reduction of elements. The results of the pieces lie in the frames that split them. A piece
// begins with a value: the caller's, or one made from its first element.
template <class Value, class Sequence, class Op, class Transform>
struct reduction {
    common& all;
    const Sequence& elements;
    const Op& op;
    const Transform& transform;

    // Leaves `result` empty when something was left out.
    void run(std::optional<Value>& result, Value& before, std::size_t begin, std::size_t end, pace now) const noexcept {
        try {
            Value value = std::move(before);
            while (begin != end) {
                if (all.over()) return;
                const std::size_t count = now.next(end - begin);
                if (count == 0) return share(result, value, begin, end, now);
                Value sum = std::move(value);   // its address never escapes: it may lie in a register
                elements.each(begin, begin + count, [&](auto&& element) {
                    sum = std::invoke(op, std::move(sum),
                                      std::invoke(transform, std::forward<decltype(element)>(element)));
                });
                value = std::move(sum);
                begin += count;
            }
            result.emplace(std::move(value));
        } catch (...) {
            all.fail();
        }
    }

    void run_fresh(std::optional<Value>& result, std::size_t begin, std::size_t end, const pace& now) const noexcept {
        if (all.over()) return;
        try {
            Value first = first_of(begin);
            run(result, first, begin + 1, end, now);
        } catch (...) {
            all.fail();
        }
    }

    // Splits in halves down to the grain, whether or not a stream asks for work.
    void run_reproducibly(std::optional<Value>& result, std::size_t begin, std::size_t end,
                          std::size_t grain) const noexcept {
        if (all.over()) return;
        try {
            if (end - begin <= grain) {
                Value value = first_of(begin);
                elements.each(begin + 1, end, [&](auto&& element) {
                    value = std::invoke(op, std::move(value),
                                        std::invoke(transform, std::forward<decltype(element)>(element)));
                });
                result.emplace(std::move(value));
                return;
            }
            const std::size_t middle = begin + (end - begin) / 2;
            std::optional<Value> left, right;
            weft::invoke([&]() noexcept { run_reproducibly(left, begin, middle, grain); },
                         [&]() noexcept { run_reproducibly(right, middle, end, grain); });
            join(result, left, right);
        } catch (...) {
            all.fail();
        }
    }

    void join(std::optional<Value>& result, std::optional<Value>& left, std::optional<Value>& right) const {
        if (left && right) result.emplace(std::invoke(op, std::move(*left), std::move(*right)));
    }

private:
    Value first_of(std::size_t i) const { return Value(std::invoke(transform, elements[i])); }

    void share(std::optional<Value>& result, Value& value, std::size_t begin, std::size_t end, const pace& now) const {
        const std::size_t middle = begin + (end - begin) / 2;
        std::optional<Value> left, right;
        split(
            now, [&]() noexcept { run(left, value, begin, middle, now.of_part(middle - begin)); },
            [&]() noexcept { run_fresh(right, middle, end, now.of_part(end - middle)); },
            [&]() noexcept { run(result, value, begin, end, now.of_part(end - begin)); });
        if (!now.guest()) join(result, left, right);
    }
};

template <class Value, class Sequence, class Op, class Transform, class... Options>
answer<Value, Options...> reduce_in(const Sequence& elements, Value init, const Op& op, const Transform& transform,
                                    Options... options) {
    chosen how = choose(std::move(options)...);
    const std::size_t fixed_grain = how.how.grain == 0 ? reproducible_grain : how.how.grain;
    const bool reproducible = how.how.reproducible && elements.size() != 0;
    common all(std::move(how));
    const reduction<Value, Sequence, Op, Transform> pieces{all, elements, op, transform};
    std::optional<Value> result;
    if (reproducible) {
        std::optional<Value> sum, before(std::move(init));
        const auto run = [&]() noexcept { pieces.run_reproducibly(sum, 0, elements.size(), fixed_grain); };
        if (weft_jobs_here() == nullptr && elements.size() > fixed_grain && weft_initialized()) {
            in_a_unit(run);
        } else {
            run();
        }
        if (sum) pieces.join(result, before, sum);
    } else {
        pieces.run(result, init, 0, elements.size(), pace(all.grain, elements.size()));
    }
    all.settle();
    if constexpr (stoppable<Options...>) {
        return result;   // empty if something was left out: see run()
    } else {
        return std::move(*result);
    }
}

}   // namespace detail

/** The sum of `init` and all elements from `first` to `last`, which are whole numbers or what
 * iterators point to, where op(a, b) adds: op(...op(op(init, e0), e1)..., en), possibly bracketed
 * in another way.
 *
 * first, last  as in parallel_for
 * init         the leftmost operand, used once; its type is the type of the result. It need be
 *              neither copyable nor default-constructible
 * op           must be associative: it is called with two values, or with a value and an element,
 *              and its left operand stood further left. It need not be commutative: operands keep
 *              their order. So joining strings is right. A floating-point sum has rounding errors
 *              that differ from call to call, unless splitting{.reproducible = true} is given
 * options      see the head of this file
 *
 * Returns the sum; with a std::stop_token, an empty optional if something was left out. Throws the
 * first exception that leaves op. May switch. */
template <class First, class Last, class Value, detail::reduces_between<Value, First, Last> Op = std::plus<>,
          detail::option... Options>
detail::answer<Value, Options...> parallel_reduce(First first, Last last, Value init, const Op& op = Op(),
                                                  Options... options) {
    return detail::reduce_in(detail::sequence(std::move(first), std::move(last)), std::move(init), op, std::identity(),
                             std::move(options)...);
}

/** As parallel_reduce(first, last, init, op), for the results of transform(element) for each
 * element. */
template <class First, class Last, class Value, class Op, detail::transforms_between<Op, Value, First, Last> Transform,
          detail::option... Options>
detail::answer<Value, Options...> parallel_reduce(First first, Last last, Value init, const Op& op,
                                                  const Transform& transform, Options... options) {
    return detail::reduce_in(detail::sequence(std::move(first), std::move(last)), std::move(init), op, transform,
                             std::move(options)...);
}

/** As parallel_reduce(first, last, init, op), for the elements of a range with random access and a
 * size. */
template <detail::numbered_range Range, class Value, detail::reduces_in<Value, Range> Op = std::plus<>,
          detail::option... Options>
detail::answer<Value, Options...> parallel_reduce(Range&& range, Value init, const Op& op = Op(), Options... options) {
    return detail::reduce_in(detail::sequence_of(range), std::move(init), op, std::identity(), std::move(options)...);
}

/** As parallel_reduce(range, init, op), for the results of transform(element) for each element of
 * the range. */
template <detail::numbered_range Range, class Value, class Op, detail::transforms_in<Op, Value, Range> Transform,
          detail::option... Options>
detail::answer<Value, Options...> parallel_reduce(Range&& range, Value init, const Op& op, const Transform& transform,
                                                  Options... options) {
    return detail::reduce_in(detail::sequence_of(range), std::move(init), op, transform, std::move(options)...);
}

/** Chosen by a call that fits none of the overloads: lists the overloads, and does not compile. */
template <class Call = void>
void parallel_reduce(detail::anything, detail::anything, detail::anything = {}, detail::anything = {},
                     detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
    static_assert(
        detail::fits<Call>,
        "weft::parallel_reduce(first, last, init, op, transform, options...) or (range, init, ...): bounds and "
        "ranges as in weft::parallel_for; op takes two values, and a value and an element, or what transform "
        "makes of one, and returns a value of init's type; it is called as const");
}

// ---- scans --------------------------------------------------------------------------------------

namespace detail {

/** An output for the values of a scan. */
template <class Output, class Value>
concept scan_output = std::random_access_iterator<Output> && std::indirectly_writable<Output, const Value&>;

template <class Element>
using value_of = std::remove_cvref_t<Element>;

/** What an operation must support to scan elements. */
template <class Op, class Value, class Element, class Output>
concept scans = reduces<Op, Value, Element> && std::copyable<Value> && scan_output<Output, Value>;

template <class Op, class Output, class First, class Last>
concept scans_between =
    bounds<First, Last> && scans<Op, value_of<element_between<First, Last>>, element_between<First, Last>, Output>;
template <class Op, class Output, class Range>
concept scans_in = numbered_range<Range> && scans<Op, value_of<element_in<Range>>, element_in<Range>, Output>;
template <class Op, class Output, class Value, class First, class Last>
concept scans_from_between = bounds<First, Last> && scans<Op, Value, element_between<First, Last>, Output>;
template <class Op, class Output, class Value, class Range>
concept scans_from_in = numbered_range<Range> && scans<Op, Value, element_in<Range>, Output>;

// The caller scans from left to right as long as no stream asks for work. When one does, the next
// blocks are done together, in a round: the first blocks are scanned as before, while the helping
// streams only add up the others; then the sum before each block is known, and the blocks are
// scanned at the same time. With P streams a round has P + 1 blocks and takes the time of two: the
// minimum for a scan that reads its elements twice at most. A block that a helper gets only when
// all blocks before it are done is scanned directly.
template <class Value, class Sequence, class Output, class Op, bool inclusive>
class scan {
    using output_difference = std::iter_difference_t<Output>;
    static constexpr std::size_t most_blocks = 65;
    static constexpr double block_ns = 200000;   // long against a round's joins, short against a cache's contents

public:
    scan(common& all, const Sequence& elements, Output output, const Op& op)
        : all_(all), elements_(elements), output_(std::move(output)), op_(op) {}

    // Scans from element `begin` on. `before` is the sum of the elements before it.
    void run(Value& before, std::size_t begin, pace now) noexcept {
        try {
            while (begin != elements_.size()) {
                if (all_.over()) return;
                const std::size_t count = now.next(elements_.size() - begin);
                if (count != 0) {
                    finish(before, begin, begin + count);
                    begin += count;
                } else if (now.guest()) {
                    return in_a_unit([&]() noexcept { run(before, begin, now.of_part(elements_.size() - begin)); });
                } else {
                    begin = round(before, begin, now);
                }
            }
        } catch (...) {
            all_.fail();
        }
    }

private:
    struct round_state {
        std::size_t begin, length, blocks, end;
        Value& before;                            // the sum before block `done`, for the stream that runs it
        std::vector<std::optional<Value>> sums;   // the sums of the blocks, later the sums before them
        std::atomic<std::size_t> done{0};         // how many blocks from the left are finished

        std::size_t first_of(std::size_t block) const noexcept { return std::min(begin + block * length, end); }
    };

    // Writes the outputs of [begin, end). `before` is the sum before `begin`, and afterwards the
    // sum before `end`. Each element is read before the output at its index is written.
    void finish(Value& before, std::size_t begin, std::size_t end) const {
        Value value = std::move(before);
        Output place = output_ + static_cast<output_difference>(begin);
        elements_.each(begin, end, [&](auto&& element) {
            if constexpr (inclusive) {
                value = std::invoke(op_, std::move(value), std::forward<decltype(element)>(element));
                *place = std::as_const(value);
            } else {
                const Value shown = value;
                value = std::invoke(op_, std::move(value), std::forward<decltype(element)>(element));
                *place = shown;
            }
            ++place;
        });
        before = std::move(value);
    }

    std::size_t round(Value& before, std::size_t begin, pace& now) {
        now.measure_anew();
        const std::size_t rest = elements_.size() - begin;
        const std::size_t blocks = std::min({parallelism() + 1, most_blocks, rest});
        const std::size_t length = std::clamp((rest - 1) / blocks + 1, std::size_t{1}, now.elements_in(block_ns));
        const std::size_t end = begin + std::min(rest, length * blocks);
        round_state state{begin, length, (end - begin - 1) / length + 1, end, before, {}};
        try {
            state.sums.resize(state.blocks);
        } catch (const std::bad_alloc&) {
            finish(before, begin, end);
            return end;
        }
        add_up(state, 0, state.blocks);
        if (all_.over()) return end;
        const std::size_t done = state.done.load(std::memory_order_relaxed);   // relaxed: all forks are joined
        if (done == state.blocks) return end;
        for (std::size_t block = done; block != state.blocks; ++block) {
            std::optional<Value>& sum = state.sums[block];
            if (block + 1 == state.blocks) {
                sum.emplace(std::move(before));
            } else {
                Value next = std::invoke(op_, Value(before), std::move(*sum));
                sum.emplace(std::move(before));
                before = std::move(next);
            }
        }
        finish_all(state, done, state.blocks);
        before = std::move(*state.sums.back());
        return end;
    }

    // Handles each block of [first, last): scans it if all blocks before it are scanned, otherwise
    // adds it up. The last block of the round need not be added up.
    void add_up(round_state& state, std::size_t first, std::size_t last) noexcept {
        if (last - first > 1) {
            const std::size_t middle = first + (last - first) / 2;
            weft::invoke([&]() noexcept { add_up(state, first, middle); },
                         [&]() noexcept { add_up(state, middle, last); });
            return;
        }
        if (all_.over()) return;
        try {
            const std::size_t begin = state.first_of(first), end = state.first_of(first + 1);
            // acquire and release: the stream that runs the next block gets `before` from the
            // stream that ran this one. No other stream can change `done` while it is `first`.
            if (state.done.load(std::memory_order_acquire) == first) {
                finish(state.before, begin, end);
                state.done.store(first + 1, std::memory_order_release);
            } else if (last != state.blocks) {
                Value sum(elements_[begin]);
                elements_.each(begin + 1, end, [&](auto&& element) {
                    sum = std::invoke(op_, std::move(sum), std::forward<decltype(element)>(element));
                });
                state.sums[first].emplace(std::move(sum));
            }
        } catch (...) {
            all_.fail();
        }
    }

    void finish_all(round_state& state, std::size_t first, std::size_t last) noexcept {
        if (last - first > 1) {
            const std::size_t middle = first + (last - first) / 2;
            weft::invoke([&]() noexcept { finish_all(state, first, middle); },
                         [&]() noexcept { finish_all(state, middle, last); });
            return;
        }
        if (all_.over()) return;
        try {
            finish(*state.sums[first], state.first_of(first), state.first_of(last));
        } catch (...) {
            all_.fail();
        }
    }

    common& all_;
    const Sequence& elements_;
    const Output output_;
    const Op& op_;
};

// Scans from element `begin` on; `before` is the sum of the elements before it.
template <bool inclusive, class Value, class Sequence, class Output, class Op, class... Options>
answer<Output, Options...> scan_in(const Sequence& elements, Output output, Value before, std::size_t begin,
                                   const Op& op, Options... options) {
    common all(choose(std::move(options)...));
    scan<Value, Sequence, Output, Op, inclusive>(all, elements, output, op)
        .run(before, begin, pace(all.grain, elements.size()));
    const bool whole = all.settle();
    Output end = output + static_cast<std::iter_difference_t<Output>>(elements.size());
    if constexpr (stoppable<Options...>) {
        return whole ? answer<Output, Options...>(std::move(end)) : std::nullopt;
    } else {
        return end;
    }
}

// A scan without an initial value: the first output is the first element.
template <class Sequence, class Output, class Op, class... Options>
answer<Output, Options...> scan_from_first(const Sequence& elements, Output output, const Op& op, Options... options) {
    if (elements.size() == 0) return output;
    std::remove_cvref_t<element_of<Sequence>> before(elements[0]);
    *output = std::as_const(before);
    return scan_in<true>(elements, output, std::move(before), 1, op, std::move(options)...);
}

}   // namespace detail

/** For each element, the sum of the elements up to and including it (std::inclusive_scan):
 * output[0] = e0, output[1] = op(e0, e1), and so on.
 *
 * first, last  as in parallel_for
 * output       an iterator with random access to as many places as there are elements; `first`
 *              itself is allowed (in place), any other overlap is not
 * op           as in parallel_reduce; called up to twice for an element when other streams help.
 *              Its values are copied
 * options      see the head of this file
 *
 * Returns the end of the output; with a std::stop_token, an empty optional if something was left
 * out. In that case, and after an exception, outputs may be missing anywhere, but those that are
 * there are right. With the help of other streams a scan takes 2 / (streams + 1) of the time, and
 * some memory: a value for each stream. If there is no memory, it does without the help. Throws the
 * first exception that leaves op or a copy. May switch. */
template <class First, class Last, class Output, detail::scans_between<Output, First, Last> Op = std::plus<>,
          detail::option... Options>
detail::answer<Output, Options...> parallel_scan(First first, Last last, Output output, const Op& op = Op(),
                                                 Options... options) {
    return detail::scan_from_first(detail::sequence(std::move(first), std::move(last)), std::move(output), op,
                                   std::move(options)...);
}

/** As parallel_scan(first, last, output, op), for the elements of a range with random access and a
 * size. */
template <detail::numbered_range Range, class Output, detail::scans_in<Output, Range> Op = std::plus<>,
          detail::option... Options>
detail::answer<Output, Options...> parallel_scan(Range&& range, Output output, const Op& op = Op(),
                                                 Options... options) {
    return detail::scan_from_first(detail::sequence_of(range), std::move(output), op, std::move(options)...);
}

/** Chosen by a call that fits none of the overloads: lists the overloads, and does not compile. */
template <class Call = void>
void parallel_scan(detail::anything, detail::anything, detail::anything = {}, detail::anything = {},
                   detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
    static_assert(
        detail::fits<Call>,
        "weft::parallel_scan(first, last, output, op, options...) or (range, output, op, options...): bounds "
        "and ranges as in weft::parallel_for; output is an iterator with random access that takes an element's "
        "value; op takes two values and returns one, which is copied; it is called as const");
}

/** For each element, the sum of `init` and the elements before it (std::exclusive_scan): output[0]
 * = init, output[1] = op(init, e0), and so on. Otherwise as parallel_scan. */
template <class First, class Last, class Output, class Value,
          detail::scans_from_between<Output, Value, First, Last> Op = std::plus<>, detail::option... Options>
detail::answer<Output, Options...> parallel_exclusive_scan(First first, Last last, Output output, Value init,
                                                           const Op& op = Op(), Options... options) {
    return detail::scan_in<false>(detail::sequence(std::move(first), std::move(last)), std::move(output),
                                  std::move(init), 0, op, std::move(options)...);
}

/** As parallel_exclusive_scan(first, last, output, init, op), for a range with random access and a
 * size. */
template <detail::numbered_range Range, class Output, class Value,
          detail::scans_from_in<Output, Value, Range> Op = std::plus<>, detail::option... Options>
detail::answer<Output, Options...> parallel_exclusive_scan(Range&& range, Output output, Value init,
                                                           const Op& op = Op(), Options... options) {
    return detail::scan_in<false>(detail::sequence_of(range), std::move(output), std::move(init), 0, op,
                                  std::move(options)...);
}

/** Chosen by a call that fits none of the overloads: lists the overloads, and does not compile. */
template <class Call = void>
void parallel_exclusive_scan(detail::anything, detail::anything, detail::anything = {}, detail::anything = {},
                             detail::anything = {}, detail::anything = {}, detail::anything = {},
                             detail::anything = {}) {
    static_assert(
        detail::fits<Call>,
        "weft::parallel_exclusive_scan(first, last, output, init, op, options...) or (range, output, init, op, "
        "options...): as weft::parallel_scan, with values of init's type");
}

// ---- sorting ------------------------------------------------------------------------------------

namespace detail {

template <class Projection, class Iterator, class Compare>
concept sorts = std::sortable<Iterator, Compare, Projection>;

// Quicksort whose two parts are the branches of a fork. The standard library sorts small ranges,
// and ranges that the pivots have not divided well.
template <class Iterator, class Compare, class Projection>
class sort {
    static constexpr std::size_t least = 512;   // sorting so many takes some 10 us: worth a steal

public:
    sort(common& all, const Compare& compare, const Projection& projection)
        : all_(all), compare_(compare), projection_(projection), grain_(std::max(all.grain, least)) {}

    void run(Iterator first, Iterator last, unsigned divisions) const noexcept {
        const auto count = static_cast<std::size_t>(last - first);
        if (count < 2 || all_.over()) return;
        try {
            if (count <= grain_ || divisions == 0) {
                std::ranges::sort(first, last, std::ref(compare_), std::ref(projection_));
                return;
            }
            const Iterator middle = divide(first, last, count);
            weft::invoke([&]() noexcept { run(first, middle, divisions - 1); },
                         [&]() noexcept { run(middle + 1, last, divisions - 1); });
        } catch (...) {
            all_.fail();
        }
    }

    std::size_t grain() const noexcept { return grain_; }

    // Partitions: elements before the returned place are not greater than the element there, and
    // elements behind it are not less. It only swaps, so when a comparison throws, all elements are
    // still in the range. Equal elements go to both sides, so that many of them divide as well as
    // others. No comparison, however inconsistent, leads out of the range.
    Iterator divide(const Iterator& first, const Iterator& last, std::size_t count) const {
        const auto step = static_cast<difference>(count / 8);
        const Iterator centre = first + static_cast<difference>(count / 2);
        const Iterator pivot =
            middle_of(middle_of(first, first + step, first + 2 * step), middle_of(centre - step, centre, centre + step),
                      middle_of(last - 1 - 2 * step, last - 1 - step, last - 1));
        std::ranges::iter_swap(first, pivot);
        Iterator low = first, high = last;
        for (;;) {
            do ++low;
            while (low != last && less(low, first));
            do --high;
            while (high != first && less(first, high));
            if (!(low < high)) break;
            std::ranges::iter_swap(low, high);
        }
        std::ranges::iter_swap(first, high);
        return high;
    }

private:
    using difference = std::iter_difference_t<Iterator>;

    bool less(const Iterator& a, const Iterator& b) const {
        return std::invoke(compare_, std::invoke(projection_, *a), std::invoke(projection_, *b));
    }
    Iterator middle_of(const Iterator& a, const Iterator& b, const Iterator& c) const {
        if (less(a, b)) return less(b, c) ? b : less(a, c) ? c : a;
        return less(a, c) ? a : less(b, c) ? c : b;
    }

    common& all_;
    const Compare& compare_;
    const Projection& projection_;
    const std::size_t grain_;
};

template <class Iterator, class Compare, class Projection, class... Options>
answer<void, Options...> sort_in(Iterator first, std::size_t count, const Compare& compare,
                                 const Projection& projection, Options... options) {
    common all(choose(std::move(options)...));
    const sort<Iterator, Compare, Projection> pieces(all, compare, projection);
    const auto run = [&]() noexcept {
        pieces.run(first, first + static_cast<std::iter_difference_t<Iterator>>(count),
                   2 * static_cast<unsigned>(std::bit_width(count)));
    };
    // An OS thread that is not a stream has no stream to share with. A unit is worth its cost from
    // 4 grains of elements on.
    if (weft_jobs_here() == nullptr && count > 4 * pieces.grain() && weft_initialized()) {
        in_a_unit(run);
    } else {
        run();
    }
    const bool whole = all.settle();
    if constexpr (stoppable<Options...>) return whole;
}

}   // namespace detail

/** Sorts as std::ranges::sort does: afterwards invoke(compare, invoke(projection, b),
 * invoke(projection, a)) is false wherever a stands before b. The sort is not stable: equal
 * elements come in any order.
 *
 * first, last  an iterator with random access and its sized sentinel
 * compare      a strict weak order; like the projection, it is called as const by several streams
 *              at once
 * options      after the projection; see the head of this file. With a grain, one stream sorts at
 *              least that many elements
 *
 * O(n log n) comparisons and exchanges, also in the worst case; each halving takes a frame of some
 * 200 bytes on the stack. On a stream it allocates nothing; an OS thread that is not a stream
 * leaves more than some 2,000 elements to a unit from the start. Elements are only moved: they need
 * not be copyable. With P streams it takes some (2 + log2(n / P) / P) n steps, as one stream alone
 * divides each range.
 *
 * Returns nothing; with a std::stop_token, whether all was done: if not, all elements are still
 * there, in some order. Throws the first exception that leaves compare or projection: then the
 * elements are valid but unspecified, as with std::sort. May switch. */
template <std::random_access_iterator First, std::sized_sentinel_for<First> Last, class Compare = std::ranges::less,
          detail::sorts<First, Compare> Projection = std::identity, detail::option... Options>
detail::answer<void, Options...> parallel_sort(First first, Last last, Compare compare = Compare(),
                                               Projection projection = Projection(), Options... options) {
    const auto count = static_cast<std::size_t>(last - first);
    return detail::sort_in(std::move(first), count, compare, projection, std::move(options)...);
}

/** As parallel_sort(first, last, compare, projection), for a range with random access and a
 * size. */
template <detail::numbered_range Range, class Compare = std::ranges::less,
          detail::sorts<std::ranges::iterator_t<Range>, Compare> Projection = std::identity, detail::option... Options>
detail::answer<void, Options...> parallel_sort(Range&& range, Compare compare = Compare(),
                                               Projection projection = Projection(), Options... options) {
    return detail::sort_in(std::ranges::begin(range), static_cast<std::size_t>(std::ranges::size(range)), compare,
                           projection, std::move(options)...);
}

/** Chosen by a call that fits none of the overloads: lists the overloads, and does not compile. */
template <class Call = void>
void parallel_sort(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {},
                   detail::anything = {}, detail::anything = {}, detail::anything = {}) {
    static_assert(detail::fits<Call>,
                  "weft::parallel_sort(first, last, compare, projection, options...) or (range, compare, projection, "
                  "options...): iterators with random access, or a range that has it and a size; its elements can be "
                  "moved, and compare orders what projection makes of them");
}

// ---- groups of tasks ----------------------------------------------------------------------------

/** A group of tasks that are waited for together: any number of tasks, added at any time, also by
 * tasks of the group.
 *
 *     weft::task_group group;
 *     group.run([] { ... });
 *     group.run([](std::stop_token stop) { while (!stop.stop_requested()) ... });
 *     group.wait();
 *
 * A task is a unit of its own: it may suspend, and may run on any stream. Each task takes one
 * allocation, for its function and the function's captures, and frees it when it has ended. The
 * group itself takes one, for its stop state.
 *
 * cancel(), a stop of the token that the group was made with, and an exception that leaves a task
 * each stop the group. A stopped group begins no more tasks, and stays stopped. Running tasks are
 * not disturbed, but those that take a std::stop_token can see the stop.
 *
 * Any units and OS threads may call run(), cancel() and the queries at the same time. wait() and
 * the destructor are for a single caller, which is no task of the group; while they wait, only
 * tasks of the group may add tasks. A task that wants to end early returns, throws, or calls
 * this_thread::exit(). A task that is cancelled as a unit (unit_ref::cancel), or ends by
 * weft_unit_exit, is waited for forever. */
class task_group {
public:
    /** A group without tasks. */
    task_group() = default;
    /** A group without tasks, stopped when a stop of `parent` is requested. */
    explicit task_group(std::stop_token parent) : parent_(std::in_place, std::move(parent), stopper{&stop_}) {}
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    /** Stops the group, as the destructor of std::jthread does, and waits. Calls std::terminate
     * when a task has thrown and no wait() has rethrown the exception, unless stack unwinding by
     * another exception is what destroys the group: in all other cases no exception is lost. May
     * switch. */
    ~task_group() {
        // relaxed: only tasks that the caller knows of matter here
        if (pending_.load(std::memory_order_relaxed) != 1) stop_.request_stop();
        finish();
        if (thrown_ && std::uncaught_exceptions() == uncaught_) std::terminate();
    }

    /** Adds a task: it calls a decayed copy of `function`, with the group's std::stop_token if the
     * function takes one. The result of the function is dropped. Throws weft::error when the
     * library refuses (no memory, not initialized), std::bad_alloc, and what the copy throws; then
     * no task was added. In a stopped group this does nothing. */
    template <class F>
    requires detail::spawnable<F> || detail::takes_stop_token<F>
    [[gnu::always_inline]] void run(F&& function) { run(attributes{}, std::forward<F>(function)); }

    /** Adds a task with the attributes `wanted`: its pool, its kind, and so on. With child_first
     * the task has run up to its first suspension when this returns. */
    template <class F>
    requires detail::spawnable<F> || detail::takes_stop_token<F>
    [[gnu::always_inline]] void run(const attributes& wanted, F&& function) {
        if (stop_.stop_requested()) return;
        auto made = std::make_unique<task<std::decay_t<F>>>(*this, std::forward<F>(function));
        const detail::unit_options options(wanted);
        // relaxed: the count cannot reach 0 before the caller's own count is subtracted
        pending_.fetch_add(1, std::memory_order_relaxed);
        const weft_status status = weft_ult_spawn(wanted.pool.native_handle(), task<std::decay_t<F>>::body, made.get(),
                                                  options.given(), nullptr);
        if (status != WEFT_OK) [[unlikely]] {
            error refused(status);
            pending_.fetch_sub(1, std::memory_order_relaxed);   // relaxed: the caller's own count is still in it
            throw refused;
        }
        static_cast<void>(made.release());   // the body deletes it
    }

    /** Calls `function` here, as if it were a task of the group, then waits as wait() does, and
     * returns the result of wait(). */
    template <class F>
    requires std::invocable<F> || std::invocable<F, std::stop_token>
    bool run_and_wait(F&& function) {
        if (!stop_.stop_requested()) call(std::forward<F>(function));
        return wait();
    }

    /** Waits until all tasks have ended, including those that are added meanwhile. Then rethrows
     * the first exception that has left a task; the others are dropped. Returns false when the
     * group was stopped: tasks may have been left out. Throws weft::error with WEFT_WRONG_KIND when
     * it would have to wait in a tasklet: then nothing has changed. More tasks may be added
     * afterwards. May switch. */
    bool wait() {
        finish();
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
        return !stop_.stop_requested();
    }

    /** Stops the group. False: it was stopped already. */
    bool cancel() noexcept { return stop_.request_stop(); }
    /** Whether it was stopped. */
    bool stop_requested() const noexcept { return stop_.stop_requested(); }
    /** The token that tasks are given. */
    std::stop_token get_stop_token() const noexcept { return stop_.get_token(); }

private:
    struct stopper {
        std::stop_source* source;
        void operator()() const noexcept { source->request_stop(); }
    };

    template <class Function>
    struct task {
        template <class F>
        task(task_group& its, F&& wanted) : group(its), function(std::forward<F>(wanted)) {}

        static void body(void* argument) {
            auto* const self = static_cast<task*>(argument);
            task_group& its = self->group;
            if (!its.stop_requested()) its.call(std::move(self->function));
            delete self;   // before the count: after a wait nothing of the task is left
            its.count_down();
        }

        task_group& group;
        Function function;
    };

    template <class F>
    void call(F&& function) noexcept {
        try {
            detail::enter([&] {
                if constexpr (std::invocable<F, std::stop_token>) {
                    static_cast<void>(std::invoke(std::forward<F>(function), get_stop_token()));
                } else {
                    static_cast<void>(std::invoke(std::forward<F>(function)));
                }
            });
        } catch (...) {
            // relaxed: a caller that reads `thrown_` has waited for this task
            if (!failed_.exchange(true, std::memory_order_relaxed)) thrown_ = std::current_exception();
            stop_.request_stop();
        }
    }

    // acq_rel, here and in finish(): the task that brings the count to 0, and the waiter, see what
    // all tasks did. The group may be gone after the set.
    void count_down() noexcept {
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) ended_.set();
    }

    // The waiter has a count of its own, so that no task sets the event while no caller waits.
    void finish() {
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
            try {
                ended_.wait();
            } catch (const error&) {
                // The wait was refused. If all tasks have ended meanwhile, the event is about to be
                // set.
                if (pending_.fetch_add(1, std::memory_order_acq_rel) != 0) throw;
                while (!ended_.is_set()) continue;
                ended_.reset();
                return;
            }
            ended_.reset();
        }
        pending_.store(1, std::memory_order_relaxed);   // relaxed: no task is left
    }

    std::stop_source stop_;
    std::optional<std::stop_callback<stopper>> parent_;
    std::atomic<std::size_t> pending_{1};   // tasks that have not ended, and one for the waiter
    event ended_;
    std::atomic<bool> failed_{false};
    std::exception_ptr thrown_;
    const int uncaught_ = std::uncaught_exceptions();
};

}   // namespace v0
}   // namespace weft
