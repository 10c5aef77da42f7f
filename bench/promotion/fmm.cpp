// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fast multipole method in the plane (Greengard and Rokhlin 1987, on an adaptive quadtree): the
// field that charges cause at each other's positions. Both passes are recursive, with a unit for
// each cell: on the way up the tree a cell's unit waits for the units of its quarters; a leaf's
// unit never suspends.
//
//   fmm [--kind=all|full,sc,...] [--streams=N] [--rounds=7] [--particles=100000] [--leaf=16]
//   [--check=200]
//
// A cell is written only by its own unit and in a fixed order, so that every kind must give the
// result of the sequential run, bit for bit. The sequential result is compared with the direct sum
// at --check particles.
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numeric>

#include "kinds.hpp"

namespace {

using promotion::Run;
using Complex = std::complex<double>;

constexpr std::size_t terms = 12;
constexpr double far = 0.6;   // cells are far apart if the sum of their radii is less than this share of the distance
using Expansion = std::array<Complex, terms>;

// Like the operators for complex numbers, without their treatment of infinities, which do not occur
// here.
Complex times(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
Complex inverse(Complex a) {
    const double norm = a.real() * a.real() + a.imag() * a.imag();
    return {a.real() / norm, -a.imag() / norm};
}

// binomial[n][k]
constexpr auto binomial = [] {
    std::array<std::array<double, 2 * terms>, 2 * terms> triangle{};
    for (std::size_t n = 0; n < 2 * terms; ++n) {
        triangle[n][0] = 1;
        for (std::size_t k = 1; k <= n; ++k) triangle[n][k] = triangle[n - 1][k - 1] + (k < n ? triangle[n - 1][k] : 0);
    }
    return triangle;
}();

struct Particles {
    std::vector<Complex> place;
    std::vector<double> charge;
};

// Half of the particles are spread over the square, half crowd around three points, so that the
// tree is deep in some places.
Particles drawn_particles(std::size_t count) {
    std::mt19937_64 draw(1987);
    auto uniform = [&] { return static_cast<double>(draw() >> 11) * 0x1p-53; };
    const Complex crowds[] = {{0.21, 0.33}, {0.7, 0.62}, {0.83, 0.12}};
    Particles particles;
    for (std::size_t i = 0; i < count; ++i) {
        Complex place(uniform(), uniform());
        if (i % 2 == 1) {
            const double distance = 0.12 * uniform() * uniform();
            place = crowds[draw() % 3] + distance * Complex(uniform() * 2 - 1, uniform() * 2 - 1);
        }
        particles.place.push_back(place);
        particles.charge.push_back(uniform() < 0.5 ? -1 : 1);
    }
    return particles;
}

struct Cell {
    Complex centre;
    double half;               // half of the side
    std::size_t first, last;   // its particles
    std::vector<Cell*> quarters;
    // The field outside the cell, from the charges inside: the sum over k of outside[k] / (z -
    // centre)^(k + 1).
    Expansion outside;
    // The field inside the cell, from the charges far away: the sum over k of inside[k] * (z -
    // centre)^k.
    Expansion inside;
    // Cells whose charges this cell or its quarters must handle.
    std::vector<const Cell*> near;

    [[nodiscard]] bool leaf() const { return quarters.empty(); }
    [[nodiscard]] double radius() const { return half * std::sqrt(2.0); }
};

class Fmm {
public:
    Fmm(Particles particles, std::size_t leaf) : leaf_(std::max<std::size_t>(leaf, 1)), field_(particles.place.size()) {
        order_.resize(particles.place.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        root_ = build(particles, {0.5, 0.5}, 0.5, 0, order_.size(), 0);
        for (const std::size_t i : order_) {   // neighbours in space are neighbours in memory
            place_.push_back(particles.place[i]);
            charge_.push_back(particles.charge[i]);
        }
    }

    // Clears the results, so that an earlier run's results cannot hide a gap in this run.
    void forget() {
        for (const auto& cell : cells_) {
            cell->outside.fill(0);
            cell->inside.fill(0);
            cell->near.clear();
        }
        std::fill(field_.begin(), field_.end(), 0);
    }

    void run_sequentially() {
        parallel_ = false;
        up(*root_);
        begin_down();
        down(*root_);
    }

    // Returns the number of contended units.
    std::uint64_t run(weft_kind kind) {
        parallel_ = true;
        kind_ = kind;
        promotion::Contended contended;
        contended_ = &contended;
        run_root(&Fmm::up);
        begin_down();
        run_root(&Fmm::down);
        return contended.count();
    }

    [[nodiscard]] const std::vector<Complex>& field() const { return field_; }

    // The relative error of the fields of `count` particles, compared with the direct sums.
    [[nodiscard]] double error_of_sample(std::size_t count) const {
        double difference = 0, whole = 0;
        count = std::min(count, place_.size());
        for (std::size_t s = 0; s < count; ++s) {
            const std::size_t i = s * place_.size() / count;
            const Complex exact = direct(i, 0, place_.size());
            difference += std::norm(field_[i] - exact);
            whole += std::norm(exact);
        }
        return std::sqrt(difference / whole);
    }

private:
    using Pass = void (Fmm::*)(Cell&);
    static constexpr int deepest = 40;   // particles at one position stay together

    Cell* build(const Particles& particles, Complex centre, double half, std::size_t first, std::size_t last,
                int depth) {
        Cell& cell = *cells_.emplace_back(std::make_unique<Cell>());
        cell.centre = centre;
        cell.half = half;
        cell.first = first;
        cell.last = last;
        if (last - first <= leaf_ || depth == deepest) return &cell;
        const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
        const auto split = [&](std::size_t from, std::size_t to, auto below) {
            return static_cast<std::size_t>(std::partition(at(from), at(to), below) - order_.begin());
        };
        const auto south = [&](std::size_t i) { return particles.place[i].imag() < centre.imag(); };
        const auto west = [&](std::size_t i) { return particles.place[i].real() < centre.real(); };
        const std::size_t middle = split(first, last, south);
        const std::size_t bounds[] = {first, split(first, middle, west), middle, split(middle, last, west), last};
        for (std::size_t q = 0; q < 4; ++q) {
            if (bounds[q] == bounds[q + 1]) continue;
            const Complex step(q % 2 == 0 ? -half / 2 : half / 2, q < 2 ? -half / 2 : half / 2);
            cell.quarters.push_back(build(particles, centre + step, half / 2, bounds[q], bounds[q + 1], depth + 1));
        }
        return &cell;
    }

    // ---- the recursion --------------------------------------------------------------------------

    struct Task {
        Fmm* all;
        Cell* cell;
        Pass pass;
        static void body(void* raw) {
            const auto& task = *static_cast<Task*>(raw);
            (task.all->*task.pass)(*task.cell);
        }
    };

    // A unit without children is of the requested kind; a unit with children cannot be of kind RtC.
    [[nodiscard]] weft_kind kind_for(const Cell& cell) const {
        return cell.leaf() ? kind_ : promotion::kind_of_parents(kind_);
    }

    void run_root(Pass pass) {
        Task task{this, root_, pass};
        std::vector<weft_unit*> units;
        promotion::fork_join(kind_for(*root_), Task::body, {&task}, units);
    }

    // Runs `pass` for each quarter, each in a separate unit, and waits for all.
    void for_quarters(Cell& cell, Pass pass) {
        if (!parallel_) {
            for (Cell* quarter : cell.quarters) (this->*pass)(*quarter);
            return;
        }
        std::array<Task, 4> tasks;
        std::array<weft_unit*, 4> units{};
        const std::size_t count = cell.quarters.size();
        for (std::size_t q = 0; q < count; ++q) {
            tasks[q] = {this, cell.quarters[q], pass};
            const weft_unit_options options = bench::options_of(kind_for(*cell.quarters[q]));
            bench::must(weft_ult_spawn(nullptr, Task::body, &tasks[q], &options, &units[q]));
        }
        bool contended = false;
        for (std::size_t q = 0; q < count; ++q) contended |= weft_unit_try_join(units[q]) == WEFT_BUSY;
        bench::must(weft_unit_join_free_many(units.data(), count));
        contended_->add(contended);
    }

    void up(Cell& cell) {
        cell.outside = {};
        if (cell.leaf()) {
            for (std::size_t i = cell.first; i < cell.last; ++i) {
                Complex power = charge_[i];
                for (std::size_t k = 0; k < terms; ++k) {
                    cell.outside[k] += power;
                    power = times(power, place_[i] - cell.centre);
                }
            }
            return;
        }
        for_quarters(cell, &Fmm::up);
        for (const Cell* quarter : cell.quarters) shift_outside(*quarter, cell);
    }

    void begin_down() {
        root_->near.assign(1, root_);
        root_->inside = {};
    }

    // Handles the cells that its parent has left to `cell` because they were near. Those that are
    // now far are handled here; the others are split, or left to the quarters; in a leaf the rest
    // is summed directly.
    void down(Cell& cell) {
        std::vector<const Cell*> left;
        std::vector<const Cell*> waiting;
        waiting.swap(cell.near);
        while (!waiting.empty()) {
            const Cell* source = waiting.back();
            waiting.pop_back();
            if (cell.radius() + source->radius() < far * std::abs(source->centre - cell.centre)) {
                translate(*source, cell);
            } else if (!source->leaf() && (cell.leaf() || source->half > cell.half)) {
                waiting.insert(waiting.end(), source->quarters.begin(), source->quarters.end());
            } else {
                left.push_back(source);
            }
        }
        if (cell.leaf()) {
            for (std::size_t i = cell.first; i < cell.last; ++i) {
                field_[i] = value(cell.inside, place_[i] - cell.centre);
                for (const Cell* source : left) field_[i] += direct(i, source->first, source->last);
            }
            return;
        }
        for (Cell* quarter : cell.quarters) {
            quarter->near = left;
            shift_inside(cell, *quarter);
        }
        for_quarters(cell, &Fmm::down);
    }

    // ---- the mathematics ------------------------------------------------------------------------

    // The field at particle i of the particles from `first` up to `last`, without particle i.
    [[nodiscard]] Complex direct(std::size_t i, std::size_t first, std::size_t last) const {
        Complex sum = 0;
        for (std::size_t j = first; j < last; ++j) {
            const Complex distance = place_[i] - place_[j];
            if (distance != Complex(0)) sum += charge_[j] * inverse(distance);
        }
        return sum;
    }

    // 1 / (z - c - d) = sum over l >= k of binomial(l, k) d^(l - k) / (z - c)^(l + 1), for the term
    // of the k-th power.
    static void shift_outside(const Cell& from, Cell& to) {
        std::array<Complex, terms> power;
        power[0] = 1;
        for (std::size_t k = 1; k < terms; ++k) power[k] = times(power[k - 1], from.centre - to.centre);
        for (std::size_t l = 0; l < terms; ++l) {
            for (std::size_t k = 0; k <= l; ++k) to.outside[l] += times(from.outside[k], power[l - k]) * binomial[l][k];
        }
    }

    // With d from the target's centre to the source's: 1 / (z - d)^(k + 1) = sum over l of (-1)^(k
    // + 1) binomial(k + l, k) z^l / d^(k + l + 1).
    static void translate(const Cell& from, Cell& to) {
        std::array<Complex, 2 * terms> power;   // powers of 1 / d, from the first on
        power[0] = inverse(from.centre - to.centre);
        for (std::size_t k = 1; k < power.size(); ++k) power[k] = times(power[k - 1], power[0]);
        for (std::size_t l = 0; l < terms; ++l) {
            Complex sum = 0;
            for (std::size_t k = 0; k < terms; ++k) {
                const Complex term = times(from.outside[k], power[k + l]) * binomial[k + l][k];
                sum += k % 2 == 0 ? -term : term;
            }
            to.inside[l] += sum;
        }
    }

    static void shift_inside(const Cell& from, Cell& to) {
        const Complex step = to.centre - from.centre;
        to.inside = from.inside;
        for (std::size_t j = 0; j + 1 < terms; ++j) {
            for (std::size_t k = terms - 1; k-- > j;) to.inside[k] += times(step, to.inside[k + 1]);
        }
    }

    static Complex value(const Expansion& expansion, Complex at) {
        Complex sum = 0;
        for (std::size_t k = terms; k-- > 0;) sum = times(sum, at) + expansion[k];
        return sum;
    }

    const std::size_t leaf_;
    std::vector<std::size_t> order_;
    std::vector<std::unique_ptr<Cell>> cells_;
    Cell* root_ = nullptr;
    std::vector<Complex> place_;
    std::vector<double> charge_;
    std::vector<Complex> field_;
    bool parallel_ = false;
    weft_kind kind_ = WEFT_KIND_FULL;
    promotion::Contended* contended_ = nullptr;
};

}   // namespace

int main(int argc, char** argv) {
    const promotion::Settings settings(argc, argv, 7);
    const auto count = promotion::take_number(argc, argv, "particles", 100'000);
    const auto leaf = promotion::take_number(argc, argv, "leaf", 16);
    const auto sample = promotion::take_number(argc, argv, "check", 200);
    bench::refuse_others(argc, argv);
    if (count == 0) promotion::refuse("--particles=", "0");

    Fmm fmm(drawn_particles(count), leaf);
    const std::uint64_t start = bench::now_ns();
    fmm.run_sequentially();
    const Run sequential{static_cast<double>(count), promotion::seconds_since(start), 0};
    const std::vector<Complex> expected = fmm.field();
    const double error = fmm.error_of_sample(sample);
    promotion::require(error < 1e-4, "fmm: the sequential run is too far from the direct sum");

    const bench::Runtime runtime(settings.pool, WEFT_KIND_FULL, settings.streams);
    promotion::compare(settings, "fmm", "particles/s", sequential, [&](weft_kind kind) {
        fmm.forget();
        const std::uint64_t since = bench::now_ns();
        const std::uint64_t contended = fmm.run(kind);
        const Run run{static_cast<double>(count), promotion::seconds_since(since), contended};
        promotion::require(fmm.field() == expected, "fmm: another field than the sequential run's");
        return run;
    });
    if (!settings.json) std::printf("%.1e from the direct sum; all equal to the sequential run\n", error);
    return 0;
}
