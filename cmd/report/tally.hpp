// Counts events by the code that stands for them, a region's body or the start of a thread, and so
// by the library that the code lies in. An event of known code costs a look into a table and an
// addition. The library is looked up when the code is first seen, so that one that is unloaded
// stays known, and again when libraries have been unloaded since, for another one may lie there
// now.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft_report {

struct Origin {
    const char* path;      // as the loader has it; "": the program; null: code that lies in no object
    std::uintptr_t base;   // what the loader has added to its addresses
    Origin* next;
};

class Tally {
public:
    // From any thread.
    void add(const void* code) noexcept;
    // For the child of a fork.
    void clear() noexcept;

    // visit(origin, count), more than once for an origin.
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
    static constexpr std::size_t size = 8192, tries = 64;   // what finds no place in so many tries is not counted here

    bool is_of(Entry& entry, const void* code) noexcept;

    Entry entries_[size];
};

// What libweft_report has for both libraries that count.
struct Shared {
    void (*begun)();                        // called at the first event of a process, and of a child of a fork
    const std::atomic<unsigned>* unloads;   // how often dlclose was called
};
extern Shared shared;

// The object that an address lies in. Reads what the loader has; allocates for an object that is
// new.
const Origin* origin_of(const void* code) noexcept;

}   // namespace weft_report
