// The calls that this library stands in front of, and the two ways in which it makes them.
#pragma once

#include <dlfcn.h>

#include <atomic>

#include <weft/hosted.h>

namespace weft_pthread {

// The function of that name that would have been called without us.
template <class Function>
class Real {
public:
    constexpr explicit Real(const char* name) : name_(name) {}

    Function get() {
        Function known = known_.load(std::memory_order_relaxed);   // relaxed: whoever finds none looks it up, and finds the same
        if (known == nullptr) {
            known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));
            known_.store(known, std::memory_order_relaxed);   // relaxed: as above
        }
        return known;
    }

private:
    const char* const name_;
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

}  // namespace weft_pthread
