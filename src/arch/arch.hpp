// What a processor owes: porting starts here. CMake puts the folder of the target first on the include
// path of this file, so the two includes below find src/arch/<processor>/.
//
// A port is five files: frame.h (what lies on a suspended stack), switch.S (the entry of a fresh
// context, and the thread-local word), context.hpp (the inlined switch), cpu.hpp, and look.hpp.
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
};
static_assert(Port<Message>);
static_assert(stack_alignment >= 16);

}  // namespace weft::arch
