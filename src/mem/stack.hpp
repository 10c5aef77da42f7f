// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stacks for units: size classes, a depot for the process, a cache for each stream, guards.
//
// A stack's record lies beside its memory, not in it, so that all pages of an idle stack can be
// returned to the system. Stacks are carved from larger mappings, 64 at a time where they are
// small; they are committed when touched. A stack belongs to exactly one of: a unit, a cache, the
// depot.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/config.hpp"
#include "base/sanitizer.hpp"
#include "os/lock.hpp"

namespace weft::mem {

enum class Guard : std::uint8_t {
    automatic,   // the first of the next three that works, chosen anew for each stack
    install,     // MADV_GUARD_INSTALL
    mprotect,    // canaries where the mappings run out
    canary,      // a pattern at the lowest end; callers check it when they need to
    none,
};

struct StackSettings {
    std::size_t default_bytes = 65536;
    std::size_t guard_bytes = 0;   // 0: one page
    Guard guard = Guard::automatic;
    std::size_t idle_bytes = 64 << 20;   // idle stacks in the depot beyond this lose their pages
};

struct StackChunk;

struct alignas(config::cache_line) Stack {
    Stack* next = nullptr;           // the list it is in; free for its user while it is in use
    char* lowest = nullptr;          // the lowest byte that may be used; the guard lies below
    char* top = nullptr;             // the initial stack pointer, aligned to 16, coloured: see colour()
    std::size_t bytes = 0;           // usable: from lowest to the real end
    void* fiber = nullptr;           // the thread sanitizer's; made once, recycled with the stack
    StackChunk* chunk = nullptr;     // the mapping it was carved from
    std::uint32_t guard_bytes = 0;   // kept free below `lowest`, whatever protects it
    unsigned valgrind_id = 0;
    std::uint8_t size_class = 0;
    Guard guarded = Guard::none;   // its actual guard: install, mprotect, canary or none
    bool user = false;             // its memory is the user's
    bool measured = false;         // measure_begin() was called for its present use
    bool prepared = false;         // its guard is in place
    std::uint8_t fiber_uses = 0;   // since `fiber` was made
};
static_assert(sizeof(Stack) == config::cache_line);

// One mapping, cut into stacks of one class, each above its guard. The records follow this header.
struct alignas(config::cache_line) StackChunk {
    char* base;
    std::size_t bytes;     // of the mapping
    std::size_t usable;    // of each stack
    std::uint32_t count;   // stacks that there is room for
    std::uint8_t size_class;
    std::uint32_t carved = 0;   // stacks that were ever handed out
    std::uint32_t cold_count = 0;
    Stack* cold = nullptr;        // idle stacks without pages, and also those without a guard
    StackChunk* next = nullptr;   // linked by the store
    StackChunk* previous = nullptr;
    StackChunk* cold_next = nullptr;   // linked by the depot, when cold_count > 0
    StackChunk* cold_previous = nullptr;

    Stack* record(std::uint32_t index) { return reinterpret_cast<Stack*>(this + 1) + index; }
    std::size_t stride() const { return bytes / count; }
};

inline constexpr std::size_t smallest_class_bytes = 16 << 10;
inline constexpr std::size_t largest_class_bytes = 64 << 20;
inline constexpr std::uint8_t stack_classes = 13;            // 16 KiB, 32 KiB, ... 64 MiB
inline constexpr std::uint8_t exact_class = stack_classes;   // larger: mapped as requested, unmapped when given back
static_assert(smallest_class_bytes << (stack_classes - 1) == largest_class_bytes);

// The smallest stack: a signal's frame and 8 KiB.
std::size_t stack_minimum();

// How far below the real end a stack begins: the hot ends of many stacks would otherwise fall on
// the same cache sets. In steps of single lines, so that 64 units at a barrier fit into 32 KiB of
// eight ways (with steps of 128 a switch would have two misses), and within half a page, so that a
// small unit stays within one page.
inline constexpr std::size_t colour(std::size_t index) { return (index & 31) * 64; }

// False when the pattern at the stack's end has been overwritten. True for stacks without a canary.
bool canary_intact(const Stack& stack);

// Whether an access to `address` that faulted (or a canary found broken) looks like an overflow of
// `stack`: in the guard, or within a page below it. Async-signal-safe.
bool in_guard(const Stack& stack, const void* address);

// Wraps the user's memory: the record is placed at its high end. Not guarded. Null: less than
// stack_minimum(). Such a stack is not given to a cache: user_stack_done() ends its use, before the
// memory is freed.
Stack* user_stack(void* memory, std::size_t bytes);
void user_stack_done(Stack* stack);

// How much of a stack was used at most, to a page, since measure_begin(), which destroys the
// stack's content: no code may run on it then. measure() may be called from anywhere, also while
// the stack is in use.
void measure_begin(Stack& stack);
std::size_t measure(const Stack& stack);

class StackCache;

// The depot. Thread-safe.
class StackStore {
public:
    explicit StackStore(const StackSettings& settings);
    // Unmaps every stack, also those in use. All caches must have been destroyed.
    ~StackStore();
    StackStore(const StackStore&) = delete;

