// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of one stream, in a ring of fixed size: only the stream writes it; the writer of the
// trace reads it, mostly after the stream has ended. A full ring loses its oldest events. It holds
// numbers only: the writer of the file knows what they mean (observe/trace_file.cpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "arch/arch.hpp"
#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/memory.hpp"

namespace weft::trace {

// The events of a unit, in the order of the bits of weft_observed; then events that only the trace
// has.
enum class Event : std::uint8_t {
    create,
    start,
    suspend,
    yield,
    resume,
    finish,
    join,
    free,
    cancel,
    migrate,
    revive,
    promote,
    steal,   // the unit is taken from another stream's deque
    sleep,   // the stream gives its hart back
    wake,
    rescue,   // the stream stands in for another one, whose number is the detail
    relief,   // and no longer does so
    name,     // the name of the unit of the next record
};

struct Record {
    std::uint64_t stamp = 0;    // arch::cycles()
    std::uint64_t id = 0;       // of the unit
    std::uint64_t detail = 0;   // an address: the spawn site, the object that the unit waits for, a pool
    Event what = Event::create;
    std::uint8_t kind = 0;      // of the unit
    std::uint8_t waits = 0;     // why the unit leaves
    std::uint8_t outcome = 0;   // how the unit ends
    std::uint32_t unused = 0;
};
static_assert(sizeof(Record) == 32);

class Ring {
public:
    // The length of the name that a record of 32 bytes holds, without its end.
    static constexpr std::size_t name_bytes = 24;

    // Makes a power of two of records, which are committed as they are written; false: no memory.
    bool make(std::size_t records) {
        const std::size_t rounded = std::bit_ceil(records);
        words_ = static_cast<atomic<std::uint64_t>*>(os::map(rounded * sizeof(Record)));
        mask_ = rounded - 1;
        return words_ != nullptr;
    }

    Ring() = default;
    Ring(const Ring&) = delete;
    ~Ring() {
        if (words_ != nullptr) os::unmap(words_, (mask_ + 1) * sizeof(Record));
    }

    // Called by the stream.
    void add(Record record) {
        record.stamp = arch::cycles();
        put(record);
    }
    void add_name(const char* name) {
        Record record;
        std::memcpy(static_cast<void*>(&record), name, name_bytes);
        record.what = Event::name;
        put(record);
    }

    std::size_t capacity() const { return mask_ + 1; }

    // On entry: make() has been called.
    void check() const { WEFT_ASSERT(words_ != nullptr && std::has_single_bit(capacity())); }

    // How many were ever written. acquire: pairs with the release in put(), so that the last record
    // is visible.
    std::uint64_t written() const { return written_.load(std::memory_order_acquire); }

    // Reads the record of that number; false: it is lost, or is being lost.
    bool read(std::uint64_t number, Record& record) const {
        std::uint64_t words[words_each];
        // acquire: pairs with the releases in put(). A reader that has read a word of a later
        // record sees that this record was begun.
        for (std::size_t i = 0; i < words_each; ++i) words[i] = place(number)[i].load(std::memory_order_acquire);
        std::memcpy(static_cast<void*>(&record), words, sizeof record);
        return number + mask_ >= written_.load(std::memory_order_relaxed);   // relaxed: ordered after the loads above
    }

private:
    static constexpr std::size_t words_each = sizeof(Record) / sizeof(std::uint64_t);

    atomic<std::uint64_t>* place(std::uint64_t number) const { return words_ + (number & mask_) * words_each; }

    void put(const Record& record) {
        check();
        const std::uint64_t number = written_.load(std::memory_order_relaxed);   // relaxed: written by the caller only
        std::uint64_t words[words_each];
        std::memcpy(words, &record, sizeof words);
        atomic<std::uint64_t>* const to = place(number);
        // release, all of them: they pair with the acquires of the reader. They cost no extra
        // instruction on x86.
        for (std::size_t i = 0; i < words_each; ++i) to[i].store(words[i], std::memory_order_release);
        written_.store(number + 1, std::memory_order_release);
    }

    atomic<std::uint64_t>* words_ = nullptr;
    std::size_t mask_ = 0;
    atomic<std::uint64_t> written_{0};
};

}   // namespace weft::trace
