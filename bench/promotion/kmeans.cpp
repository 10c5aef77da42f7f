// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// k-means: two nested loops over the points, a unit for each iteration of either. A unit of the
// inner loop assigns a few points to the nearest centre and adds each to the sums of its cluster,
// which L locks guard: the fewer locks, the more units suspend.
//
//   kmeans [--kind=all|full,sc,...] [--streams=N] [--rounds=5] [--locks=1,5,205] [--points=100000]
//   [--clusters=5] [--chunk=8] [--iterations=3] [--file=kddcup.data]
//
// A point has 41 features, like those of the KDD Cup of 1999, whose file is read if --file gives
// it; otherwise points are drawn around centres. All numbers are integers (7 bits after the binary
// point), so sums do not depend on the order of additions: the centres of every kind must equal
// those of the sequential run bit for bit.
#include <array>
#include <cmath>
#include <fstream>
#include <map>

#include "kinds.hpp"

namespace {

using promotion::Lock;
using promotion::Run;

constexpr std::size_t features = 41;
constexpr double scale = 128;
constexpr double most = 31;   // deviations from the mean, so that the square of a distance fits into 32 bits

using Point = std::array<std::int16_t, features>;

std::int16_t fixed(double value) {
    return static_cast<std::int16_t>(std::lround(std::clamp(value, -most, most) * scale));
}

// 23 clusters, as many as the KDD file has labels; the generators of <random> give equal results
// everywhere, its distributions do not.
std::vector<Point> drawn_points(std::size_t count) {
    constexpr std::size_t centres = 23;
    std::mt19937_64 draw(41);
    auto uniform = [&] { return static_cast<double>(draw() >> 11) * 0x1p-53; };
    std::array<std::array<double, features>, centres> centre;
    for (auto& place : centre) {
        for (double& value : place) value = uniform() * 8 - 4;
    }
    std::vector<Point> points(count);
    for (Point& point : points) {
        const auto& place = centre[draw() % centres];
        for (std::size_t f = 0; f < features; ++f)
            point[f] = fixed(place[f] + (uniform() + uniform() + uniform() - 1.5) * 2);
    }
    return points;
}

// Reads lines of 41 features and a label, separated by commas. The value of a feature that is a
// word is the number of words seen before it; each feature is normalized to mean 0 and deviation 1.
std::vector<Point> read_points(const std::string& path, std::size_t most_points) {
    std::ifstream file(path);
    std::vector<std::array<double, features>> rows;
    std::array<std::map<std::string, double>, features> seen;
    for (std::string line; rows.size() < most_points && std::getline(file, line);) {
        const std::vector<std::string> fields = promotion::words(line);
        if (fields.size() < features) promotion::refuse("a line of the file: ", line);
        auto& row = rows.emplace_back();
        for (std::size_t f = 0; f < features; ++f) {
            const char* const text = fields[f].c_str();
            char* end = nullptr;
            row[f] = std::strtod(text, &end);
            if (end == text) row[f] = seen[f].try_emplace(fields[f], static_cast<double>(seen[f].size())).first->second;
        }
    }
    if (rows.empty()) promotion::refuse("--file=", path);
    std::vector<Point> points(rows.size());
    for (std::size_t f = 0; f < features; ++f) {
        double sum = 0, squares = 0;
        for (const auto& row : rows) sum += row[f];
        const double mean = sum / static_cast<double>(rows.size());
        for (const auto& row : rows) squares += (row[f] - mean) * (row[f] - mean);
        const double deviation = std::sqrt(squares / static_cast<double>(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            points[i][f] = deviation > 0 ? fixed((rows[i][f] - mean) / deviation) : std::int16_t{0};
    }
    return points;
}

struct Cluster {
    std::array<std::int64_t, features> sums{};
    std::int64_t count = 0;
};

class KMeans {
public:
    KMeans(const std::vector<Point>& points, std::size_t clusters, std::size_t chunk)
        : points_(points), chunk_(chunk), centres_(clusters), clusters_(clusters) {}

    // The first centres are points that lie far apart in the input.
    void begin() {
        for (std::size_t c = 0; c < centres_.size(); ++c) centres_[c] = points_[c * points_.size() / centres_.size()];
    }

    void iterate_sequentially() {
        forget_sums();
        for (const Point& point : points_) {
            Cluster& cluster = clusters_[nearest(point)];
            for (std::size_t f = 0; f < features; ++f) cluster.sums[f] += point[f];
            ++cluster.count;
        }
        move_centres();
    }

    // `kind` is that of the units of the inner loop; the units of the outer loop wait for them.
    // Returns the number of contended units.
    std::uint64_t iterate(weft_kind kind, std::size_t locks) {
        forget_sums();
        kind_ = kind;
        parts_ = std::min((locks + centres_.size() - 1) / centres_.size(), features);
        locks_ = std::vector<Lock>(locks);
        promotion::Contended contended;
        contended_ = &contended;
        const std::size_t group = chunk_ * chunks_in_group;
        std::vector<Range> groups;
        for (std::size_t first = 0; first < points_.size(); first += group)
            groups.push_back({this, first, std::min(first + group, points_.size())});
        std::vector<void*> arguments;
        for (Range& range : groups) arguments.push_back(&range);
        std::vector<weft_unit*> units;
        promotion::fork_join(
            promotion::kind_of_parents(kind),
            [](void* raw) {
                const auto& range = *static_cast<Range*>(raw);
                range.all->assign_group(range);
            },
            arguments, units);
        move_centres();
        return contended.count();
    }

    [[nodiscard]] const std::vector<Point>& centres() const { return centres_; }

private:
    static constexpr std::size_t chunks_in_group = 128;

    struct Range {
        KMeans* all;
        std::size_t first, last;
    };

    void assign_group(const Range& range) {
        std::array<Range, chunks_in_group> chunks;
        std::vector<void*> arguments;
        arguments.reserve(chunks_in_group);
        for (std::size_t first = range.first; first < range.last; first += chunk_) {
            Range& chunk = chunks[arguments.size()];
            chunk = {this, first, std::min(first + chunk_, range.last)};
            arguments.push_back(&chunk);
        }
        std::vector<weft_unit*> units;
        contended_->add(promotion::fork_join(
            kind_,
            [](void* raw) {
                const auto& chunk = *static_cast<Range*>(raw);
                chunk.all->assign_chunk(chunk);
            },
            arguments, units));
    }

    void assign_chunk(const Range& range) {
        bool contended = false;
        for (std::size_t i = range.first; i < range.last; ++i) contended |= add(points_[i], nearest(points_[i]));
        contended_->add(contended);
    }

    [[nodiscard]] std::size_t nearest(const Point& point) const {
        std::uint32_t least = UINT32_MAX;
        std::size_t best = 0;
        for (std::size_t c = 0; c < centres_.size(); ++c) {
            std::uint32_t distance = 0;
            for (std::size_t f = 0; f < features; ++f) {
                const int difference = point[f] - centres_[c][f];
                distance += static_cast<std::uint32_t>(difference * difference);
            }
            if (distance < least) {
                least = distance;
                best = c;
            }
        }
        return best;
    }

    // With as many locks as clusters each cluster has its own; with more, the features of a cluster
    // are split among several locks. Returns whether another unit held one of the locks.
    bool add(const Point& point, std::size_t cluster) {
        bool contended = false;
        for (std::size_t part = 0; part < parts_; ++part) {
            Lock& lock = locks_[(cluster * parts_ + part) % locks_.size()];
            contended |= lock.lock(kind_);
            for (std::size_t f = part * features / parts_; f < (part + 1) * features / parts_; ++f)
                clusters_[cluster].sums[f] += point[f];
            if (part == 0) ++clusters_[cluster].count;
            lock.unlock();
        }
        return contended;
    }

    void forget_sums() { std::fill(clusters_.begin(), clusters_.end(), Cluster{}); }

    void move_centres() {
        for (std::size_t c = 0; c < centres_.size(); ++c) {
            if (clusters_[c].count == 0) continue;   // a centre without points stays
            for (std::size_t f = 0; f < features; ++f)
                centres_[c][f] = static_cast<std::int16_t>(clusters_[c].sums[f] / clusters_[c].count);
        }
    }

    const std::vector<Point>& points_;
    const std::size_t chunk_;
    std::vector<Point> centres_;
    std::vector<Cluster> clusters_;
    std::vector<Lock> locks_;
    std::size_t parts_ = 1;   // of a cluster's features, each under a lock
    weft_kind kind_ = WEFT_KIND_FULL;
    promotion::Contended* contended_ = nullptr;
};

}   // namespace

int main(int argc, char** argv) {
    const promotion::Settings settings(argc, argv, 5);
    const auto count = promotion::take_number(argc, argv, "points", 100'000);
    const auto clusters = promotion::take_number(argc, argv, "clusters", 5);
    const auto chunk = promotion::take_number(argc, argv, "chunk", 8);
    const auto iterations = promotion::take_number(argc, argv, "iterations", 3);
    const std::string path = bench::take_flag(argc, argv, "file", "");
    const std::string locks = bench::take_flag(argc, argv, "locks", "1,5,205");
    bench::refuse_others(argc, argv);
    if (clusters == 0 || chunk == 0 || count < clusters)
        promotion::refuse("--clusters or --chunk of 0, or more clusters than points", "");

    const std::vector<Point> points = path.empty() ? drawn_points(count) : read_points(path, count);
    const double work = static_cast<double>(points.size() * iterations);
    KMeans kmeans(points, clusters, chunk);
    kmeans.begin();
    const std::uint64_t start = bench::now_ns();
    for (std::size_t i = 0; i < iterations; ++i) kmeans.iterate_sequentially();
    const Run sequential{work, promotion::seconds_since(start), 0};
    const std::vector<Point> expected = kmeans.centres();

    const bench::Runtime runtime(settings.pool, WEFT_KIND_FULL, settings.streams);
    for (const std::string& word : promotion::words(locks)) {
        const std::size_t lock_count = promotion::number("locks", word);
        if (lock_count == 0) promotion::refuse("--locks=", word);
        promotion::compare(settings, "kmeans/" + word, "points/s", sequential, [&](weft_kind kind) {
            kmeans.begin();
            Run run{work, 0, 0};
            const std::uint64_t since = bench::now_ns();
            for (std::size_t i = 0; i < iterations; ++i) run.contended += kmeans.iterate(kind, lock_count);
            run.seconds = promotion::seconds_since(since);
            promotion::require(kmeans.centres() == expected, "k-means: other centres than the sequential run's");
            return run;
        });
    }
    if (!settings.json) std::puts("all equal to the sequential run");
    return 0;
}