    // False: the kind of guard that the settings ask for is not available on this system, and takes
    // return null.
    bool usable();

    // Returns the pages of idle stacks in the depot to the system while more than `keep_bytes` of
    // idle stacks have pages. Returns the bytes of the stacks trimmed, touched or not.
    std::size_t trim(std::size_t keep_bytes) noexcept;

    // Counters. live(): now with units (a momentary value); created(): ever made; the others: of
    // those that exist.
    std::size_t live() const;
    std::size_t created() const;
    std::size_t existing() const;
    std::size_t guarded_by_canary() const;
    std::size_t unguarded() const;
    std::size_t idle_bytes() const;   // in the depot, with pages
    std::size_t cold_bytes() const;   // in the depot, without pages

    // While no thread runs: the depot's lists agree with its counts, and so do the lists of the
    // caches (check.cpp).
    void check_whole() const;

    // The size class for `bytes` (0: the default).
    std::uint8_t class_of(std::size_t bytes) const noexcept {
        if (bytes == 0) return default_class_;
        if (bytes < minimum_) bytes = minimum_;
        if (bytes > largest_class_bytes) return exact_class;
        return static_cast<std::uint8_t>(std::bit_width((bytes - 1) / smallest_class_bytes));
    }

private:
    friend class StackCache;

    // A chain of one to `wanted` stacks of a class, their number in *count; null: no memory.
    Stack* take_chain(std::uint8_t size_class, std::uint32_t wanted, std::uint32_t* count) noexcept;
    // Takes over `count` stacks of one class.
    void give_chain(Stack* first, Stack* last, std::uint32_t count) noexcept;
    // For exact_class.
    Stack* take_exact(std::size_t bytes) noexcept;
    void give_exact(Stack* stack) noexcept;
    void enter(StackCache* cache) noexcept;
    void leave(StackCache* cache) noexcept;

    struct Depot {
        Stack* hot = nullptr;            // idle, as they were given back
        StackChunk* cold = nullptr;      // chunks with idle stacks that have no pages, or no guard yet
        StackChunk* carving = nullptr;   // the chunk with stacks never handed out
    };

    bool install_works() noexcept;
    bool prepare(Stack& stack) noexcept;
    bool protect(Stack& stack) noexcept;
    bool protect_by_mprotect(Stack& stack) noexcept;
    void cool(Stack* chain) noexcept;
    void close_chunks(StackChunk* list) noexcept;

    // With the lock held.
    void check() const {   // on entry
        WEFT_ASSERT((hot_count_ == 0) == (hot_bytes_ == 0));
        WEFT_ASSERT((cold_count_ == 0) == (cold_bytes_ == 0));
        WEFT_ASSERT(chunks_ == nullptr || chunks_->previous == nullptr);
    }
    Stack* claim(Depot& depot, std::uint8_t size_class, std::uint32_t wanted, bool* hot) noexcept;
    StackChunk* open_chunk(std::uint8_t size_class, std::size_t bytes) noexcept;
    void unlink_chunk(StackChunk* chunk) noexcept;
    Stack* carve(StackChunk* chunk) noexcept;
    Stack* pop_cold(Depot& depot) noexcept;
    bool push_cold(Stack* stack) noexcept;

