// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lazy fork-join in C++: weft::invoke. <weft/parallel.h> documents how it works and from where it
// may be called.
#pragma once

#include <weft/language.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/parallel.h>
#include <weft/embed/here.hpp>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {
namespace detail {

// The result of a branch, by value.
template <class F>
using result_of = std::remove_cvref_t<std::invoke_result_t<F>>;

// Whether a branch keeps a copy of its body. Then the body of a caller that passes a lambda lies in
// no memory but the branch's, and the compiler may end it before it calls the body in place.
template <class G>
inline constexpr bool copied_body =
    !std::is_reference_v<G> && std::is_trivially_copyable_v<G> && std::is_trivially_move_constructible_v<G> &&
    std::is_trivially_destructible_v<G> && sizeof(G) <= 8 * sizeof(void*);

// The second branch as long as another stream may take it, with room for its result or exception
// when a thief runs it.
template <class G>
class branch : public weft_job {
    static constexpr bool returns = !std::is_void_v<result_of<G>>;
    using kept_result = std::conditional_t<returns, result_of<G>, char>;
    using kept_body = std::conditional_t<copied_body<G>, std::remove_reference_t<G>, std::remove_reference_t<G>*>;

public:
    [[gnu::always_inline]] explicit branch(std::remove_reference_t<G>& body) noexcept : body_(kept(body)) {
        run = what_a_thief_calls();
    }
    branch(const branch&) = delete;
    branch& operator=(const branch&) = delete;
    // A result or exception that was kept has been fetched or dropped already.
    ~branch() {}

    // Joins the branch after f has thrown: the exception of f propagates, and the result or
    // exception of this branch, if a thief has run it, is dropped.
    [[gnu::noinline, gnu::cold]] void abandon() noexcept {
        if (weft_job_join(this)) return;
        if (threw_) {
            exception_.~exception_ptr();
        } else if constexpr (returns) {
            result_.~kept_result();
        }
    }

    // What the thief's run has returned or thrown.
    [[gnu::noinline]] result_of<G> fetch() {
        if (threw_) {
            std::exception_ptr thrown = std::move(exception_);
            exception_.~exception_ptr();
            std::rethrow_exception(std::move(thrown));
        }
        if constexpr (returns) {
            struct Drop {
                kept_result& kept;
                ~Drop() { kept.~kept_result(); }
            } drop{result_};
            return std::move(result_);
        }
    }

private:
    [[gnu::always_inline]] static kept_body kept(std::remove_reference_t<G>& body) noexcept {
        if constexpr (copied_body<G>) return static_cast<G&&>(body);
        else return std::addressof(body);
    }
    [[gnu::always_inline]] result_of<G> call() {
        if constexpr (copied_body<G>) return std::invoke(static_cast<G&&>(body_));
        else return std::invoke(static_cast<G&&>(*body_));
    }

    // Computed anew, as weft_job_address(): in a loop gcc would keep it in a register that the
    // function must save first.
    [[gnu::always_inline]] static auto what_a_thief_calls() noexcept {
#if defined(__x86_64__) && !defined(__clang__)
        void (*address)(weft_job*);
        asm volatile("leaq    %1, %0" : "=r"(address) : "m"(run_by_thief));
        return address;
#else
        return &run_by_thief;
#endif
    }

    static void run_by_thief(weft_job* job) noexcept {
        auto& self = *static_cast<branch*>(job);
        self.threw_ = false;
        try {
            if constexpr (returns) {
                ::new (static_cast<void*>(std::addressof(self.result_))) kept_result(self.call());
            } else {
                self.call();
            }
        } catch (...) {
            self.threw_ = true;
            ::new (static_cast<void*>(&self.exception_)) std::exception_ptr(std::current_exception());
        }
    }

