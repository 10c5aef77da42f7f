// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts events by the code that stands for them, a region's body or a thread's start function, and
// so by the library that the code lies in. An event of known code costs a table lookup and an
// addition. The library is looked up when the code is first seen, so that a library that is
// unloaded later stays known. It is looked up again when libraries have been unloaded since, for
// another library may lie there now.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft_report {

struct Origin {
    const char* path;      // the loader's name; "": the program; null: code that lies in no object
    std::uintptr_t base;   // the offset that the loader has added to its addresses
    Origin* next;
};

class Tally {
public:
    // From any thread.
    void add(const void* code) noexcept;
    // For the child of a fork.
    void clear() noexcept;

    // Calls visit(origin, count), possibly several times for one origin.
    template <class Visit>
    void each(Visit visit) const {
        for (const Entry& entry : entries_) {
            // acquire: pairs with is_of
            const Origin* const origin = entry.origin.load(std::memory_order_acquire);
            const std::uint64_t count = entry.count.load(std::memory_order_relaxed);   // relaxed: a statistic
            if (origin != nullptr && count != 0) visit(*origin, count);
        }
    }

private:
    struct Entry {
        std::atomic<const void*> code{nullptr};
        std::atomic<unsigned> checked{0};   // the number of unloads when the origin was looked up, plus 1
        std::atomic<std::uint64_t> count{0};
        std::atomic<const Origin*> origin{nullptr};
    };
    static constexpr std::size_t size = 8192, tries = 64;   // without an entry after so many tries: not counted here

    bool is_of(Entry& entry, const void* code) noexcept;

    Entry entries_[size];
};

// The state in libweft_report that both counting libraries use.
struct Shared {
    void (*begun)();                        // called at the first event of a process, and of the child of a fork
    const std::atomic<unsigned>* unloads;   // how many times dlclose was called
};
extern Shared shared;

// The object that an address lies in. Reads the loader's list; allocates memory for a new object.
const Origin* origin_of(const void* code) noexcept;

}   // namespace weft_report
