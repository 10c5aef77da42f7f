// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For tests of the bare switch: stacks, places to be resumed at, and coroutines over them. The code
// here notifies the sanitizers of every switch; the library does that in the layer above.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <utility>

#include "arch/arch.hpp"
#include "base/config.hpp"
#include "base/sanitizer.hpp"

namespace weft::arch::testing {

// A place to return to: an OS thread, or a context. The code that leaves it writes `saved`.
struct ReturnPoint {
    void* saved = nullptr;
    void* lowest = nullptr;   // its stack
    std::size_t bytes = 0;
    void* fake_stack = nullptr;   // AddressSanitizer's
    void* fiber = nullptr;        // ThreadSanitizer's
};

// The calling OS thread.
inline ReturnPoint this_thread() {
    ReturnPoint place;
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &place.lowest, &place.bytes);
    pthread_attr_destroy(&attributes);
    place.fiber = sanitizer::fiber_current();
    return place;
}

// Called around each switch, in the function that holds it: inlined, because the sanitizers track
// entries and exits for each stack.
[[gnu::always_inline]] inline void leaving(ReturnPoint& from, const ReturnPoint& to) {
    sanitizer::asan_start_switch(&from.fake_stack, to.lowest, to.bytes);
    sanitizer::fiber_switch(to.fiber);
}
[[gnu::always_inline]] inline void arrived(ReturnPoint& here) {
    sanitizer::asan_finish_switch(here.fake_stack, nullptr, nullptr);
}

// From `from`, the current context, to `to`; returns the message with which `from` is resumed.
[[gnu::noinline]] inline Message go(ReturnPoint& from, ReturnPoint& to, Message message) {
    leaving(from, to);
    message = swap(&from.saved, to.saved, message);
    arrived(from);
    return message;
}

// A body on a stack of its own. The code that resumes it passes its own place; leave() returns
// there.
class Coroutine {
public:
    using Body = std::function<void(Coroutine& self, Message first)>;
    static constexpr std::size_t default_bytes = 256 * 1024;

    explicit Coroutine(Body body, std::size_t bytes = default_bytes) : body_(std::move(body)) {
        place_.lowest = std::aligned_alloc(4096, bytes);
        place_.bytes = bytes;
        place_.fiber = sanitizer::fiber_create();
        place_.saved = prepare(static_cast<char*>(place_.lowest) + bytes, main);
    }
    ~Coroutine() {
        sanitizer::fiber_destroy(place_.fiber);
        std::free(place_.lowest);
    }
    Coroutine(const Coroutine&) = delete;
    Coroutine& operator=(const Coroutine&) = delete;

    Message resume(ReturnPoint& from, Message message = {}) {
        back_ = &from;
        if (!std::exchange(started_, true)) {
            first_ = message;
            message = {nullptr, this};
        }
        return go(from, place_, message);
    }
    Message leave(Message message = {}) { return go(place_, *back_, message); }

    ReturnPoint& place() { return place_; }
    bool done() const { return done_; }

private:
    static void main(void (*)(void*), void* self) { static_cast<Coroutine*>(self)->run(); }

    [[noreturn, gnu::noinline]] void run() {
        arrived(place_);
        body_(*this, first_);
        body_ = nullptr;
        done_ = true;
        finish();
    }
    [[noreturn, gnu::noinline]] void finish() {
        ReturnPoint& back = *back_;
        // Null: AddressSanitizer drops what it keeps for the stack that is left for good.
        sanitizer::asan_start_switch(nullptr, back.lowest, back.bytes);
        sanitizer::fiber_switch(back.fiber);
        jump(back.saved, {});
    }

    Body body_;
    ReturnPoint place_;
    ReturnPoint* back_ = nullptr;
    Message first_ = {};
    bool started_ = false;
    bool done_ = false;
};

}   // namespace weft::arch::testing
