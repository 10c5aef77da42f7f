// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a port must provide: porting starts here, and this is the whole contract. The library uses
// nothing of a port but what `Port` names: a test compiles it with a made-up port that has nothing
// else (test/port/). doc/porting.md says what the compiler cannot check.
//
// Macros from CMake name the headers of the target's folder, src/arch/<processor>/:
// WEFT_ARCH_CONTEXT and WEFT_ARCH_CPU, which are included here, and WEFT_ARCH_LOOK (arch/look.hpp).
// A port is seven files: context.hpp (the inlined switch) and thread_pointer.hpp beside it,
// cpu.hpp, look.hpp, frames.cpp (arch/frames.hpp), frame.h (what lies on a suspended stack), and
// switch.S: the entry of a fresh context, the calls, and two thread-local words, of which
// weft_local_word is exported for programs (include/weft/embed/here.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include WEFT_ARCH_CONTEXT
#include WEFT_ARCH_CPU
#include "arch/frames.hpp"
#include "arch/look.hpp"
#include "base/atomic.hpp"

namespace weft::arch {

// The contract, checked at compile time.
template <class Message>
concept Port = requires(void* p, void** saved, void (*body)(void*), Message message, Main main, CalledMain called,
                        std::uint64_t packed, const SuspendedWords& words, const atomic<std::uint8_t>& byte,
                        const atomic<std::uint32_t>& word, const atomic<void*>& pointer, const FourBytes& bytes) {
    // Leaving a context for another.
    { Message{body, p}.call } -> std::convertible_to<void (*)(void*)>;
    { message.argument } -> std::convertible_to<void*>;
    { swap(saved, p, message) } -> std::same_as<Message>;   // leave, and return with a message
    jump(p, message);                                       // leave for good
    { prepare(p, main) } -> std::same_as<void*>;            // a context on a fresh stack
    { stack_pointer(p) } -> std::same_as<void*>;            // where a suspended context's stack ends
    // on a fresh stack, while this context may be resumed as after a swap,
    { call(saved, p, called, p, packed) } -> std::same_as<Called>;
    call_light(p, called, p);                                    // or may not be resumed
    { return_by_jump(packed) } -> std::same_as<std::uint64_t>;   // what it is given

    // The thread-local word, and the host's.
    { local_word() } -> std::same_as<void*>;   // read anew each time, never kept across a switch
    set_local_word(p);
    { local_word_address() } -> std::same_as<void**>;
    { host_word() } -> std::same_as<void*>;
    set_host_word(p);

    // Waiting, and time.
    arch::pause();   // not unistd.h's
    { cycles() } -> std::same_as<std::uint64_t>;

    // The pointer that leads to thread-local memory; hosted units have one of their own.
    { thread_pointer() } -> std::same_as<void*>;
    set_thread_pointer(p);
    { sets_thread_pointer_by_instruction } -> std::same_as<atomic<bool>&>;
    park_without_stack(p, p);   // announces that it is parked, and sleeps until a word is not zero

    // Floating-point modes.
    { floating_point() } -> std::same_as<FloatingPoint>;
    set_floating_point(floating_point(), floating_point());
    { pack(floating_point()) } -> std::same_as<std::uint64_t>;   // in less than 62 bits
    { unpack(packed) } -> std::same_as<FloatingPoint>;

    // The stack pointer of a function, and what a signal has interrupted.
    { here_on_stack() } -> std::same_as<char*>;
    { interrupted_stack(p) } -> std::same_as<char*>;
    { interrupted_code(p) } -> std::same_as<std::uintptr_t>;

    // Relaxed checks that a branch follows (arch/look.hpp).
    { any_of(byte, std::uint8_t{}) } -> std::same_as<bool>;
    { any_of(word, std::uint32_t{}) } -> std::same_as<bool>;
    { any_of_four(bytes, std::uint32_t{}) } -> std::same_as<bool>;
    { is_zero(word) } -> std::same_as<bool>;
    { is_zero(pointer) } -> std::same_as<bool>;

    // The frames of a suspended context (arch/frames.hpp), and the two functions of switch.S by
    // which they are recognized.
    { resume_address(words) } -> std::same_as<std::uintptr_t>;
    { registers_of(std::uintptr_t{}, words, true) } -> std::same_as<Registers>;
    { plain_address(std::uintptr_t{}) } -> std::same_as<std::uintptr_t>;
    { stack_register() } -> std::same_as<unsigned>;
    { weft_context_entry } -> std::same_as<void (&)()>;
    reinterpret_cast<std::uintptr_t>(weft_context_call);
};
static_assert(Port<Message>);

// Values that the library computes with.
static_assert(stack_alignment >= 16);
static_assert(sizeof(FourBytes) == 4);
// of AT_HWCAP2: the bit that says that an instruction sets the thread pointer, or 0
static_assert(std::same_as<decltype(instruction_capability), const unsigned long>);
// of glibc's restartable sequences
static_assert(std::same_as<decltype(restartable_signature), const std::uint32_t>);

}   // namespace weft::arch
