// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stores of a virtual hart that other harts do not see yet, oldest first.
//
// While the hart runs, memory is as the hart sees it, its own stores included, so that its plain
// accesses need not be known here; the buffer keeps the previous values. When another hart runs,
// memory is rolled back to these, and it is brought forward again when the hart returns: only the
// hart itself sees a store before the buffer releases it. So plain stores that follow a buffered
// one to the same place are hidden with it, in the order in which a processor would release them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::sim {

class StoreBuffer {
public:
    static constexpr std::size_t capacity = 16;

    std::size_t count() const { return count_; }

    // The hart runs, and is about to store there.
    void keep_old(void* word, std::size_t bytes) {
        if (count_ == capacity) let_go(1);
        Entry& entry = entries_[count_++];
        entry.word = word;
        entry.bytes = static_cast<std::uint8_t>(bytes);
        std::memcpy(&entry.other, word, bytes);
    }

    // The hart runs: the oldest stores become visible to all harts.
    void let_go(std::size_t oldest) {
        count_ -= oldest;
        std::memmove(entries_, entries_ + oldest, count_ * sizeof *entries_);
    }
    void let_all_go() { count_ = 0; }

    // The stores to words in this range become visible to all harts.
    void let_go(const char* begin, const char* end) {
        std::size_t left = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            const auto* const word = static_cast<const char*>(entries_[i].word);
            if (word < begin || word >= end) entries_[left++] = entries_[i];
        }
        count_ = left;
    }

    // The hart stops running, or runs again.
    void roll_back() {
        for (std::size_t i = count_; i-- > 0;) swap(entries_[i]);
    }
    void bring_forward() {
        for (std::size_t i = 0; i < count_; ++i) swap(entries_[i]);
    }

    // Whether one of the words lies in this range.
    bool touches(const void* begin, std::size_t bytes) const {
        const auto first = reinterpret_cast<std::uintptr_t>(begin);
        for (std::size_t i = 0; i < count_; ++i) {
            if (reinterpret_cast<std::uintptr_t>(entries_[i].word) - first < bytes) return true;
        }
        return false;
    }

private:
    struct Entry {
        void* word;
        std::uint64_t other;   // while the hart runs: what other harts see; otherwise: what it has stored
        std::uint8_t bytes;
    };

    static void swap(Entry& entry) {
        std::uint64_t there = 0;
        std::memcpy(&there, entry.word, entry.bytes);
        std::memcpy(entry.word, &entry.other, entry.bytes);
        entry.other = there;
    }

    Entry entries_[capacity];
    std::size_t count_ = 0;
};

}   // namespace weft::sim
