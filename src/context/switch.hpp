// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Leaving one context for another, as sanitizers must see it. README.md describes the protocol; the
// switch itself is arch/<processor>/context.hpp.
#pragma once

#include "arch/arch.hpp"
#include "base/config.hpp"
#include "base/sanitizer.hpp"
#include "mem/stack.hpp"

namespace weft::context {

using arch::Message;

// Whether arch::call and call_light may be used: no sanitizer follows a return from one stack to
// another.
inline constexpr bool may_call = !config::address_sanitizer && !config::thread_sanitizer;

// The destination of a switch: a saved context and, for sanitizers, its stack.
struct Target {
    void* context;
    mem::Stack* stack;
};

// What most messages are that a context is resumed with.
enum class Mostly : bool { with_a_call, with_a_word };

// Returns the argument of a message without a call: a word from the context that has left.
template <Mostly most = Mostly::with_a_call>
[[gnu::always_inline]] inline void* run(Message message) {
    if (__builtin_expect(message.call != nullptr, most == Mostly::with_a_call)) {
        message.call(message.argument);
        return nullptr;
    }
    return message.argument;
}

// A host's stack has no fiber: the sanitizer takes it for a thread, because of the thread pointer
// that is set on arrival there.
[[gnu::always_inline]] inline void switch_fiber(const Target& target) {
    if (target.stack->fiber != nullptr) sanitizer::fiber_switch(target.stack->fiber);
}

// Leaves the running context, saved in *saved, for `target`, where `message` is run before anything
// else. Returns when this context is resumed, after it has run the message that came with that;
// returns what run() does. Everything read from the stream before is stale.
template <Mostly most = Mostly::with_a_call>
[[gnu::always_inline]] inline void* leave(void** saved, Target target, Message message) {
    void* fake_stack = nullptr;
    if constexpr (config::address_sanitizer) {
        sanitizer::asan_start_switch(&fake_stack, target.stack->lowest, target.stack->bytes);
    }
    if constexpr (config::thread_sanitizer) switch_fiber(target);
    const Message arrived = arch::swap(saved, target.context, message);
    if constexpr (config::address_sanitizer) sanitizer::asan_finish_switch(fake_stack, nullptr, nullptr);
    return run<most>(arrived);
}

// Leaves the running context for good.
[[noreturn, gnu::always_inline]] inline void abandon(Target target, Message message) {
    if constexpr (config::address_sanitizer) {
        sanitizer::asan_start_switch(nullptr, target.stack->lowest, target.stack->bytes);
    }
    if constexpr (config::thread_sanitizer) switch_fiber(target);
    arch::jump(target.context, message);
}

// The very first call on a fresh stack.
[[gnu::always_inline]] inline void arrive(Message message) {
    if constexpr (config::address_sanitizer) sanitizer::asan_finish_switch(nullptr, nullptr, nullptr);
    run(message);
}

}   // namespace weft::context
