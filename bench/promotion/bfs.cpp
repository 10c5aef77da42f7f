// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The breadth-first search of the Graph500 benchmark (https://graph500.org), in the form of a
// program for several processes: vertices belong to P parts, and a part requests visits from
// another part in buffers of B visits. A unit for each visited vertex examines the vertex's edges
// and contends for the buffers; a unit that fills a buffer delivers it, and holds it meanwhile.
//
//   bfs [--kind=all|full,sc,...] [--streams=N] [--rounds=7] [--scale=14] [--edges=16] [--parts=4]
//   [--buffer=8,64,512] [--roots=4]
//
// All parts are in this process. The tree is validated after each search: it must have the vertices
// and the levels of the sequential search, and its edges must be edges of the graph.
#include <array>
#include <memory>
#include <numeric>

#include "kinds.hpp"

namespace {

using promotion::Lock;
using promotion::Run;
using Vertex = std::uint32_t;

constexpr Vertex none = UINT32_MAX;

// Each vertex's neighbours, in both directions, without loops.
struct Graph {
    std::vector<std::size_t> begin;   // in `to`; one more than there are vertices
    std::vector<Vertex> to;

    [[nodiscard]] Vertex size() const { return static_cast<Vertex>(begin.size() - 1); }
    [[nodiscard]] std::size_t degree(Vertex vertex) const { return begin[vertex + 1] - begin[vertex]; }
};

// A Kronecker graph of 2^scale vertices: the quadrant of the matrix that an edge falls into has the
// probabilities 0.57, 0.19, 0.19 and 0.05 at each scale. Vertices are renumbered at random.
Graph drawn_graph(std::size_t scale, std::size_t edges_for_each) {
    std::mt19937_64 draw(500);
    const Vertex size = Vertex{1} << scale;
    std::vector<Vertex> name(size);
    std::iota(name.begin(), name.end(), Vertex{0});
    std::shuffle(name.begin(), name.end(), draw);
    std::vector<std::pair<Vertex, Vertex>> edges(edges_for_each * size);
    for (auto& [from, to] : edges) {
        from = to = 0;
        for (std::size_t bit = 0; bit < scale; ++bit) {
            const double place = static_cast<double>(draw() >> 11) * 0x1p-53;
            from = from << 1 | static_cast<Vertex>(place >= 0.76);
            to = to << 1 | static_cast<Vertex>((place >= 0.57 && place < 0.76) || place >= 0.95);
        }
        from = name[from];
        to = name[to];
    }
    Graph graph;
    graph.begin.assign(std::size_t{size} + 1, 0);
    for (const auto& [from, to] : edges) {
        if (from == to) continue;
        ++graph.begin[from + 1];
        ++graph.begin[to + 1];
    }
    std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
    graph.to.resize(graph.begin.back());
    std::vector<std::size_t> at(graph.begin.begin(), graph.begin.end() - 1);
    for (const auto& [from, to] : edges) {
        if (from == to) continue;
        graph.to[at[from]++] = to;
        graph.to[at[to]++] = from;
    }
    return graph;
}

std::vector<std::uint32_t> sequential_levels(const Graph& graph, Vertex root) {
    std::vector<std::uint32_t> level(graph.size(), none);
    std::vector<Vertex> frontier{root}, next;
    level[root] = 0;
    for (std::uint32_t depth = 1; !frontier.empty(); ++depth) {
        next.clear();
        for (const Vertex from : frontier) {
            for (std::size_t e = graph.begin[from]; e < graph.begin[from + 1]; ++e) {
                if (level[graph.to[e]] != none) continue;
                level[graph.to[e]] = depth;
                next.push_back(graph.to[e]);
            }
        }
        frontier.swap(next);
    }
    return level;
}

struct Visit {
    Vertex vertex, parent;
};

class Search {
public:
    Search(const Graph& graph, std::size_t parts, std::size_t buffer)
        : graph_(graph), parts_(parts), buffers_(parts * parts), parents_(graph.size()) {
        for (Buffer& buffer_to : buffers_) buffer_to.visits.reserve(buffer);
        capacity_ = buffer;
        for (std::size_t p = 0; p < parts; ++p) parts_[p].number = p;
    }

    // Returns the number of contended units.
    std::uint64_t run(weft_kind kind, Vertex root) {
        kind_ = kind;
        promotion::Contended contended;
        contended_ = &contended;
        std::fill(parents_.begin(), parents_.end(), none);
        for (Part& part : parts_) part.next.clear();
        parents_[root] = root;
        parts_[root % parts_.size()].next.push_back(root);
        while (begin_level()) {
            std::vector<void*> arguments;
            std::vector<Task> tasks(parts_.size());
            for (Part& part : parts_) {
                tasks[part.number] = {this, &part, none};
                arguments.push_back(&tasks[part.number]);
            }
            std::vector<weft_unit*> units;
            promotion::fork_join(
                promotion::kind_of_parents(kind),
                [](void* raw) {
                    const auto& task = *static_cast<Task*>(raw);
                    task.all->visit_part(*task.part);
                },
                arguments, units);
            for (std::size_t b = 0; b < buffers_.size(); ++b) deliver(buffers_[b], parts_[b % parts_.size()]);
        }
        return contended.count();
    }

    // Whether the parents form a breadth-first search with these levels.
    [[nodiscard]] bool valid(const std::vector<std::uint32_t>& level, Vertex root) const {
        for (Vertex vertex = 0; vertex < graph_.size(); ++vertex) {
            const Vertex parent = parents_[vertex];
            if ((parent == none) != (level[vertex] == none)) return false;
            if (parent == none) continue;
            if (vertex == root) {
                if (parent != root) return false;
                continue;
            }
            if (level[vertex] != level[parent] + 1) return false;
            const auto first = graph_.to.begin() + static_cast<std::ptrdiff_t>(graph_.begin[vertex]);
            const auto last = graph_.to.begin() + static_cast<std::ptrdiff_t>(graph_.begin[vertex + 1]);
            if (std::find(first, last, parent) == last) return false;
        }
        return true;
    }

private:
    // The visits that one part requests from another.
    struct Buffer {
        Lock lock;
        std::vector<Visit> visits;
    };

