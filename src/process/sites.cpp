// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/sites.hpp"

#include <algorithm>

namespace weft {

constinit Sites sites;

namespace {

constexpr std::size_t probes = 8;   // slots that a site may lie in
// samples that a site remembers, so that it follows changes in the program
constexpr std::uint32_t memory = 64;

constexpr std::uint32_t percent(std::uint32_t number) { return number * Sites::whole / 100; }

// The cheapest kind for that share (doc/decisions/0018 has the measurements). The kind `now` is
// kept somewhat beyond its limit, so that a share that lies between two kinds does not change the
// kind with each sample.
Kind cheapest(std::uint32_t share, Kind now) {
    const auto below = [&](std::uint32_t limit, bool is) {
        return share < (is ? percent(limit) * 5 / 4 : percent(limit));
    };
    if (below(20, now == Kind::sc)) return Kind::sc;
    if (below(45, now == Kind::sc || now == Kind::roc)) return Kind::roc;
    return Kind::lsa;
}

}   // namespace

Site& Sites::find(const void* address, const void* what) {
    const std::uintptr_t key = key_of(address, what);
    used_.store(true, std::memory_order_relaxed);   // relaxed, here and later in this function: see Site
    const std::size_t first = slot_of(key);
    for (std::size_t i = 0; i < probes; ++i) {
        Site& site = sites_[(first + i) % count];
        std::uintptr_t seen = site.key.load(std::memory_order_relaxed);
        if (seen == 0 &&
            site.key.compare_exchange_strong(seen, key, std::memory_order_relaxed, std::memory_order_relaxed)) {
            site.address.store(address, std::memory_order_relaxed);
            site.what.store(what, std::memory_order_relaxed);
            return site;
        }
        if (seen == key) return site;
    }
    return sites_[count];
}

void Sites::learn(unsigned tag, bool has_suspended) {
    Site& site = sites_[tag - 1];
    // relaxed, here and later in this function: see Site
    const std::uint32_t samples = site.samples.load(std::memory_order_relaxed) + 1;
    site.samples.store(samples, std::memory_order_relaxed);
    // A mean of all samples at first, and of the latest samples later.
    const auto weight = static_cast<std::int64_t>(std::min(samples, memory));
    const std::int64_t before = site.share.load(std::memory_order_relaxed);
    const auto share =
        static_cast<std::uint32_t>(before + ((has_suspended ? std::int64_t{whole} : 0) - before) / weight);
    site.share.store(share, std::memory_order_relaxed);
    if (samples < Site::enough) return;
    const Kind now = site.kind();
    Kind better = cheapest(share, now);
    if (better == Kind::sc && !sc_) better = Kind::roc;
    // relaxed: it decides only what a unit costs
    if (better != now) site.cheapest.store(better, std::memory_order_relaxed);
}

void Sites::begin(bool sc) {
    sc_ = sc;
    if (!used_.load(std::memory_order_relaxed)) return;   // relaxed, here and in the last line: see Site
    for (Site& site : sites_) site.forget();
    used_.store(false, std::memory_order_relaxed);
}

void Sites::each(void (*visit)(const weft_site_info* info, void* argument), void* argument) const {
    for (const Site& site : sites_) {
        if (site.key.load(std::memory_order_relaxed) == 0) continue;   // relaxed, all loads here: see Site
        weft_site_info info{};
        info.size = sizeof info;
        info.address = site.address.load(std::memory_order_relaxed);
        info.what = site.what.load(std::memory_order_relaxed);
        info.samples = site.samples.load(std::memory_order_relaxed);
        info.share = static_cast<double>(site.share.load(std::memory_order_relaxed)) / whole;
        info.kind = static_cast<weft_kind>(site.kind());
        visit(&info, argument);
    }
}

}   // namespace weft
