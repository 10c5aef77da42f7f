// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fork-join arenas in C++. <weft/arena.h> documents what an arena is.
//
//     weft::arena arena(4);
//     const double sum = arena.execute([&] { return weft::parallel_reduce(x, 0.0); });
//
// The sum uses four harts at most, whatever else the process does.
#pragma once

#include <weft/language.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/arena.h>
#include <weft/parallel.hpp>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {
namespace detail {

// A call in an arena, with its result or exception.
template <class F>
class arena_call {
public:
    explicit arena_call(F& function) noexcept : function_(std::addressof(function)) {}

    static void run(void* raw) noexcept {
        auto& self = *static_cast<arena_call*>(raw);
        try {
            if constexpr (std::is_void_v<result_of<F>>) {
                std::invoke(std::forward<F>(*self.function_));
            } else {
                self.result_.emplace(std::invoke(std::forward<F>(*self.function_)));
            }
        } catch (...) {
            self.thrown_ = std::current_exception();
        }
    }
    result_of<F> fetch() {
        if (thrown_) std::rethrow_exception(std::move(thrown_));
        if constexpr (!std::is_void_v<result_of<F>>) return std::move(*result_);
    }

private:
    using kept = std::conditional_t<std::is_void_v<result_of<F>>, char, result_of<F>>;

    std::remove_reference_t<F>* function_;
    std::optional<kept> result_;
    std::exception_ptr thrown_;
};

}   // namespace detail

/** A fork-join arena. Any number of units may call in it at once. It may be destroyed when no call
 * is left in it. */
class arena {
public:
    /** An arena in which a call has at most `harts` harts, the caller's included; 0: as many as
     * there are. Throws an error. */
    explicit arena(std::size_t harts = 0) { check(weft_arena_create(harts, &handle_)); }
    /** Takes the arena; `other` is left with none. */
    arena(arena&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /** Exchanges the two arenas. */
    arena& operator=(arena&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    /** Requires that no call is in the arena. */
    ~arena() { weft_arena_free(handle_); }

    /** Calls f() in the arena, as weft_arena_execute does. Returns the result of f by value, or
     * throws what f throws. Throws an error when the call is refused; f has not been called then.
     * May switch. */
    template <std::invocable F>
    auto execute(F&& f) const {
        detail::arena_call<F> call(f);
        check(weft_arena_execute(handle_, detail::arena_call<F>::run, std::addressof(call)));
        return call.fetch();
    }
    /** How many harts a call may have now. */
    std::size_t harts() const {
        std::size_t harts = 0;
        check(weft_arena_harts_get(handle_, &harts));
        return harts;
    }
    /** The handle, for calls of the C interface. */
    weft_arena* native_handle() const noexcept { return handle_; }

private:
    weft_arena* handle_ = nullptr;
};

}   // namespace v0
}   // namespace weft
