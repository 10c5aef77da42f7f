// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The depot of stacks. The lock is held for lists and for mapping a chunk; guards are set and pages
// returned without it.
//
// relaxed throughout: the counters are statistics and order nothing; the lock hands over what they
// count.
#include <algorithm>
#include <mutex>
#include <new>

#include "mem/canary.hpp"
#include "mem/stack.hpp"
#include "mem/valgrind.hpp"
#include "os/memory.hpp"
#include "os/stack.hpp"

namespace weft::mem {

namespace {

constexpr std::size_t chunk_bytes = 4 << 20;   // about the size of one mapping
constexpr std::size_t chunk_stacks = 64;       // and at most that many stacks
constexpr std::uint32_t fresh_batch = 8;       // guards are set for that many stacks at a time
constexpr std::size_t address_limit = std::size_t{1} << 46;
constexpr std::uint32_t trim_batch = 64;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// The lists of chunks, linked through two members of theirs.
template <StackChunk* StackChunk::*Next, StackChunk* StackChunk::*Previous>
void link(StackChunk*& list, StackChunk* chunk) {
    chunk->*Previous = nullptr;
    chunk->*Next = list;
    if (list != nullptr) list->*Previous = chunk;
    list = chunk;
}

template <StackChunk* StackChunk::*Next, StackChunk* StackChunk::*Previous>
void unlink(StackChunk*& list, StackChunk* chunk) {
    (chunk->*Previous != nullptr ? chunk->*Previous->*Next : list) = chunk->*Next;
    if (chunk->*Next != nullptr) chunk->*Next->*Previous = chunk->*Previous;
}

constexpr auto link_cold = link<&StackChunk::cold_next, &StackChunk::cold_previous>;
constexpr auto unlink_cold = unlink<&StackChunk::cold_next, &StackChunk::cold_previous>;

}   // namespace

// ---- life ---------------------------------------------------------------------------------------

StackStore::StackStore(const StackSettings& settings) : settings_(settings) {
    const std::size_t page = os::page_bytes();
    const std::size_t guard = round_up(std::max<std::size_t>(settings.guard_bytes, 1), page);
    settings_.guard_bytes = settings.guard == Guard::none ? 0 : guard;
    // What colour() takes is added, so that the minimum holds for every stack.
    minimum_ = std::max(stack_minimum() + colour(31), page);
    default_class_ = class_of(std::max<std::size_t>(settings.default_bytes, 1));
}

StackStore::~StackStore() {
    WEFT_ASSERT(caches_ == nullptr);
    close_chunks(chunks_);
}

bool StackStore::usable() { return settings_.guard != Guard::install || install_works(); }

void StackStore::enter(StackCache* cache) noexcept {
    std::lock_guard hold(lock_);
    check();
    cache->next_ = caches_;
    caches_ = cache;
}

void StackStore::leave(StackCache* cache) noexcept {
    std::lock_guard hold(lock_);
    StackCache** at = &caches_;
    while (*at != cache) at = &(*at)->next_;
    *at = cache->next_;
}

// ---- guards -------------------------------------------------------------------------------------

// Whether the kernel knows MADV_GUARD_INSTALL, and applies it: emulators report success for advice
// that they do not know.
bool StackStore::install_works() noexcept {
    const Answer known = install_works_.load(std::memory_order_relaxed);
    if (known != Answer::unknown) return known == Answer::yes;
    void* page = os::map(os::page_bytes());
    if (page == nullptr) return false;   // not known: the next caller tries again
    // Twice: one failure may be for want of memory, which must not be recorded as an answer.
    const bool done = os::guard_install(page, os::page_bytes()) || os::guard_install(page, os::page_bytes());
    const bool works = done && os::unreadable(page);
    os::unmap(page, os::page_bytes());
    install_works_.store(works ? Answer::yes : Answer::no, std::memory_order_relaxed);
    return works;
}

// Each costs two mappings. Weft takes half of those that the process may have: the rest of the
// program needs some too, and an mmap that fails there is worse than a canary here.
bool StackStore::protect_by_mprotect(Stack& stack) noexcept {
    std::size_t limit = mprotect_limit_.load(std::memory_order_relaxed);
    if (limit == 0) {
        limit = std::max<std::size_t>(os::mapping_limit() / 4, 1);
        mprotect_limit_.store(limit, std::memory_order_relaxed);
    }
    if (mprotected_.fetch_add(1, std::memory_order_relaxed) < limit &&
        os::protect(stack.lowest - stack.guard_bytes, stack.guard_bytes)) {
        return true;
    }
    mprotected_.fetch_sub(1, std::memory_order_relaxed);
    return false;
}

// Sets stack.guarded. False: the guard that the settings ask for is not available.
bool StackStore::protect(Stack& stack) noexcept {
    const Guard wanted = settings_.guard;
    const bool automatic = wanted == Guard::automatic;
    stack.guarded = wanted;
    if (wanted == Guard::none) return true;
    if ((automatic || wanted == Guard::install) && install_works() &&
        os::guard_install(stack.lowest - stack.guard_bytes, stack.guard_bytes)) {
        stack.guarded = Guard::install;
        return true;
    }
    if (wanted == Guard::install) return false;
    if ((automatic || wanted == Guard::mprotect) && protect_by_mprotect(stack)) {
        stack.guarded = Guard::mprotect;
        return true;
    }
    stack.guarded = Guard::canary;
    return true;
}

// Makes a carved stack ready for use, once. False: see protect().
bool StackStore::prepare(Stack& stack) noexcept {
    if (stack.prepared) return true;
    if (!protect(stack)) return false;
    stack.prepared = true;
    stack.valgrind_id = valgrind_stack_register(stack.lowest, stack.lowest + stack.bytes);
    created_.fetch_add(1, std::memory_order_relaxed);
    existing_.fetch_add(1, std::memory_order_relaxed);
    if (stack.guarded == Guard::canary) canaries_.fetch_add(1, std::memory_order_relaxed);
    if (stack.guarded == Guard::none) unguarded_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

// ---- chunks -------------------------------------------------------------------------------------

StackChunk* StackStore::open_chunk(std::uint8_t size_class, std::size_t bytes) noexcept {
    const auto count = size_class == exact_class ? 1 : std::clamp<std::size_t>(chunk_bytes / bytes, 1, chunk_stacks);
    const std::size_t total = (settings_.guard_bytes + bytes) * count;
    auto* base = static_cast<char*>(os::map(total));
    if (base == nullptr) return nullptr;
    void* block = os::allocate(sizeof(StackChunk) + count * sizeof(Stack));
    if (block == nullptr) {
        os::unmap(base, total);
        return nullptr;
    }
    os::advise_huge(base, total, false);   // one touched page would make up to 2 MiB of stacks resident
    auto* chunk = new (block) StackChunk{.base = base,
                                         .bytes = total,
                                         .usable = bytes,
                                         .count = static_cast<std::uint32_t>(count),
                                         .size_class = size_class};
    link<&StackChunk::next, &StackChunk::previous>(chunks_, chunk);
    return chunk;
}

// Frees the mappings and records of chunks that nothing refers to any more, whether their stacks
// are in use or not.
void StackStore::close_chunks(StackChunk* list) noexcept {
    while (StackChunk* chunk = list) {
        list = chunk->next;
        for (std::uint32_t i = 0; i < chunk->carved; ++i) {
            Stack& stack = *chunk->record(i);
            if (!stack.prepared) continue;
            existing_.fetch_sub(1, std::memory_order_relaxed);
            if (stack.guarded == Guard::mprotect) mprotected_.fetch_sub(1, std::memory_order_relaxed);
            if (stack.guarded == Guard::canary) canaries_.fetch_sub(1, std::memory_order_relaxed);
            if (stack.guarded == Guard::none) unguarded_.fetch_sub(1, std::memory_order_relaxed);
            valgrind_stack_deregister(stack.valgrind_id);
            sanitizer::fiber_destroy(stack.fiber);
        }
        sanitizer::unpoison(chunk->base, chunk->bytes);   // for what is mapped there next
        os::unmap(chunk->base, chunk->bytes);
        os::release(chunk);
    }
}

void StackStore::unlink_chunk(StackChunk* chunk) noexcept {
    unlink<&StackChunk::next, &StackChunk::previous>(chunks_, chunk);
}

Stack* StackStore::carve(StackChunk* chunk) noexcept {
    const std::uint32_t index = chunk->carved++;
    auto* stack = new (chunk->record(index)) Stack{};
    stack->lowest = chunk->base + index * chunk->stride() + settings_.guard_bytes;
    stack->bytes = chunk->usable;
    stack->top = stack->lowest + stack->bytes - colour(carved_++);
    stack->chunk = chunk;
    stack->guard_bytes = static_cast<std::uint32_t>(settings_.guard_bytes);
    stack->size_class = chunk->size_class;
    return stack;
}

// ---- idle stacks --------------------------------------------------------------------------------

Stack* StackStore::pop_cold(Depot& depot) noexcept {
    StackChunk* chunk = depot.cold;
    if (chunk == nullptr) return nullptr;
    Stack* stack = chunk->cold;
    chunk->cold = stack->next;
    if (--chunk->cold_count == 0) unlink_cold(depot.cold, chunk);
    if (stack->prepared) {
        --cold_count_;
        cold_bytes_ -= stack->bytes;
    }
    return stack;
}

// True: the whole chunk is now idle and cold, and has been taken out of all lists: the caller
// closes it.
bool StackStore::push_cold(Stack* stack) noexcept {
    StackChunk* chunk = stack->chunk;
    Depot& depot = depots_[chunk->size_class];
    if (chunk->cold_count++ == 0) link_cold(depot.cold, chunk);
    stack->next = chunk->cold;
    chunk->cold = stack;
    if (stack->prepared) {
        ++cold_count_;
        cold_bytes_ += stack->bytes;
    }
    if (chunk->cold_count < chunk->count) return false;
    for (Stack* idle = chunk->cold; idle != nullptr; idle = idle->next) {
        if (!idle->prepared) continue;
        --cold_count_;
        cold_bytes_ -= idle->bytes;
    }
    unlink_cold(depot.cold, chunk);
    unlink_chunk(chunk);
    return true;
}

// Returns the pages of idle stacks to the system, and whole chunks where nothing else is left in
// them.
void StackStore::cool(Stack* chain) noexcept {
    for (Stack* stack = chain; stack != nullptr; stack = stack->next) {
        if (stack->prepared) os::discard(stack->lowest, stack->bytes);
    }
    StackChunk* closing = nullptr;
    {
        std::lock_guard hold(lock_);
        check();
        while (Stack* stack = chain) {
            chain = stack->next;
            StackChunk* chunk = stack->chunk;
            if (!push_cold(stack)) continue;
            chunk->next = closing;
            closing = chunk;
        }
    }
    close_chunks(closing);
}

// Up to `wanted` stacks that were used before, or some that were never handed out or that have no
// pages.
Stack* StackStore::claim(Depot& depot, std::uint8_t size_class, std::uint32_t wanted, bool* hot) noexcept {
    const std::size_t bytes = smallest_class_bytes << size_class;
    Stack* chain = nullptr;
    *hot = depot.hot != nullptr;
    if (*hot) {
        for (; wanted > 0 && depot.hot != nullptr; --wanted) {
            Stack* stack = depot.hot;
            depot.hot = stack->next;
            stack->next = chain;
            chain = stack;
            --hot_count_;
            hot_bytes_ -= bytes;
        }
        return chain;
    }
    for (wanted = std::min(wanted, fresh_batch); wanted > 0; --wanted) {
        Stack* stack = pop_cold(depot);
        if (stack == nullptr) {
            if (depot.carving == nullptr) depot.carving = open_chunk(size_class, bytes);
            if (depot.carving == nullptr) break;
            stack = carve(depot.carving);
            if (depot.carving->carved == depot.carving->count) depot.carving = nullptr;
        }
        stack->next = chain;
        chain = stack;
    }
    return chain;
}

Stack* StackStore::take_chain(std::uint8_t size_class, std::uint32_t wanted, std::uint32_t* count) noexcept {
    bool hot = false;
    Stack* claimed;
    {
        std::lock_guard hold(lock_);
        check();
        claimed = claim(depots_[size_class], size_class, wanted, &hot);
    }
    Stack* ready = nullptr;
    Stack* refused = nullptr;
    *count = 0;
    while (Stack* stack = claimed) {
        claimed = stack->next;
        const bool good = hot || prepare(*stack);
        if (good && !hot && stack->guarded == Guard::canary) canary_write(*stack);
        Stack*& list = good ? ready : refused;
        stack->next = list;
        list = stack;
        if (good) ++*count;
    }
    if (refused != nullptr) cool(refused);
    return ready;
}

void StackStore::give_chain(Stack* first, Stack* last, std::uint32_t count) noexcept {
    const std::size_t bytes = count * first->bytes;
    {
        std::lock_guard hold(lock_);
        check();
        if (hot_bytes_ + bytes <= settings_.idle_bytes) {
            Depot& depot = depots_[first->size_class];
            last->next = depot.hot;
            depot.hot = first;
            hot_count_ += count;
            hot_bytes_ += bytes;
            return;
        }
    }
    cool(first);
}

std::size_t StackStore::trim(std::size_t keep_bytes) noexcept {
    std::size_t trimmed = 0;
    for (;;) {
        Stack* chain = nullptr;
        {
            std::lock_guard hold(lock_);
            check();
            std::uint32_t count = 0;
            for (Depot& depot : depots_) {
                while (depot.hot != nullptr && hot_bytes_ > keep_bytes && count < trim_batch) {
                    Stack* stack = depot.hot;
                    depot.hot = stack->next;
                    stack->next = chain;
                    chain = stack;
                    --hot_count_;
                    hot_bytes_ -= stack->bytes;
                    trimmed += stack->bytes;
                    ++count;
                }
            }
        }
        if (chain == nullptr) return trimmed;
        cool(chain);
    }
}

// ---- stacks larger than any class ---------------------------------------------------------------

Stack* StackStore::take_exact(std::size_t bytes) noexcept {
    if (bytes == 0) bytes = settings_.default_bytes;
    if (bytes > address_limit) return nullptr;
    Stack* stack;
    {
        std::lock_guard hold(lock_);
        StackChunk* chunk = open_chunk(exact_class, round_up(bytes, os::page_bytes()));
        if (chunk == nullptr) return nullptr;
        stack = carve(chunk);
    }
    if (!prepare(*stack)) {
        give_exact(stack);
        return nullptr;
    }
    if (stack->guarded == Guard::canary) canary_write(*stack);
    return stack;
}

void StackStore::give_exact(Stack* stack) noexcept {
    StackChunk* chunk = stack->chunk;
    {
        std::lock_guard hold(lock_);
        unlink_chunk(chunk);
    }
    chunk->next = nullptr;
    close_chunks(chunk);
}

// ---- counters -----------------------------------------------------------------------------------

std::size_t StackStore::live() const {
    std::lock_guard hold(lock_);
    std::size_t idle = hot_count_ + cold_count_;
    for (StackCache* cache = caches_; cache != nullptr; cache = cache->next_) {
        for (const auto& list : cache->lists_) idle += list.count.load(std::memory_order_relaxed);
    }
    const std::size_t all = existing_.load(std::memory_order_relaxed);
    return all > idle ? all - idle : 0;   // the caches' counts change meanwhile
}

std::size_t StackStore::created() const { return created_.load(std::memory_order_relaxed); }
std::size_t StackStore::existing() const { return existing_.load(std::memory_order_relaxed); }
std::size_t StackStore::guarded_by_canary() const { return canaries_.load(std::memory_order_relaxed); }
std::size_t StackStore::unguarded() const { return unguarded_.load(std::memory_order_relaxed); }

std::size_t StackStore::idle_bytes() const {
    std::lock_guard hold(lock_);
    return hot_bytes_;
}

std::size_t StackStore::cold_bytes() const {
    std::lock_guard hold(lock_);
    return cold_bytes_;
}

}   // namespace weft::mem
