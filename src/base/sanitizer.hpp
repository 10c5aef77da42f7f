// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The notifications that the sanitizers need when a program changes stacks by itself. In a build
// without the sanitizer in question every call here compiles to nothing, at any level of
// optimisation.
//
// The prototypes are written out, so that no sanitizer header is needed.
#pragma once

#include <cstddef>

#include "base/config.hpp"

extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void __tsan_func_exit(void);
void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom, std::size_t size);
void __sanitizer_finish_switch_fiber(void* fake_stack_save, const void** bottom_old, std::size_t* size_old);
void __asan_unpoison_memory_region(void const volatile* address, std::size_t size);
// Weak: they also exist where only the program is built with the sanitizer.
[[gnu::weak]] void __lsan_register_root_region(const void* address, std::size_t size);
[[gnu::weak]] void __lsan_unregister_root_region(const void* address, std::size_t size);
}

namespace weft::sanitizer {

// Whether the program checks for leaks when it ends, while this is a build for users. The memory of
// an OS thread that starts just then is taken for a leak.
inline bool of_the_program_looks_for_leaks() {
    return (!config::checked || config::variant) && __lsan_register_root_region != nullptr;
}

// ---- thread sanitizer ---------------------------------------------------------------------------

// The fiber of the calling context, as the thread sanitizer sees it; null without that sanitizer.
[[gnu::always_inline]] inline void* fiber_current() {
    if constexpr (config::thread_sanitizer) return __tsan_get_current_fiber();
    return nullptr;
}

[[gnu::always_inline]] inline void* fiber_create() {
    if constexpr (config::thread_sanitizer) return __tsan_create_fiber(0);
    return nullptr;
}

[[gnu::always_inline]] inline void fiber_destroy([[maybe_unused]] void* fiber) {
    if constexpr (config::thread_sanitizer) {
        if (fiber != nullptr) __tsan_destroy_fiber(fiber);
    }
}

// The very last call before the switch, inlined into the function that holds the switch: then the
// entry that the sanitizer noted for that function is undone on the fiber that it was noted for,
// when that fiber returns. A function of its own would enter on one fiber's shadow stack and leave
// on another's.
[[gnu::always_inline]] inline void fiber_switch([[maybe_unused]] void* fiber) {
    if constexpr (config::thread_sanitizer) __tsan_switch_to_fiber(fiber, 0);
}

// A context may read after tsan_acquire() what another has written before tsan_release() of the
// same address: for places where thread pointers are set, which the sanitizer does not see.
[[gnu::always_inline]] inline void tsan_release([[maybe_unused]] void* address) {
    if constexpr (config::thread_sanitizer) __tsan_release(address);
}

[[gnu::always_inline]] inline void tsan_acquire([[maybe_unused]] void* address) {
    if constexpr (config::thread_sanitizer) __tsan_acquire(address);
}

// Makes the sanitizer forget the function that it has noted last.
[[gnu::always_inline]] inline void tsan_function_exit() {
    if constexpr (config::thread_sanitizer) __tsan_func_exit();
}

// ---- address sanitizer --------------------------------------------------------------------------

// Before the switch to the stack [bottom, bottom + size). *fake receives what asan_finish_switch
// needs when this context runs again; `fake` null: it never will.
[[gnu::always_inline]] inline void asan_start_switch([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                                                     [[maybe_unused]] std::size_t size) {
    if constexpr (config::address_sanitizer) __sanitizer_start_switch_fiber(fake, bottom, size);
}

// The very first call after the switch. `fake`: what asan_start_switch saved for this context, null
// on its first run. The others, where not null, receive the stack that was left.
[[gnu::always_inline]] inline void asan_finish_switch([[maybe_unused]] void* fake,
                                                      [[maybe_unused]] const void** bottom_old,
                                                      [[maybe_unused]] std::size_t* size_old) {
    if constexpr (config::address_sanitizer) __sanitizer_finish_switch_fiber(fake, bottom_old, size_old);
}

// Clears the marks of frames that once lay there and never returned.
[[gnu::always_inline]] inline void unpoison([[maybe_unused]] void* address, [[maybe_unused]] std::size_t bytes) {
    if constexpr (config::address_sanitizer) __asan_unpoison_memory_region(address, bytes);
}

// Memory that is reachable from this range, which the sanitizer has not allocated, has not leaked.
// In every build, for programs that are checked while they run on an ordinary build of Weft. It
// holds until end_root().
[[gnu::always_inline]] inline void begin_root(const void* address, std::size_t bytes) {
    if (&__lsan_register_root_region != nullptr) __lsan_register_root_region(address, bytes);
}

[[gnu::always_inline]] inline void end_root(const void* address, std::size_t bytes) {
    if (&__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(address, bytes);
}

}   // namespace weft::sanitizer
