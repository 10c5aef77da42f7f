// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How work spreads over 1 to 64 harts, by counts: the library on virtual harts that run side by
// side (a timed run, src/os/sim/costs.hpp). What the figures depend on is the program alone, except
// for the addresses of its memory.
//
//     scaling                               each kind of work, on 1, 2, 4 to 64 harts
//     scaling --only=forks --harts=16 --places=10   and the source lines that wait for memory
//     scaling --only=forks --harts=32 --least=12    fails unless 2 us each go 12 times as fast
#include <weft/weft.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/sim/machine.hpp"
#include "os/sim/strategy.hpp"
#include "sim/run.hpp"
#include "weft/domain.hpp"
#include "weft/sim.hpp"

namespace {

namespace sim = weft::sim;

std::uint64_t counter(const char* name) {
    std::uint64_t value = 0;
    sim::check(weft_counter_read(name, &value) == WEFT_OK, name);
    return value;
}

// A tree of forks.
void forks(unsigned leaves, std::uint64_t leaf_ns) {
    if (leaves == 1) return sim::spend(leaf_ns);
    const unsigned half = leaves / 2;
    weft::invoke([=] { forks(half, leaf_ns); }, [=] { forks(leaves - half, leaf_ns); });
}

// The tree with a ULT for each left branch.
void unit_tree(unsigned leaves, std::uint64_t leaf_ns) {
    if (leaves == 1) return sim::spend(leaf_ns);
    const unsigned half = leaves / 2;
    weft::thread left([=] { unit_tree(half, leaf_ns); });
    unit_tree(leaves - half, leaf_ns);
    left.join();
}

// As many ULTs from one call.
void units(unsigned count, std::uint64_t each_ns) {
    std::vector<weft_unit*> all(count);
    const std::vector<void*> arguments(count, reinterpret_cast<void*>(each_ns));
    auto body = [](void* raw) { sim::spend(reinterpret_cast<std::uint64_t>(raw)); };
    sim::check(weft_unit_spawn_many(nullptr, count, body, arguments.data(), nullptr, all.data()) == WEFT_OK,
               "the units are spawned");
    sim::check(weft_unit_join_free_many(all.data(), count) == WEFT_OK, "they are joined");
}

// 16 teams, one after the other, of as many members as there are harts, which share the work.
void teams(unsigned count, std::uint64_t each_ns) {
    constexpr unsigned regions = 16;
    const std::size_t members = weft_stream_count();
    for (unsigned region = 0; region < regions; ++region)
        weft::spmd(members, [&] { sim::spend(count / regions * each_ns / members); });
}

struct Work {
    const char* name;
    unsigned count;
    std::uint64_t each_ns;
    void (*run)(unsigned count, std::uint64_t each_ns);
};

constexpr Work works[] = {
    {"forks", 4096, 0, forks},
    {"forks", 4096, 200, forks},
    {"forks", 4096, 2000, forks},
    {"units", 4096, 200, units},
    {"units", 4096, 2000, units},
    {"unit_tree", 4096, 200, unit_tree},
    {"unit_tree", 4096, 2000, unit_tree},
    {"teams", 4096, 200, teams},
    {"teams", 4096, 2000, teams},
};

void print_places(std::size_t most) {
    std::vector<std::pair<std::string, sim::AccessCost>> all;
    for (const auto& [place, cost] : sim::machine_costs()->by_place()) {
        std::string_view file = place.first;
        if (const auto at = file.rfind("src/"); at != file.npos) file = file.substr(at + 4);
        all.push_back({std::string(file) + ":" + std::to_string(place.second), cost});
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.second.waited_ns > b.second.waited_ns; });
    all.resize(std::min(most, all.size()));
    for (const auto& [place, cost] : all) {
        std::printf("      %-40s %8llu accesses, %8llu transfers, %10llu ns\n", place.c_str(),
                    static_cast<unsigned long long>(cost.accesses), static_cast<unsigned long long>(cost.transfers),
                    static_cast<unsigned long long>(cost.waited_ns));
    }
}

