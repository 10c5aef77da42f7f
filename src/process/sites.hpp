// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sites: places in the program that spawn units of kind auto into pools that several streams draw
// from. For each site: how often its units suspend, and which kind costs least then (decision
// 0018). In private pools units of kind auto are LSA, which no other kind beats there, and nothing
// is learnt.
//
// Now and then a unit is a sample. Its descriptor says so (Unit::spawn_tag), and its release takes
// the slow path, because of the mark that all units have that ended otherwise than by returning;
// there the unit's context shows whether it has ever left. So a unit that is no sample pays
// nothing, and what is learnt comes from units that have ended, whatever their kind.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/config.hpp"
#include "base/random.hpp"
#include "unit/unit.hpp"
#include "weft/unit.h"

namespace weft {

// One site. relaxed, all of it: a reader decides by it only what a unit costs; if an update
// overwrites another, one sample is lost.
struct alignas(config::cache_line) Site {
    // Read at each spawn there.
    atomic<std::uintptr_t> key{0};   // 0: free
    // The kind before enough is known: one that shows for certain whether the unit suspends.
    atomic<Kind> cheapest{Kind::roc};

    // Written with each sample.
    alignas(config::cache_line) atomic<std::uint32_t> samples{0};
    atomic<std::uint32_t> share{0};   // the part of the samples that have suspended, in units of 1 / Sites::whole
    atomic<const void*> address{nullptr};
    atomic<const void*> what{nullptr};

    // Whether enough is known for `cheapest` to follow from it.
    static constexpr std::uint32_t enough = 16;
    // relaxed, here and in kind(): it decides only what a unit costs
    bool is_believed() const { return samples.load(std::memory_order_relaxed) >= enough; }

    Kind kind() const { return cheapest.load(std::memory_order_relaxed); }

    // relaxed: at worst an estimate is lost
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

    // The site for an address in the program and the function called there, or for an object of the
    // program that stands for both. When there are too many sites, one that stands for all others.
    Site& find(const void* address, const void* what);

    // A unit that was a sample of that site is released.
    void learn(unsigned tag, bool has_suspended);

    unsigned tag_of(const Site& site) const { return static_cast<unsigned>(&site - sites_) + 1; }

    // A runtime begins: forgets what earlier runtimes have learnt, since no run depends on another.
    // `sc`: whether a unit finds as much stack where its scheduler runs as its own stack would
    // have. Called before there are streams; other threads may read meanwhile (each()).
    void begin(bool sc);

    void each(void (*visit)(const weft_site_info* info, void* argument), void* argument) const;

private:
    static std::uintptr_t key_of(const void* address, const void* what) {
        return reinterpret_cast<std::uintptr_t>(address) ^
               std::rotl(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(what)), 24);
    }
    // the golden ratio's bits: adjacent keys are spread apart
    static std::size_t slot_of(std::uintptr_t key) { return key * 0x9e3779b97f4a7c15u >> 56; }
    static_assert(count == std::size_t{1} << (64 - 56));

    Site sites_[count + 1];   // the last one: for all other sites
    atomic<bool> used_{false};
    bool sc_ = true;
};
extern Sites sites;

// The sites at which a stream has spawned lately, each with the initial header of its next unit: a
// spawn at one of them again need not search for the site. Several, since a recursive function may
// have several sites, and a compiler makes more of them.
class LatestSites {
public:
    struct Entry {
        const void* address = nullptr;
        void (*body)(void*) = nullptr;
        const Site* site = nullptr;
        Unit::InitialHeader initial_header;   // where several streams draw from the pool, too; renewed with each sample
    };

    [[gnu::always_inline]] Entry& at(const void* address) {
        return entries_[reinterpret_cast<std::uintptr_t>(address) / 16 % count];
    }

private:
    static constexpr std::size_t count = 32;

    Entry entries_[count];
};

// Which of a stream's units are samples: one in so many on average, not at fixed intervals, since
// programs have periods of their own. More samples where little is known yet.
class Sampling {
public:
    static constexpr std::uint32_t one_in = 128, one_in_at_first = 16;

    [[gnu::always_inline]] bool takes_next(const Site& site) { return (left_ == 0 || --left_ == 0) && draw(site) != 0; }

    // The next unit is no sample, and is passed over; or it is a sample, if takes_next() is called
    // next.
    [[gnu::always_inline]] bool passes_over_next() { return --left_ != 0; }

    // For units that are made together: which of them, counted from 1, is the next sample.
    // set_next() is called after them.
    std::size_t next() const { return left_ == 0 ? 1 : left_; }
    void set_next(std::size_t which) { left_ = static_cast<std::uint32_t>(which); }

    // A unit of that site is a sample. Returns how many units later the next sample comes. Not 0.
    [[gnu::noinline]] std::uint32_t draw(const Site& site) {
        const std::uint32_t mean = site.is_believed() ? one_in : one_in_at_first;
        return left_ = mean / 2 + random_.below(mean) + 1;
    }

private:
    std::uint32_t left_ = 1;   // to the next sample; 0: the next unit has been announced as a sample
    Random random_{1};
};

// The unit is a sample of that site. Before any other thread knows the unit.
inline void make_sample(Unit& unit, const Site& site) {
    unit.spawn_site = Unit::tagged(unit.spawn_site, sites.tag_of(site));
    unit.mark(Unit::untidy);
}

}   // namespace weft
