// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A parent forks 128 units and joins them; a given share of them suspends once, by a yield. The
// program measures the cost of a unit for each kind and each share.
//
//   fork_join [--samples=63] [--cycles=5] [--way=detached] [--pool=private]
//       Prints JSON, a line per sample: ns of processor time per unit, and the processor's counters
//       if they are accessible. All kinds and shares, and the floor, are shuffled anew for each
//       sample. Units are joined, one by one and many at once; or they are detached, and the last
//       one to end resumes the parent, so that the scheduler runs them.
//   fork_join --kind=sc --share=25 [--way=many] [--pool=private] --count=N
//       forks N units (a multiple of 128) and prints nothing: for use under callgrind and
//       emulators.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <utility>

#include "floor.hpp"
#include "kinds.hpp"
#include "processor_counters.hpp"

namespace {

constexpr std::size_t fork_count = 128;
constexpr int shares[] = {0, 1, 5, 10, 25, 50, 75, 100};

// Which units suspend: `share` of a hundred, drawn once. A cycle is a hundred forks, so that each
// share is exact; no branch predictor learns its order.
constexpr std::size_t cycle_forks = 100;

inline void part(void* suspends) {
    if (suspends != nullptr) bench::must(weft_unit_yield());
}

using Body = void (*)(void*);

// A function for each share: kind auto distinguishes sites by their functions, and must see each
// share as in a program that has no other.
template <std::size_t share>
void body(void* suspends) {
    part(suspends);
}

class Plan {
public:
    explicit Plan(int share) : share_(share) {
        static char mark;
        std::fill_n(arguments_.begin(), arguments_.size() * static_cast<std::size_t>(share) / 100, &mark);
        std::shuffle(arguments_.begin(), arguments_.end(), std::mt19937(2018));
    }
    [[nodiscard]] int share() const { return share_; }
    [[nodiscard]] void* const* fork(std::size_t number) const { return &arguments_[number % cycle_forks * fork_count]; }

private:
    int share_;
    std::array<void*, cycle_forks * fork_count> arguments_{};
};

using Units = std::array<weft_unit*, fork_count>;

// Spawns without options: the stream sets the kind, and the calls take the path that most programs
// use.
void one_by_one(weft_pool* pool, Body body, void* const* arguments) {
    Units units;
    for (std::size_t i = 0; i < fork_count; ++i)
        bench::must(weft_ult_spawn(pool, body, arguments[i], nullptr, &units[i]));
    for (weft_unit* unit : units) bench::must(weft_unit_join_free(unit));
}

void many(weft_pool* pool, Body body, void* const* arguments) {
    Units units;
    bench::must(weft_unit_spawn_many(pool, fork_count, body, arguments, nullptr, units.data()));
    bench::must(weft_unit_join_free_many(units.data(), fork_count));
}

// No unit is joined: each unit counts itself done, and the parent sleeps until the last unit has.
struct Family {
    std::atomic<std::size_t> left;
    weft_unit* parent;
};
Family family;

template <std::size_t share>
void detached_body(void* suspends) {
    part(suspends);
    if (family.left.fetch_sub(1, std::memory_order_acq_rel) == 1) bench::must(weft_unit_resume(family.parent));
}

// Spawns with options, like units whose kind is given.
void detached(weft_pool* pool, Body body, void* const* arguments) {
    static weft_unit_options options = bench::options_of(WEFT_KIND_DEFAULT);
    family.left.store(fork_count + 1);   // one for the parent, which must not be resumed before it sleeps
    bench::must(weft_unit_spawn_many(pool, fork_count, body, arguments, &options, nullptr));
    bench::must(weft_unit_suspend(
        [](weft_unit* parent, void*) {
            family.parent = parent;
            if (family.left.fetch_sub(1, std::memory_order_acq_rel) == 1) bench::must(weft_unit_resume(parent));
        },
        nullptr));
}

struct Way {
    const char* suffix;
    void (*fork_and_join)(weft_pool* pool, Body body, void* const* arguments);
    std::array<Body, std::size(shares)> bodies;
};

template <template <std::size_t> class F, std::size_t... index>
constexpr std::array<Body, sizeof...(index)> bodies_of(std::index_sequence<index...>) {
    return {F<index>::call...};
}
template <std::size_t share>
struct Joined {
    static constexpr Body call = body<share>;
};
template <std::size_t share>
struct Detached {
    static constexpr Body call = detached_body<share>;
};
constexpr auto every_share = std::make_index_sequence<std::size(shares)>();

const Way ways[] = {{"", one_by_one, bodies_of<Joined>(every_share)},
                    {".many", many, bodies_of<Joined>(every_share)},
                    {".detached", detached, bodies_of<Detached>(every_share)}};

const Way& way_of(const std::string& name) {
    if (name == "one") return ways[0];
    if (name == "many") return ways[1];
    if (name == "detached") return ways[2];
    promotion::refuse("--way=", name);
}

void fork_and_join(weft_pool* pool, weft_kind kind, const Plan& plan, const Way& way, std::size_t forks) {
    const auto at =
        static_cast<std::size_t>(std::find(std::begin(shares), std::end(shares), plan.share()) - std::begin(shares));
    const Body body = way.bodies[at % std::size(shares)];
    bench::must(weft_stream_kind_set(weft_stream_self(), kind));
    for (std::size_t i = 0; i < forks; ++i) way.fork_and_join(pool, body, plan.fork(i));
    bench::must(weft_stream_kind_set(weft_stream_self(), WEFT_KIND_FULL));
}

template <bench::Where where>
void floor_fork_and_join(bench::Floor& floor, std::size_t forks) {
    std::array<bench::FloorUnit*, fork_count> units;
    for (std::size_t i = 0; i < forks; ++i) {
        for (auto& unit : units) unit = floor.spawn(body<0>, nullptr);
        for (auto* unit : units) floor.join_and_free<where>(unit);
    }
}

struct Subject {
    std::string name;
    std::function<void(std::size_t forks)> run;
};

std::vector<Subject> all_subjects(weft_pool* pool, bool detach) {
    std::vector<Subject> subjects;
    for (const int share : shares) {
        const auto plan = std::make_shared<Plan>(share);
        for (const promotion::Kind& kind : promotion::all_kinds) {
            if (kind.value == WEFT_KIND_RTC && share != 0) continue;   // it cannot suspend
            for (const Way& way : ways) {
                if ((&way == &way_of("detached")) != detach) continue;
                subjects.push_back({"promotion/" + std::to_string(share) + ":weft." + kind.name + way.suffix,
                                    [=, &way, value = kind.value](std::size_t forks) {
                                        fork_and_join(pool, value, *plan, way, forks);
                                    }});
            }
        }
    }
    if (detach) return subjects;   // the floor has no detached units
    const auto floor = std::make_shared<bench::Floor>();
    floor->reserve(fork_count);
    subjects.push_back({"promotion/0:floor",
                        [floor](std::size_t forks) { floor_fork_and_join<bench::Where::on_a_stack>(*floor, forks); }});
    subjects.push_back({"promotion/0:floor.rtc",
                        [floor](std::size_t forks) { floor_fork_and_join<bench::Where::here>(*floor, forks); }});
    return subjects;
}

// The number of units of a light kind that were promoted, per hundred: the library's count, to
// compare with the plan.
double promoted_share(const Subject& subject) {
    const promotion::Counters before;
    subject.run(cycle_forks);
    const promotion::Counters after;
    return 100.0 * static_cast<double>(after.promoted - before.promoted) /
           static_cast<double>(after.created - before.created);
}

void measure(weft_pool* pool, std::size_t samples, std::size_t cycles, bool detach) {
    std::vector<Subject> subjects = all_subjects(pool, detach);
    for (const Subject& subject : subjects) {
        if (subject.name.find("weft") == std::string::npos) {
            subject.run(cycle_forks);
        } else {
            bench::print_sample(subject.name + ".promoted", promoted_share(subject), "%");   // this also warms up
        }
    }
    bench::ProcessorCounters processor;
    const std::size_t forks = cycles * cycle_forks;
    const auto units = static_cast<double>(forks * fork_count);
    std::mt19937 draw(1);
    for (std::size_t sample = 0; sample < samples; ++sample) {
        std::shuffle(subjects.begin(), subjects.end(), draw);
        for (const Subject& subject : subjects) {
            processor.start();
            const std::uint64_t since = bench::processor_ns();
            subject.run(forks);
            const std::uint64_t spent = bench::processor_ns() - since;
            const auto counts = processor.stop();
            bench::print_sample(subject.name, static_cast<double>(spent) / units);
            for (const auto& [name, count] : counts)
                bench::print_sample(subject.name + "." + name, static_cast<double>(count) / units, name);
        }
    }
}

}   // namespace

int main(int argc, char** argv) {
    const auto samples = promotion::take_number(argc, argv, "samples", 63);
    const auto cycles = promotion::take_number(argc, argv, "cycles", 5);
    const auto count = promotion::take_number(argc, argv, "count", 0);
    const auto share = promotion::take_number(argc, argv, "share", 0);
    const std::string kind = bench::take_flag(argc, argv, "kind", "");
    const std::string way = bench::take_flag(argc, argv, "way", "one");
    const weft_pool_kind pool = bench::pool_kind(bench::take_flag(argc, argv, "pool", "private"));
    bench::refuse_others(argc, argv);
    bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(pool, WEFT_KIND_FULL);
    bench::on_ult(runtime.pool(), [&] {
        if (count == 0) return measure(runtime.pool(), samples, cycles, way == "detached");
        const auto plan = std::make_unique<Plan>(static_cast<int>(share));
        fork_and_join(runtime.pool(), bench::ult_kind(kind), *plan, way_of(way), count / fork_count);
    });
    return 0;
}