struct Wanted {
    std::string only;
    unsigned harts = 0;   // 0: all numbers
    std::size_t places = 0;
    double least = 0;   // how many times as fast as one hart
};

void measure(const Work& work, const Wanted& wanted) {
    weft::runtime runtime;
    work.run(work.count, work.each_ns);   // afterwards all streams have begun
    sim::machine_costs()->count_anew();
    const std::uint64_t stolen = counter("/units/count/stolen"), slept = counter("/streams/count/slept"),
                        granted = counter("/harts/count/lent");
    const std::uint64_t began = sim::now_ns();
    work.run(work.count, work.each_ns);
    const double took_ns = static_cast<double>(sim::now_ns() - began);
    std::uint64_t transfers = 0;
    for (const auto& [place, cost] : sim::machine_costs()->by_place()) transfers += cost.transfers;
    const double alone_ns = static_cast<double>(work.count) * static_cast<double>(work.each_ns);
    std::printf(
        "%8.1f us, %4.1f times as fast as its work; stolen %5llu, granted %4llu, slept %4llu, lines moved %7llu\n",
        took_ns / 1000, alone_ns / took_ns, static_cast<unsigned long long>(counter("/units/count/stolen") - stolen),
        static_cast<unsigned long long>(counter("/harts/count/lent") - granted),
        static_cast<unsigned long long>(counter("/streams/count/slept") - slept),
        static_cast<unsigned long long>(transfers));
    print_places(wanted.places);
    sim::check(alone_ns >= wanted.least * took_ns || work.each_ns < 2000, "as fast as --least asks for");
}

bool run(sim::Recorder& recorder, const Work& work, unsigned harts, const Wanted& wanted) {
    sim::Plan plan;
    plan.limits.timed = true;
    plan.limits.cpus = harts;
    plan.limits.most_steps = 1'000'000'000;
    plan.most_seconds = 600;
    plan.strategy = [] { return sim::replay_strategy({}); };
    const sim::Outcome came = recorder.run(plan, [&] { measure(work, wanted); });
    std::printf("%-9s %u of %4llu ns, %2u harts: %s%s", work.name, work.count,
                static_cast<unsigned long long>(work.each_ns), harts, came.output.c_str(), came.text.c_str());
    std::fflush(stdout);
    return !came.failed;
}

bool read(std::string_view word, Wanted& wanted) {
    const std::size_t at = word.find('=');
    if (at == word.npos) return false;
    const std::string_view name = word.substr(0, at);
    const std::string value(word.substr(at + 1));
    if (name == "--only") wanted.only = value;
    else if (name == "--harts") wanted.harts = static_cast<unsigned>(std::atoi(value.c_str()));
    else if (name == "--places") wanted.places = static_cast<std::size_t>(std::atoi(value.c_str()));
    else if (name == "--least") wanted.least = std::atof(value.c_str());
    else return false;
    return true;
}

}   // namespace

int main(int count, char** words) {
    Wanted wanted;
    for (int i = 1; i < count; ++i) {
        if (read(words[i], wanted)) continue;
        std::fprintf(stderr, "scaling: '%s' is not understood; there are --only=WORK --harts=N --places=N --least=N\n",
                     words[i]);
        return 2;
    }
    setenv("WEFT_RESCUE", "ignore", 1);   // the watchdog would be one more hart
    sim::Recorder recorder;
    bool any = false;
    for (const Work& work : works) {
        if (!wanted.only.empty() && wanted.only != work.name) continue;
        for (unsigned harts = 1; harts <= 64; harts *= 2) {
            if (wanted.harts != 0 && harts != wanted.harts) continue;
            any = true;
            if (!run(recorder, work, harts, wanted)) return 1;
        }
    }
    if (!any) std::fprintf(stderr, "scaling: there is no such work, or not on so many harts\n");
    return any ? 0 : 2;
}
