// What a processor owes: porting starts here. CMake puts the folder of the target first on the include
// path of this file, so the two includes below find src/arch/<processor>/.
//
// A port is seven files: frames.cpp (arch/frames.hpp), frame.h (what lies on a suspended stack), switch.S (the entry of a fresh
// context, and the thread-local words), context.hpp (the inlined switch), thread_pointer.hpp beside it, cpu.hpp, and look.hpp.
#pragma once

#include <concepts>
#include <cstdint>

#include WEFT_ARCH_CONTEXT
#include WEFT_ARCH_CPU

namespace weft::arch {

// The contract, checked at compile time.
template <class Message>
concept Port = requires(void* p, void** saved, Message message, Main main) {
    { Message{nullptr, nullptr}.call } -> std::convertible_to<void (*)(void*)>;
    { swap(saved, p, message) } -> std::same_as<Message>;   // leave, and come back with a message
    jump(p, message);                                       // leave for good
    { prepare(p, main) } -> std::same_as<void*>;            // a context on a fresh stack
    { stack_pointer(p) } -> std::same_as<void*>;            // where a suspended context's stack ends
    { local_word() } -> std::same_as<void*>;                // read anew each time, never kept across a switch
    set_local_word(p);
    pause();
    { cycles() } -> std::same_as<std::uint64_t>;
    { thread_pointer() } -> std::same_as<void*>;            // what thread-local memory is found by,
    set_thread_pointer(p);                                  // which hosted units have of their own
    { host_word() } -> std::same_as<void*>;
    set_host_word(p);
    { local_word_address() } -> std::same_as<void**>;
    set_floating_point(floating_point(), floating_point());
    { here_on_stack() } -> std::same_as<char*>;
    { interrupted_stack(p) } -> std::same_as<char*>;
    { interrupted_code(p) } -> std::same_as<std::uintptr_t>;
    park_without_stack(p, p);                               // announces that, and sleeps until a word is not zero
};
static_assert(Port<Message>);
static_assert(stack_alignment >= 16);

}  // namespace weft::arch
