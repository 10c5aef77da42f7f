// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls that this library interposes, and the two ways in which it makes them.
#pragma once

#include <dlfcn.h>

#include <atomic>

#include <weft/embed/hosted.h>

namespace weft_pthread {

// The address of the next function of this name after this library's, by dlsym and dlvsym;
// `version` may be null.
void* next_function(const char* name, const char* version);

// The function of this name that would have been called without this library.
template <class Function>
class Real {
public:
    // `version`: for a name of which the C library has another version that dlsym may find first.
    // If there is no such version, the only one is used.
    constexpr explicit Real(const char* name, const char* version = nullptr) : name_(name), version_(version) {}

    Function get() {
        // relaxed: a thread that finds null looks the function up, and finds the same one
        Function known = known_.load(std::memory_order_relaxed);
        if (known == nullptr) [[unlikely]]
            known = find();
        return known;
    }

private:
    [[gnu::cold, gnu::noinline]] Function find() {
        const auto known = reinterpret_cast<Function>(next_function(name_, version_));
        known_.store(known, std::memory_order_relaxed);   // relaxed: a thread that finds null looks it up
        return known;
    }

    const char* const name_;
    const char* const version_;
    std::atomic<Function> known_{nullptr};
};

// Makes the call inside `how`, a Weft call that makes another call.
template <class Result, class... Parameters>
Result inside_of(void (*how)(void (*)(void*), void*), Result (*call)(Parameters...), Parameters... arguments) {
    Result result{};
    auto made = [&] { result = call(arguments...); };
    how([](void* raw) { (*static_cast<decltype(made)*>(raw))(); }, &made);
    return result;
}

}   // namespace weft_pthread