    StackSettings settings_;   // guard_bytes in whole pages, 0 for Guard::none
    std::size_t minimum_;
    std::uint8_t default_class_;

    // Statistics. relaxed everywhere: they order nothing.
    atomic<std::size_t> created_{0};
    atomic<std::size_t> existing_{0};
    atomic<std::size_t> canaries_{0};
    atomic<std::size_t> unguarded_{0};
    atomic<std::size_t> mprotected_{0};

    // Determined when first needed. relaxed: a thread that sees "unknown" asks the system again,
    // and gets the same answer.
    enum class Answer : std::uint8_t { unknown, no, yes };
    atomic<Answer> install_works_{Answer::unknown};
    atomic<std::size_t> mprotect_limit_{0};   // 0: unknown

    mutable os::Lock lock_;   // guards everything that follows
    Depot depots_[stack_classes];
    StackChunk* chunks_ = nullptr;
    StackCache* caches_ = nullptr;
    std::size_t carved_ = 0;   // gives stacks their colours
    std::size_t hot_count_ = 0;
    std::size_t hot_bytes_ = 0;
    std::size_t cold_count_ = 0;   // of those with a guard
    std::size_t cold_bytes_ = 0;
};

// One per stream; used by one thread at a time.
class StackCache {
public:
    explicit StackCache(StackStore& store) noexcept;
    ~StackCache();
    StackCache(const StackCache&) = delete;

    // A stack of at least `bytes` (0: the default); null: no memory. What is on it is undefined.
    [[gnu::always_inline]] Stack* take(std::size_t bytes = 0) noexcept {
        List& list = bytes == 0 ? *default_list_ : lists_[store_.class_of(bytes)];
        Stack* stack = list.first;
        if (stack == nullptr) [[unlikely]]
            return ready(take_slow(list, bytes));
        list.first = stack->next;
        list.check(list.add(-1));
        return ready(stack);
    }

    // Takes back a stack that no code runs on.
    [[gnu::always_inline]] void give(Stack* stack) noexcept {
        WEFT_ASSERT(!stack->user && stack->prepared);
        List& list = lists_[stack->size_class];
        stack->measured = false;
        stack->next = list.first;
        list.first = stack;
        if (list.add(1) > list.limit) [[unlikely]]
            spill(list);
    }

    // Moves everything to the depot.
    void flush() noexcept;

private:
    friend class StackStore;

    struct List {
        Stack* first = nullptr;
        // Only the owner writes it; StackStore::live() reads it. relaxed: a statistic, it orders
        // nothing.
        atomic<std::uint32_t> count{0};
        std::uint32_t limit = 0;   // beyond it half of the list goes to the depot
        // On the owner's entry: `now` are counted.
        void check(std::uint32_t now) const noexcept { WEFT_ASSERT((first == nullptr) == (now == 0)); }
        std::uint32_t add(int change) noexcept {
            const std::uint32_t now = count.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(change);
            count.store(now, std::memory_order_relaxed);
            return now;
        }
    };

    [[gnu::always_inline]] Stack* ready(Stack* stack) noexcept {
        if constexpr (config::address_sanitizer) {
            if (stack != nullptr) sanitizer::unpoison(stack->lowest, stack->bytes);
        }
        if constexpr (config::thread_sanitizer) renew_fiber(stack);
        return stack;
    }

    [[gnu::noinline]] Stack* take_slow(List& list, std::size_t bytes) noexcept;
    [[gnu::noinline]] void spill(List& list) noexcept;
    static void renew_fiber(Stack* stack) noexcept;

    StackStore& store_;
    List* default_list_;
    StackCache* next_ = nullptr;   // linked by the store
    // By class. The last list is that of exact_class: its limit is 0, so it is empty on each take,
    // and neither take() nor give() needs a check for it.
    List lists_[stack_classes + 1];
};

}   // namespace weft::mem
