// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loop of a Monte Carlo code for neutrons. A neutron of some energy is in some material.
// The cross sections of each nuclide of the material at that energy are looked up, weighted and
// summed. Almost all the time is spent waiting for memory, which is why it helps to look up in the
// order of energies. This file does not use abt.h.
//
// Each nuclide has its own table, at its own energies. The unionized grid (Leppänen 2009) holds the
// energies of all nuclides, and at each energy the place in the table of every nuclide. So one
// search is enough: it finds a row of the grid, which is read instead of searching for each
// nuclide. Its price is points * nuclides places for each nuclide: 2.8 GB for 355 nuclides of
// 11,303 points.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "program.hpp"

namespace lookup {

struct Sizes {
    std::size_t nuclides;
    std::size_t points;   // of each nuclide
    std::size_t lookups;
    std::size_t streams;   // or threads, in the other versions
    std::size_t batch;     // look-ups that are sorted together
};

enum Channel : std::size_t { total, elastic, absorption, fission, neutrons_of_fission, channels };
using Sections = std::array<double, channels>;

struct Lookup {
    double energy;   // MeV
    std::size_t material;
    std::uint64_t result = 0;   // made of all bits of the cross sections
};

class CrossSections {
public:
    static constexpr std::size_t most_points = UINT16_MAX + std::size_t{1};   // a place has 16 bits

    CrossSections(std::size_t nuclides, std::size_t points) : nuclides_(nuclides), points_(points) {
        for (std::size_t nuclide = 0; nuclide < nuclides_; ++nuclide) draw_table(nuclide);
        mix_materials();
        unionize();
    }

    // The look-up with this number is equal in every version.
    [[nodiscard]] Lookup lookup(std::size_t number) const {
        apps::Random random(number);
        const double energy = drawn_energy(random);
        return {energy, drawn_material(random)};
    }

    // Not inline: every version runs the same instructions and must give the same bits.
    [[gnu::noinline]] [[nodiscard]] Sections sections(double energy, std::size_t material) const {
        const std::uint16_t* const places = &places_[nuclides_ * row(energy)];
        return weighted(energy, material, [&](std::size_t nuclide) { return places[nuclide]; });
    }

    // Returns what sections() returns, without the unionized grid: searches the table of each
    // nuclide for the first interval that ends above the energy, or takes the last interval.
    [[nodiscard]] Sections sections_by_search(double energy, std::size_t material) const {
        return weighted(energy, material, [&](std::size_t nuclide) {
            const Point* const table = &tables_[nuclide * points_];
            const Point* const last = table + points_ - 1;
            return std::upper_bound(table + 1, last, energy,
                                    [](double e, const Point& end) { return e < end.energy; }) -
                   table - 1;
        });
    }

    void run(Lookup& lookup) const {
        std::uint64_t result = 0;
        for (const double section : sections(lookup.energy, lookup.material))
            result = apps::mixed(result ^ std::bit_cast<std::uint64_t>(section));
        lookup.result = result;
    }

    [[nodiscard]] std::size_t rows() const { return energies_.size(); }
    [[nodiscard]] std::size_t bytes() const {
        return places_.size() * sizeof(places_[0]) + energies_.size() * sizeof(energies_[0]) +
               tables_.size() * sizeof(tables_[0]);
    }

private:
    static constexpr double least_energy = 1e-11, most_energy = 20;

    struct Point {
        double energy;
        Sections sections;
    };

    struct Component {
        std::size_t nuclide;
        double density;
    };

    struct Material {
        double likelihood;      // that a neutron is in it or in a material above it in `kinds`
        std::size_t nuclides;   // at most; fuel has nine tenths of all
    };

    static constexpr std::size_t fuel = 0;
    static constexpr std::array<Material, 8> kinds = {{
        {0.16, SIZE_MAX},   // fuel
        {0.30, 5},          // cladding
        {0.62, 4},          // water
        {0.76, 6},          // hot water with boron
        {0.82, 27},         // vessel
        {0.90, 21},         // reflector
        {0.96, 12},         // grids
        {1.00, 9},          // structures
    }};

    // Uniform in the logarithm: a neutron that slows down is equally likely in every decade.
    static double drawn_energy(apps::Random& random) {
        return least_energy * std::exp(random.uniform() * std::log(most_energy / least_energy));
    }

    static std::size_t drawn_material(apps::Random& random) {
        const double where = random.uniform();
        std::size_t material = 0;
        while (where >= kinds[material].likelihood) ++material;
        return material;
    }

    void draw_table(std::size_t nuclide) {
        apps::Random random(~std::uint64_t{nuclide});
        std::vector<double> energies{least_energy, most_energy};
        while (energies.size() < points_) energies.push_back(drawn_energy(random));
        std::sort(energies.begin(), energies.end());
        const bool fissile = random.uniform() < 0.1;
        for (const double energy : energies) {
            Sections sections{};
            sections[elastic] = 5 + 10 * random.uniform();
            // Slow neutrons are absorbed more easily, in proportion to 1 / speed; some energies
            // resonate.
            sections[absorption] = random.uniform() * (random.uniform() < 0.05 ? 100 : 1) / std::sqrt(energy * 1e3);
            sections[fission] = fissile ? sections[absorption] * random.uniform() : 0;
            sections[neutrons_of_fission] = sections[fission] * (2.4 + 0.1 * energy);
            sections[total] = sections[elastic] + sections[absorption];
            tables_.push_back({energy, sections});
        }
    }

