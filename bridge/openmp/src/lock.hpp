// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks in the program's memory: a word of four bytes, zero when the lock is free. Waiters are
// parked by the word's address.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft_openmp {

using Word = std::atomic<std::uint32_t>;
static_assert(sizeof(Word) == 4);

void lock_contended(Word& word);
void wake_after(const Word& word);

inline bool try_lock_word(Word& word) {
    std::uint32_t none = 0;
    // acquire: pairs with unlock_word; relaxed: a failure teaches nothing
    return word.compare_exchange_strong(none, 1, std::memory_order_acquire, std::memory_order_relaxed);
}
inline void lock_word(Word& word) {
    if (!try_lock_word(word)) [[unlikely]]
        lock_contended(word);
}
inline void unlock_word(Word& word) {
    if (word.exchange(0) == 2) [[unlikely]]
        wake_after(word);
}

}   // namespace weft_openmp