    struct Part {
        std::size_t number = 0;
        std::vector<Vertex> frontier;
        Lock lock;   // guards the members that follow, and the parents of the part's vertices
        std::vector<Vertex> next;
    };

    struct Task {
        Search* all;
        Part* part;
        Vertex vertex;
    };

    // Whether anything is left to visit.
    bool begin_level() {
        bool left = false;
        for (Part& part : parts_) {
            part.frontier.swap(part.next);
            part.next.clear();
            left |= !part.frontier.empty();
        }
        return left;
    }

    void visit_part(Part& part) {
        if (part.frontier.empty()) return;
        std::vector<Task> tasks;
        std::vector<void*> arguments;
        tasks.reserve(part.frontier.size());
        for (const Vertex vertex : part.frontier) arguments.push_back(&tasks.emplace_back(Task{this, &part, vertex}));
        std::vector<weft_unit*> units;
        contended_->add(promotion::fork_join(
            kind_,
            [](void* raw) {
                const auto& task = *static_cast<Task*>(raw);
                task.all->visit(*task.part, task.vertex);
            },
            arguments, units));
    }

    void visit(Part& part, Vertex vertex) {
        bool contended = false;
        for (std::size_t e = graph_.begin[vertex]; e < graph_.begin[vertex + 1]; ++e) {
            const Vertex to = graph_.to[e];
            Part& owner = parts_[to % parts_.size()];
            Buffer& buffer = buffers_[part.number * parts_.size() + owner.number];
            contended |= buffer.lock.lock(kind_);
            buffer.visits.push_back({to, vertex});
            if (buffer.visits.size() == capacity_) contended |= deliver(buffer, owner);
            buffer.lock.unlock();
        }
        contended_->add(contended);
    }

    // The caller holds the buffer, or runs alone. Returns whether the owner's lock was held.
    bool deliver(Buffer& buffer, Part& owner) {
        const bool contended = owner.lock.lock(kind_);
        for (const Visit& asked : buffer.visits) {
            if (parents_[asked.vertex] != none) continue;
            parents_[asked.vertex] = asked.parent;
            owner.next.push_back(asked.vertex);
        }
        owner.lock.unlock();
        buffer.visits.clear();
        return contended;
    }

    const Graph& graph_;
    std::vector<Part> parts_;
    std::vector<Buffer> buffers_;   // from * parts + to
    std::vector<Vertex> parents_;
    std::size_t capacity_ = 0;
    weft_kind kind_ = WEFT_KIND_FULL;
    promotion::Contended* contended_ = nullptr;
};

// Vertices that have edges, drawn once.
std::vector<Vertex> drawn_roots(const Graph& graph, std::size_t count) {
    std::mt19937_64 draw(64);
    std::vector<Vertex> roots;
    while (roots.size() < count) {
        const auto vertex = static_cast<Vertex>(draw() % graph.size());
        if (graph.degree(vertex) != 0) roots.push_back(vertex);
    }
    return roots;
}

}   // namespace

int main(int argc, char** argv) {
    const promotion::Settings settings(argc, argv, 7);
    const auto scale = promotion::take_number(argc, argv, "scale", 14);
    const auto edges = promotion::take_number(argc, argv, "edges", 16);
    const auto parts = promotion::take_number(argc, argv, "parts", 4);
    const std::string buffers = bench::take_flag(argc, argv, "buffer", "8,64,512");
    const auto root_count = promotion::take_number(argc, argv, "roots", 4);
    bench::refuse_others(argc, argv);
    if (scale < 1 || scale > 30) promotion::refuse("--scale=", std::to_string(scale));
    if (edges == 0 || parts == 0 || root_count == 0) promotion::refuse("--edges, --parts or --roots of 0", "");

    const Graph graph = drawn_graph(scale, edges);
    const std::vector<Vertex> roots = drawn_roots(graph, root_count);
    std::vector<std::vector<std::uint32_t>> levels;
    Run sequential{0, 0, 0};
    for (const Vertex root : roots) {
        const std::uint64_t start = bench::now_ns();
        levels.push_back(sequential_levels(graph, root));
        sequential.seconds += promotion::seconds_since(start);
        std::size_t ends = 0;
        for (Vertex vertex = 0; vertex < graph.size(); ++vertex)
            ends += levels.back()[vertex] != none ? graph.degree(vertex) : 0;
        sequential.work += static_cast<double>(ends) / 2;   // an edge has two ends
    }

    const bench::Runtime runtime(settings.pool, WEFT_KIND_FULL, settings.streams);
    for (const std::string& word : promotion::words(buffers)) {
        const std::size_t buffer = promotion::number("buffer", word);
        if (buffer == 0) promotion::refuse("--buffer=", word);
        Search search(graph, parts, buffer);
        promotion::compare(settings, "bfs/" + word, "TEPS", sequential, [&](weft_kind kind) {
            Run run{sequential.work, 0, 0};
            for (std::size_t r = 0; r < roots.size(); ++r) {
                const std::uint64_t start = bench::now_ns();
                run.contended += search.run(kind, roots[r]);
                run.seconds += promotion::seconds_since(start);
                promotion::require(search.valid(levels[r], roots[r]),
                                   "bfs: no breadth-first tree, or not the sequential run's levels");
            }
            return run;
        });
    }
    if (!settings.json) std::puts("all equal to the sequential run");
    return 0;
}
