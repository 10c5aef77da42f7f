// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mem/stack.hpp"

#include <cstring>
#include <new>

#include "mem/canary.hpp"
#include "mem/valgrind.hpp"
#include "os/memory.hpp"
#include "os/stack.hpp"

namespace weft::mem {
namespace {

constexpr std::size_t usable_minimum = 8 << 10;

// The pattern that fills an untouched user stack while it is measured.
constexpr std::uint64_t untouched = 0x7765'6674'7374'616b;

struct Canary {
    std::uint64_t words[2];
};

// Different for every stack, so that a stray copy of one stack's end is not a valid canary for
// another.
Canary canary_for(const Stack& stack) {
    const auto address = reinterpret_cast<std::uint64_t>(stack.lowest);
    return {{address * 0x9e37'79b9'7f4a'7c15u ^ 0x5bd1'e995'1b87'3593u,
             address * 0xc2b2'ae3d'27d4'eb4fu + 0x1656'67b1'9e37'79f9u}};
}

char* align_up(char* address, std::size_t alignment) {
    return address + (alignment - reinterpret_cast<std::uintptr_t>(address) % alignment) % alignment;
}

}   // namespace

std::size_t stack_minimum() { return os::signal_frame_bytes() + usable_minimum; }

void canary_write(Stack& stack) {
    const Canary canary = canary_for(stack);
    std::memcpy(stack.lowest, &canary, sizeof canary);
}

// Not instrumented, nor is lowest_changed(): they read memory of frames that are running, or that
// never returned.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool canary_intact(const Stack& stack) {
    if (stack.guarded != Guard::canary) return true;
    const Canary canary = canary_for(stack);
    const auto* words = reinterpret_cast<const volatile std::uint64_t*>(stack.lowest);
    return words[0] == canary.words[0] && words[1] == canary.words[1];
}

bool in_guard(const Stack& stack, const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto lowest = reinterpret_cast<std::uintptr_t>(stack.lowest);
    return at < lowest && lowest - at <= stack.guard_bytes + os::page_bytes();
}

// ---- the user's stacks --------------------------------------------------------------------------

Stack* user_stack(void* memory, std::size_t bytes) {
    if (memory == nullptr || bytes < stack_minimum()) return nullptr;
    auto* const start = static_cast<char*>(memory);
    auto* const end = start + bytes;
    const std::size_t over = reinterpret_cast<std::uintptr_t>(end) % alignof(Stack);
    auto* stack = new (end - over - sizeof(Stack)) Stack{};
    stack->lowest = align_up(start, 16);
    stack->top = reinterpret_cast<char*>(stack);   // aligned to 64
    stack->bytes = static_cast<std::size_t>(stack->top - stack->lowest);
    stack->size_class = exact_class;
    stack->user = true;
    stack->prepared = true;
    stack->fiber = sanitizer::fiber_create();
    stack->valgrind_id = valgrind_stack_register(stack->lowest, stack->top);
    sanitizer::unpoison(stack->lowest, stack->bytes);
    return stack;
}

void user_stack_done(Stack* stack) {
    WEFT_ASSERT(stack->user);
    valgrind_stack_deregister(stack->valgrind_id);
    valgrind_make_usable(stack->lowest, stack->bytes);
    sanitizer::fiber_destroy(stack->fiber);
    sanitizer::unpoison(stack->lowest, stack->bytes);
}

// ---- how deep a stack was used ------------------------------------------------------------------
//
// Weft's own stacks: their pages are returned to the kernel, and later the kernel is asked which of
// them are resident again. Measuring touches no memory, so a stack of 64 MiB that needs 8 KiB still
// costs 8 KiB. A page that was swapped out meanwhile is not seen; that takes a program that waits
// for long, and only the deepest page matters. /proc/self/pagemap would show it, for three more
// system calls at each check.
//
// The user's stacks: their memory may share its pages with other data, or map a file, and must not
// be discarded. It is filled with a pattern, and the lowest word that has changed is the result.
//
// Canaries make their page resident. The page counts as used when anything but the canary is not
// zero.

namespace {

std::uint64_t* words_of(const Stack& stack) { return reinterpret_cast<std::uint64_t*>(stack.lowest); }

[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] std::size_t lowest_changed(const std::uint64_t* words,
                                                                                 std::size_t from, std::size_t count,
                                                                                 std::uint64_t fill) {
    std::size_t i = from;
    while (i < count && *static_cast<const volatile std::uint64_t*>(words + i) == fill) ++i;
    return i;
}

}   // namespace

void measure_begin(Stack& stack) {
    sanitizer::unpoison(stack.lowest, stack.bytes);
    if (stack.user) {
        std::uint64_t* words = words_of(stack);
        for (std::size_t i = 0; i < stack.bytes / 8; ++i) words[i] = untouched;
    } else {
        os::discard(stack.lowest, stack.bytes);
        if (stack.guarded == Guard::canary) canary_write(stack);
    }
    stack.measured = true;
}

std::size_t measure(const Stack& stack) {
    if (!stack.measured) return 0;
    if (stack.user) return stack.bytes - lowest_changed(words_of(stack), 0, stack.bytes / 8, untouched) * 8;
    char* from = stack.lowest;
    if (stack.guarded == Guard::canary) {
        const std::size_t words = os::page_bytes() / 8;
        if (lowest_changed(words_of(stack), sizeof(Canary) / 8, words, 0) < words) return stack.bytes;
        from += os::page_bytes();
    }
    char* const end = stack.lowest + stack.bytes;
    return static_cast<std::size_t>(end - os::lowest_resident(from, static_cast<std::size_t>(end - from)));
}

}   // namespace weft::mem
