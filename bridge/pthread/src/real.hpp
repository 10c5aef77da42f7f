// The calls that this library stands in front of, and the two ways in which it makes them.
#pragma once

#include <dlfcn.h>

#include <atomic>

#include <weft/embed/hosted.h>

namespace weft_pthread {

// The address of the function of that name that comes after this library's; `version` may be null.
// By dlsym and dlvsym.
void* next_function(const char* name, const char* version);

// The function of that name that would have been called without us.
template <class Function>
class Real {
public:
    // `version`: where the C library has another of that name, too, which dlsym may find first;
    // where there is no such version, the only one is meant.
    constexpr explicit Real(const char* name, const char* version = nullptr) : name_(name), version_(version) {}

    Function get() {
        // relaxed: whoever finds none looks it up, and finds the same
        Function known = known_.load(std::memory_order_relaxed);
        if (known == nullptr) [[unlikely]]
            known = find();
        return known;
    }

private:
    [[gnu::cold, gnu::noinline]] Function find() {
        const auto known = reinterpret_cast<Function>(next_function(name_, version_));
        known_.store(known, std::memory_order_relaxed);   // relaxed: whoever finds none looks it up
        return known;
    }

    const char* const name_;
    const char* const version_;
    std::atomic<Function> known_{nullptr};
};

// Makes the call inside of `how`, one of Weft's calls that make another.
template <class Result, class... Parameters>
Result inside_of(void (*how)(void (*)(void*), void*), Result (*call)(Parameters...), Parameters... arguments) {
    Result result{};
    auto made = [&] { result = call(arguments...); };
    how([](void* raw) { (*static_cast<decltype(made)*>(raw))(); }, &made);
    return result;
}

}   // namespace weft_pthread
