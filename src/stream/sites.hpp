// Places in the program that spawn units of kind auto: how often such units suspend, and which kind costs least so (decision 0018).
//
// A unit now and then is a sample. That it is one stands in its descriptor (Unit::spawn_tag) and brings its release to the careful way, by
// the mark that all have who have ended otherwise than by returning; there its context tells whether it has ever left. So a unit that is no
// sample pays nothing for it, and what has been learnt is of units that have ended, whatever kind they were of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/config.hpp"
#include "base/random.hpp"
#include "unit/unit.hpp"
#include "weft/unit.h"

namespace weft {

// One place. All relaxed: whoever reads decides by it what a unit costs, and nothing else; an update that another overwrites is one sample lost.
struct alignas(config::cache_line) Site {
    // Read at each spawn there.
    atomic<std::uintptr_t> key{0};                    // 0: nobody's
    atomic<Kind> kinds[2] = {Kind::lsa, Kind::lsa};   // [whether the pool is private]

    // Written with each sample.
    alignas(config::cache_line) atomic<std::uint32_t> samples{0};
    atomic<std::uint32_t> share{0};                   // that have suspended, of Sites::whole
    atomic<const void*> address{nullptr};
    atomic<const void*> what{nullptr};

    Kind kind_in(bool private_pool) const { return kinds[private_pool].load(std::memory_order_relaxed); }   // relaxed: see above
};

class Sites {
public:
    static constexpr std::size_t count = 256;
    static constexpr std::uint32_t whole = 1 << 16;

    // The place for an address in the program and what is called there, or an object of the program's that stands for both. When there are
    // too many, one that stands for all others.
    Site& find(const void* address, const void* what);

    // A unit that was a sample of that place is released.
    void learn(unsigned tag, bool has_suspended);

    unsigned tag_of(const Site& site) const { return static_cast<unsigned>(&site - sites_) + 1; }

    // All that is known is forgotten. While nobody else looks.
    void forget();

    void each(void (*visit)(const weft_site_info* info, void* argument), void* argument) const;

private:
    static std::uintptr_t key_of(const void* address, const void* what) {
        return reinterpret_cast<std::uintptr_t>(address) ^ std::rotl(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(what)), 24);
    }
    static std::size_t slot_of(std::uintptr_t key) { return key * 0x9e3779b97f4a7c15u >> 56; }   // the golden ratio's bits: neighbours lie apart
    static_assert(count == std::size_t{1} << (64 - 56));

    Site sites_[count + 1];   // the last: all others
    atomic<bool> used_{false};
};
extern Sites sites;

// Which units of a stream's are samples: one in so many, and not each so many, since programs have periods of their own.
class Sampling {
public:
    static constexpr std::uint32_t one_in = 64;

    [[gnu::always_inline]] bool takes_next() { return --left_ == 0 && again(); }

private:
    [[gnu::noinline]] bool again() {
        left_ = one_in / 2 + random_.below(one_in) + 1;
        return true;
    }

    std::uint32_t left_ = 1;
    Random random_{1};
};

// The unit is a sample of that place. Before anybody else knows it.
inline void make_sample(Unit& unit, const Site& site) {
    unit.spawn_site = Unit::tagged(unit.spawn_site, sites.tag_of(site));
    unit.mark(Unit::untidy);
}

}  // namespace weft
