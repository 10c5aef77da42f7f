// Places in the program that spawn units of kind auto into pools that others draw from: how often
// such units suspend, and which kind costs least so (decision 0018). In private pools they are LSA,
// which no other kind is better than there, and nothing is learnt.
//
// A unit now and then is a sample. That it is one stands in its descriptor (Unit::spawn_tag) and
// brings its release to the careful way, by the mark that all have who have ended otherwise than by
// returning; there its context tells whether it has ever left. So a unit that is no sample pays
// nothing for it, and what has been learnt is of units that have ended, whatever kind they were of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/config.hpp"
#include "base/random.hpp"
#include "unit/unit.hpp"
#include "weft/unit.h"

namespace weft {

// One place. All relaxed: whoever reads decides by it what a unit costs, and nothing else; an
// update that another overwrites is one sample lost.
struct alignas(config::cache_line) Site {
    // Read at each spawn there.
    atomic<std::uintptr_t> key{0};   // 0: nobody's
    // What is not known yet is of a kind that tells for certain whether it suspends.
    atomic<Kind> cheapest{Kind::roc};

    // Written with each sample.
    alignas(config::cache_line) atomic<std::uint32_t> samples{0};
    atomic<std::uint32_t> share{0};   // that have suspended, of Sites::whole
    atomic<const void*> address{nullptr};
    atomic<const void*> what{nullptr};

    // Whether so much is known that `cheapest` follows from it.
    static constexpr std::uint32_t enough = 16;
    // relaxed, here and below: see above
    bool is_believed() const { return samples.load(std::memory_order_relaxed) >= enough; }

    Kind kind() const { return cheapest.load(std::memory_order_relaxed); }

    // relaxed: an estimate is lost at worst
    void forget() {
        address.store(nullptr, std::memory_order_relaxed);
        what.store(nullptr, std::memory_order_relaxed);
        samples.store(0, std::memory_order_relaxed);
        share.store(0, std::memory_order_relaxed);
        cheapest.store(Kind::roc, std::memory_order_relaxed);
        key.store(0, std::memory_order_relaxed);
    }
};

class Sites {
public:
    static constexpr std::size_t count = 256;
    static constexpr std::uint32_t whole = 1 << 16;

    // The place for an address in the program and what is called there, or an object of the
    // program's that stands for both. When there are too many, one that stands for all others.
    Site& find(const void* address, const void* what);

    // A unit that was a sample of that place is released.
    void learn(unsigned tag, bool has_suspended);

    unsigned tag_of(const Site& site) const { return static_cast<unsigned>(&site - sites_) + 1; }

    // A runtime begins: what those before it have learnt is forgotten, since no run depends on
    // another. `sc`: whether a unit finds as much stack where its scheduler runs as it would have
    // of its own. Before there are streams; others may look (each()).
    void begin(bool sc);

    void each(void (*visit)(const weft_site_info* info, void* argument), void* argument) const;

private:
    static std::uintptr_t key_of(const void* address, const void* what) {
        return reinterpret_cast<std::uintptr_t>(address) ^
               std::rotl(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(what)), 24);
    }
    // the golden ratio's bits: neighbours lie apart
    static std::size_t slot_of(std::uintptr_t key) { return key * 0x9e3779b97f4a7c15u >> 56; }
    static_assert(count == std::size_t{1} << (64 - 56));

    Site sites_[count + 1];   // the last: all others
    atomic<bool> used_{false};
    bool sc_ = true;
};
extern Sites sites;

// The places at which a stream has spawned lately, each with what the bytes of its next unit begin
// as: whoever spawns at one of them again need not look for it. Several, since a function that
// calls itself may have several places, and a compiler makes more of them.
class LatestSites {
public:
    struct Entry {
        const void* address = nullptr;
        void (*body)(void*) = nullptr;
        const Site* site = nullptr;
        Unit::InitialHeader initial_header;   // where others draw from the pool, too; looked at anew with each sample
    };

    [[gnu::always_inline]] Entry& at(const void* address) {
        return entries_[reinterpret_cast<std::uintptr_t>(address) / 16 % count];
    }

private:
    static constexpr std::size_t count = 8;

    Entry entries_[count];
};

// Which units of a stream's are samples: one in so many, and not each so many, since programs have
// periods of their own. More of them where little is known yet.
class Sampling {
public:
    static constexpr std::uint32_t one_in = 128, one_in_at_first = 16;

    [[gnu::always_inline]] bool takes_next(const Site& site) { return (left_ == 0 || --left_ == 0) && draw(site) != 0; }

    // The next unit is no sample, and is passed over; or it is one, if takes_next() is asked next.
    [[gnu::always_inline]] bool passes_over_next() { return --left_ != 0; }

    // Of units that are made together: the how many-th, from 1, is the next sample; and after them.
    std::size_t next() const { return left_ == 0 ? 1 : left_; }
    void set_next(std::size_t which) { left_ = static_cast<std::uint32_t>(which); }

    // A unit of that place is a sample: the how many-th after it is the next. Not 0.
    [[gnu::noinline]] std::uint32_t draw(const Site& site) {
        const std::uint32_t mean = site.is_believed() ? one_in : one_in_at_first;
        return left_ = mean / 2 + random_.below(mean) + 1;
    }

private:
    std::uint32_t left_ = 1;   // to the next sample; 0: it has been said that it is the next unit
    Random random_{1};
};

// The unit is a sample of that place. Before anybody else knows it.
inline void make_sample(Unit& unit, const Site& site) {
    unit.spawn_site = Unit::tagged(unit.spawn_site, sites.tag_of(site));
    unit.mark(Unit::untidy);
}

}   // namespace weft
