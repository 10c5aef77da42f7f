// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream's cache of stacks: the slow halves of take and give.
#include <algorithm>

#include "mem/stack.hpp"

namespace weft::mem {
namespace {

constexpr std::size_t cache_bytes = 4 << 20;   // what a cache keeps of one class; at least two stacks, at most 64
constexpr std::uint8_t fiber_uses_limit = 200;

}   // namespace

StackCache::StackCache(StackStore& store) noexcept : store_(store), default_list_(&lists_[store.default_class_]) {
    for (std::uint8_t i = 0; i < stack_classes; ++i) {
        const std::size_t fitting = cache_bytes / (smallest_class_bytes << i);
        lists_[i].limit = static_cast<std::uint32_t>(std::clamp<std::size_t>(fitting, 2, 64));
    }
    store_.enter(this);
}

StackCache::~StackCache() {
    flush();
    store_.leave(this);
}

Stack* StackCache::take_slow(List& list, std::size_t bytes) noexcept {
    const auto size_class = static_cast<std::uint8_t>(&list - lists_);
    if (size_class == exact_class) return store_.take_exact(bytes);
    std::uint32_t count = 0;
    Stack* stack = store_.take_chain(size_class, list.limit / 2, &count);
    if (stack == nullptr) return nullptr;
    list.first = stack->next;
    list.check(list.add(static_cast<int>(count) - 1));
    return stack;
}

// The older half leaves: the most recently used stacks are warm.
void StackCache::spill(List& list) noexcept {
    if (list.limit == 0) {
        Stack* stack = list.first;
        list.first = nullptr;
        list.add(-1);
        return store_.give_exact(stack);
    }
    Stack* kept = list.first;
    for (std::uint32_t i = 1; i < list.limit / 2; ++i) kept = kept->next;
    Stack* first = kept->next;
    kept->next = nullptr;
    std::uint32_t count = 1;
    Stack* last = first;
    for (; last->next != nullptr; last = last->next) ++count;
    list.check(list.add(-static_cast<int>(count)));
    store_.give_chain(first, last, count);
}

void StackCache::flush() noexcept {
    for (List& list : lists_) {
        Stack* first = list.first;
        if (first == nullptr) continue;
        std::uint32_t count = 1;
        Stack* last = first;
        for (; last->next != nullptr; last = last->next) ++count;
        list.first = nullptr;
        list.check(list.add(-static_cast<int>(count)));
        store_.give_chain(first, last, count);
    }
}

// The thread sanitizer keeps a shadow stack of calls for each fiber, and units that leave without
// returning leave their calls on it; so a fiber is replaced now and then. It is kept in between:
// making one is slow, and there can be only some 8,000 of them.
void StackCache::renew_fiber(Stack* stack) noexcept {
    if (stack == nullptr) return;
    if (stack->fiber != nullptr && ++stack->fiber_uses < fiber_uses_limit) return;
    sanitizer::fiber_destroy(stack->fiber);
    stack->fiber = sanitizer::fiber_create();
    stack->fiber_uses = 0;
}

}   // namespace weft::mem
