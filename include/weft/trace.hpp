// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters, the list of the live units, and observers of units, in C++.
#pragma once

#include <weft/language.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/trace.h>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** Reads a counter by name, "/units/count/created" or "/units{stream#2}/count/created"; times in
 * nanoseconds. */
inline std::uint64_t counter(const char* name) {
    std::uint64_t value = 0;
    check(weft_counter_read(name, &value));
    return value;
}

/** Reads a counter whose name is a std::string; times in nanoseconds. */
inline std::uint64_t counter(const std::string& name) { return counter(name.c_str()); }

/** Writes all counters to `file`, one on each line. */
inline void print_counters(std::FILE* file) { check(weft_counters_print(file)); }

/** Writes all live units to `file`, one on each line. */
inline void print_units(std::FILE* file) { check(weft_units_print(file)); }

/** Writes a dump of all streams and units to `file`, with frames. See weft_dump. Since 0.3. */
inline void dump(std::FILE* file) { check(weft_dump(file)); }

/** Observes units as long as this object lives; see weft_observer_register. It cannot be copied; a
 * moved-from observer observes nothing. Since 0.3. */
class observer {
public:
    /** Registers an observer: call(seen) is called for each event in `events`, which are bits of
     * weft_observed, by several streams at once and under the rules of weft_observer_register.
     * `call` must not throw. Throws weft::error. */
    template <class Call>
    observer(unsigned events, Call call) {
        static_assert(std::is_nothrow_invocable_v<Call&, const weft_observation&>,
                      "an observer's call must be noexcept");
        auto kept = std::make_shared<Call>(std::move(call));
        weft_observer_options options{};
        options.size = sizeof options;
        options.events = events;
        options.call = [](const weft_observation* seen, void* argument) { (*static_cast<Call*>(argument))(*seen); };
        options.argument = kept.get();
        check(weft_observer_register(&options, &handle_));
        call_ = std::move(kept);
    }

    /** Takes over the registration; `other` observes nothing any more. */
    observer(observer&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), call_(std::move(other.call_)) {}
    observer(const observer&) = delete;
    observer& operator=(const observer&) = delete;

    /** Unregisters the observer with weft_observer_unregister: when this returns no call is
     * running. Must happen before the last weft_finalize. */
    ~observer() {
        if (handle_ != nullptr) static_cast<void>(weft_observer_unregister(handle_));
    }

private:
    weft_observer* handle_ = nullptr;
    std::shared_ptr<void> call_;
};

}   // namespace v0
}   // namespace weft