    kept_body body_;
    bool threw_;
    union {
        kept_result result_;
        std::exception_ptr exception_;
    };
};

template <class F, class G>
[[gnu::always_inline]] inline void end_first(F&& f, branch<G>& second) noexcept(std::is_nothrow_invocable_v<F>) {
    if constexpr (std::is_nothrow_invocable_v<F>) {
        std::invoke(static_cast<F&&>(f));
    } else {
        try {
            std::invoke(static_cast<F&&>(f));
        } catch (...) {
            second.abandon();
            throw;
        }
    }
}

template <class F, class G>
[[gnu::always_inline]] inline result_of<F> result_of_first(F&& f, branch<G>& second) {
    try {
        return std::invoke(static_cast<F&&>(f));
    } catch (...) {
        second.abandon();
        throw;
    }
}

// What a thief's run of g has returned, if one has run it.
template <class G>
using taken_result = std::conditional_t<std::is_void_v<result_of<G>>, bool, std::optional<result_of<G>>>;

// From the fork to the join: returns what f returns.
template <class F, class G>
[[gnu::always_inline]] inline result_of<F> until_join(F&& f, std::remove_reference_t<G>& g, taken_result<G>& taken) {
    branch<G> second(g);
    weft_job_fork(&second);
    const auto join = [&] {
        if (weft_job_join(&second)) [[likely]]
            return;
        if constexpr (std::is_void_v<result_of<G>>) {
            second.fetch();
            taken = true;
        } else {
            taken.emplace(second.fetch());
        }
    };
    if constexpr (std::is_void_v<result_of<F>>) {
        end_first(static_cast<F&&>(f), second);
        join();
    } else {
        result_of<F> result = result_of_first(static_cast<F&&>(f), second);
        join();
        return result;
    }
}

// The result of g, which is called here unless a thief has run it.
template <class G>
[[gnu::always_inline]] inline result_of<G> after_join(std::remove_reference_t<G>& g, taken_result<G>& taken) {
    if (!taken) [[likely]]
        return std::invoke(static_cast<G&&>(g));
    if constexpr (!std::is_void_v<result_of<G>>) return *std::move(taken);
}

template <class F>
auto as_tuple(F&& f) {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
        std::invoke(static_cast<F&&>(f));
        return std::tuple<>();
    } else {
        return std::tuple<result_of<F>>(std::invoke(static_cast<F&&>(f)));
    }
}

// Three or more branches: a fork whose first branch is f, and whose second is all others together.
template <class F, class... Others>
auto tuple_of(F&& f, Others&&... others);

}   // namespace detail

/** Calls f() and g(), and returns when both have ended. Another stream may take g. If none takes
 * it, g is called after f, on the same stack and by the same unit, and no unit is made for it. The
 * rules of weft_invoke apply: from where this may be called, and what it must not be used for.
 *
 * Returns both results by value, as a std::pair; one result when the other function returns void;
 * nothing when both return void. Throws what f throws: then g has not been called, or has ended,
 * and an exception of g is lost. Otherwise throws what g throws, wherever it was run. May switch.
 * Since 0.4. */
template <std::invocable F, std::invocable G>
[[gnu::always_inline]] inline auto invoke(F&& f, G&& g) {
    using first_result = detail::result_of<F>;
    using second_result = detail::result_of<G>;
    // The branch has ended when g is called in place: where a recursive function does nothing else
    // after that, the compiler makes a loop of it.
    detail::taken_result<G> taken{};
    if constexpr (std::is_void_v<first_result>) {
        detail::until_join<F, G>(static_cast<F&&>(f), g, taken);
        return detail::after_join<G>(g, taken);
    } else {
        first_result first = detail::until_join<F, G>(static_cast<F&&>(f), g, taken);
        if constexpr (std::is_void_v<second_result>) {
            detail::after_join<G>(g, taken);
            return first;
        } else {
            return std::pair<first_result, second_result>(std::move(first), detail::after_join<G>(g, taken));
        }
    }
}

/** As invoke(f, g), for three or more functions: another stream may take each of them but the
 * first. Returns the results in order, without those that are void, as a std::tuple, or nothing
 * when all are void. Of several exceptions the exception of the first branch is thrown. May switch.
 * Since 0.4. */
template <std::invocable F, std::invocable G, std::invocable H, std::invocable... More>
auto invoke(F&& f, G&& g, H&& h, More&&... more) {
    auto all =
        detail::tuple_of(static_cast<F&&>(f), static_cast<G&&>(g), static_cast<H&&>(h), static_cast<More&&>(more)...);
    if constexpr (std::tuple_size_v<decltype(all)> != 0) return all;
}

namespace detail {

template <class F, class... Others>
auto tuple_of(F&& f, Others&&... others) {
    if constexpr (sizeof...(Others) == 0) {
        return as_tuple(static_cast<F&&>(f));
    } else {
        auto both = weft::invoke([&] { return as_tuple(static_cast<F&&>(f)); },
                                 [&] { return tuple_of(static_cast<Others&&>(others)...); });
        return std::tuple_cat(std::move(both.first), std::move(both.second));
    }
}

}   // namespace detail
}   // namespace v0
}   // namespace weft