    void mix_materials() {
        apps::Random random(2024);
        std::vector<std::size_t> all(nuclides_);
        std::iota(all.begin(), all.end(), std::size_t{0});
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            const std::size_t wanted = kind == fuel ? nuclides_ * 9 / 10 : kinds[kind].nuclides;
            const std::size_t count = std::clamp(wanted, std::size_t{1}, nuclides_);
            for (std::size_t i = 0; i < count; ++i) {
                std::swap(all[i], all[i + random.below(nuclides_ - i)]);
                materials_[kind].push_back({all[i], 1e-3 + random.uniform()});
            }
        }
    }

    void unionize() {
        std::vector<std::pair<double, std::size_t>> all;   // an energy and its nuclide
        all.reserve(tables_.size());
        for (std::size_t i = 0; i < tables_.size(); ++i) all.emplace_back(tables_[i].energy, i / points_);
        std::sort(all.begin(), all.end());
        energies_.reserve(all.size());
        places_.reserve(all.size() * nuclides_);
        std::vector<std::ptrdiff_t> points_below(nuclides_);
        for (const auto& [energy, nuclide] : all) {
            ++points_below[nuclide];
            energies_.push_back(energy);
            for (const std::ptrdiff_t below : points_below) places_.push_back(place(below));
        }
    }

    // The last row of the unionized grid that is not above the energy, or the first row.
    [[nodiscard]] std::size_t row(double energy) const {
        const auto above = std::upper_bound(energies_.begin(), energies_.end(), energy);
        return static_cast<std::size_t>(std::max(above - energies_.begin() - 1, std::ptrdiff_t{0}));
    }

    // Where to interpolate in a table with `below` points that are not above the energy: between
    // the returned point and the next.
    [[nodiscard]] std::uint16_t place(std::ptrdiff_t below) const {
        return static_cast<std::uint16_t>(
            std::clamp(below - 1, std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(points_) - 2));
    }

    template <class Place>
    [[nodiscard]] Sections weighted(double energy, std::size_t material, const Place& place_of) const {
        Sections sum{};
        for (const Component& component : materials_[material]) {
            const Point* const low = &tables_[component.nuclide * points_] + place_of(component.nuclide);
            const Point* const high = low + 1;
            const double share = (energy - low->energy) / (high->energy - low->energy);
            for (std::size_t channel = 0; channel < channels; ++channel) {
                const double between =
                    low->sections[channel] + share * (high->sections[channel] - low->sections[channel]);
                sum[channel] += component.density * between;
            }
        }
        return sum;
    }

    std::size_t nuclides_, points_;
    std::vector<Point> tables_;   // nuclide by nuclide
    std::array<std::vector<Component>, kinds.size()> materials_;
    std::vector<double> energies_;        // of the unionized grid
    std::vector<std::uint16_t> places_;   // a row for each of these energies, in it a place for each nuclide
};

// Each version returns the sum of the results modulo 2^64, which does not depend on the order.

inline std::uint64_t run_one(const CrossSections& sections, std::size_t number) {
    Lookup lookup = sections.lookup(number);
    sections.run(lookup);
    return lookup.result;
}

inline std::uint64_t run_sequentially(const CrossSections& sections, const Sizes& sizes) {
    std::uint64_t sum = 0;
    for (std::size_t number = 0; number < sizes.lookups; ++number) sum += run_one(sections, number);
    return sum;
}

inline std::uint64_t run_openmp(const CrossSections& sections, const Sizes& sizes) {
    return apps::openmp_sum(sizes.streams, sizes.lookups,
                            [&](std::size_t number) { return run_one(sections, number); });
}

// Threads take a batch at a time, and sort it if `sorted`: the difference between the two is the
// gain of the order alone.
inline std::uint64_t run_pthreads(const CrossSections& sections, const Sizes& sizes, bool sorted) {
    // relaxed throughout: which thread takes what does not matter, and pthread_join publishes the
    // sums.
    std::atomic<std::size_t> next = 0;
    std::atomic<std::uint64_t> sum = 0;
    apps::on_pthreads(sizes.streams, [&](std::size_t) {
        std::vector<Lookup> batch;
        std::uint64_t own = 0;
        for (;;) {
            const std::size_t first = next.fetch_add(sizes.batch, std::memory_order_relaxed);
            if (first >= sizes.lookups) break;
            const std::size_t last = std::min(first + sizes.batch, sizes.lookups);
            batch.clear();
            for (std::size_t number = first; number < last; ++number) batch.push_back(sections.lookup(number));
            if (sorted)
                std::sort(batch.begin(), batch.end(),
                          [](const Lookup& a, const Lookup& b) { return a.energy < b.energy; });
            for (Lookup& lookup : batch) {
                sections.run(lookup);
                own += lookup.result;
            }
        }
        sum.fetch_add(own, std::memory_order_relaxed);
    });
    return sum.load(std::memory_order_relaxed);
}

}   // namespace lookup
