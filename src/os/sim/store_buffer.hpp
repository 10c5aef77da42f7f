// What a virtual hart has stored and others do not see yet, oldest first.
//
// While the hart runs, memory is as it sees it, its own stores included, so that its plain accesses
// need not be known here; what lay there before is kept. When another runs, memory is rolled back
// to that, and brought forward again when the hart comes back: nobody but itself sees a store
// before the buffer lets it go. So plain stores behind a buffered one of the same place are hidden
// with it, in the order in which a processor would let them go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::sim {

class StoreBuffer {
public:
    static constexpr std::size_t capacity = 16;

    std::size_t count() const { return count_; }

    // The hart runs, and stores there next.
    void keep_old(void* word, std::size_t bytes) {
        if (count_ == capacity) let_go(1);
        Entry& entry = entries_[count_++];
        entry.word = word;
        entry.bytes = static_cast<std::uint8_t>(bytes);
        std::memcpy(&entry.other, word, bytes);
    }

    // The hart runs: the oldest are seen by everybody.
    void let_go(std::size_t oldest) {
        count_ -= oldest;
        std::memmove(entries_, entries_ + oldest, count_ * sizeof *entries_);
    }
    void let_all_go() { count_ = 0; }

    // Those to words in there are seen by everybody.
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

    // Whether one of the words lies in there.
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
        std::uint64_t other;   // while the hart runs: what others see; while it does not: what it has stored
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
