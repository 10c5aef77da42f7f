// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "os/sim/strategy.hpp"
#include "sim/replay.hpp"
#include "sim/run.hpp"
#include "weft/sim.hpp"

namespace weft::sim {
namespace {

constexpr unsigned most_tries = 3000;   // for shrinking

Plan plan_of(const options& with) {
    Plan plan;
    plan.limits.most_steps = with.most_steps;
    plan.limits.cpus = with.harts;
    plan.limits.store_buffers = with.store_buffers;
    plan.limits.leaks = with.leaks;
    plan.limits.trace = with.trace;
    plan.limits.weft_steps = with.weft_steps;
    plan.limits.fail_at = with.fail_at;
    plan.most_seconds = with.most_seconds;
    return plan;
}

std::function<std::unique_ptr<Strategy>()> seeded(const options& with, std::uint64_t seed) {
    const Tastes tastes{with.store_buffers, with.early_wakes};
    const bool random = with.by == scheduler::random || (with.by == scheduler::both && seed % 2 == 1);
    return [=] { return random ? random_strategy(seed, tastes) : priority_strategy(seed, tastes); };
}

std::function<std::unique_ptr<Strategy>()> replayed(const std::vector<Deviation>& deviations) {
    return [deviations] { return replay_strategy(deviations); };
}

// Delta debugging: leaves out ever smaller parts of the deviations, as long as the run still fails
// in the same way.
class Shrinking {
public:
    Shrinking(Recorder& recorder, Plan plan, const std::function<void()>& body, const Outcome& first)
        : recorder_(recorder), plan_(std::move(plan)), body_(body), kind_(first.kind), best_(first.deviations) {}

    // False: even with all of them the run does not fail again.
    bool shrink() {
        if (!fails(best_)) return false;
        // A few of them would often be enough, and most runs have many after the one that matters:
        // the tail is tried first.
        for (std::size_t part = (best_.size() + 1) / 2; part > 0 && tries_ < most_tries;) {
            if (leave_out_parts(part)) {
                part = std::min(part, (best_.size() + 1) / 2);
            } else {
                part /= 2;
            }
        }
        simplify();
        return true;
    }
    const std::vector<Deviation>& best() const { return best_; }

private:
    bool fails(const std::vector<Deviation>& with) {
        ++tries_;
        plan_.strategy = replayed(with);
        const Outcome came = recorder_.run(plan_, body_);
        return came.failed && came.kind == kind_;
    }

    bool leave_out_parts(std::size_t part) {
        bool any = false;
        for (std::size_t end = best_.size(); end > 0 && tries_ < most_tries;) {
            const std::size_t begin = end > part ? end - part : 0;
            std::vector<Deviation> fewer = best_;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(begin),
                        fewer.begin() + static_cast<std::ptrdiff_t>(end));
            if (fails(fewer)) {
                best_ = std::move(fewer);
                any = true;
            }
            end = begin;
        }
        return any;
    }

    // Drops unneeded holds of stores in buffers, and unneeded absences of harts.
    void simplify() {
        for (std::size_t i = 0; i < best_.size() && tries_ < most_tries; ++i) {
            std::vector<Deviation> simpler = best_;
            simpler[i].keep = simpler[i].hold = 0;
            if (best_[i].hold != 0 && fails(simpler)) best_ = simpler;
            simpler = best_;
            simpler[i].out = 0;
            if (best_[i].out != 0 && fails(simpler)) best_ = simpler;
        }
    }

    Recorder& recorder_;
    Plan plan_;
    const std::function<void()>& body_;
    const std::string kind_;
    std::vector<Deviation> best_;
    unsigned tries_ = 0;
};

std::string quoted(const std::string& output) {
    if (output.empty()) return output;
    std::string text = "what the run printed:\n  ";
    for (std::size_t i = 0; i < output.size(); ++i) {
        text += output[i];
        if (output[i] == '\n' && i + 1 < output.size()) text += "  ";
    }
    if (text.back() != '\n') text += '\n';
    return text;
}

void report(const options& with, Recorder& recorder, const Plan& plan, const std::function<void()>& body,
            const Outcome& came, result& made) {
    made.failed = true;
    made.report = came.text + quoted(came.output);
    std::vector<Deviation> deviations = came.deviations;
    if (with.shrink && came.all_deviations) {
        Shrinking shrinking(recorder, plan, body, came);
        if (!shrinking.shrink()) {
            made.report +=
                "it did not fail again when it was replayed: the body depends on something else than the schedule\n";
            made.replay = replay_text(deviations);
            return;
        }
        made.report += "shrunk from " + std::to_string(deviations.size()) + " deviations from the plain course to " +
                       std::to_string(shrinking.best().size()) + "\n";
        deviations = shrinking.best();
    }
    Plan traced = plan;
    traced.limits.trace = true;
    traced.strategy = replayed(deviations);
    const Outcome again = recorder.run(traced, body);
    if (!again.failed)
        made.report +=
            "it did not fail again when its steps were noted: the body depends on something else than the schedule\n";
    made.report += table_of(*recorder.record(), with.lines);
    made.replay = replay_text(deviations);
    made.report += "replay: " + made.replay + "\n";
}

}   // namespace

result explore(const options& with, const std::function<void()>& body) {
    result made;
    Recorder recorder;
    if (machine_runs() || recorder.record() == nullptr) {
        made.failed = true;
        made.report = machine_runs() ? "explore() is called from a virtual hart\n" : "no memory to note runs in\n";
        return made;
    }
    Plan plan = plan_of(with);
    if (with.replay != nullptr) {
        std::vector<Deviation> deviations;
        std::string wrong;
        if (!parse_replay(with.replay, deviations, wrong)) {
            made.failed = true;
            made.report = "options::replay: " + wrong + "\n";
            return made;
        }
        plan.strategy = replayed(deviations);
        plan.limits.trace = true;
        const Outcome came = recorder.run(plan, body);
        made.runs = 1;
        made.steps = came.steps;
        made.refusable = came.faults_asked;
        made.failed = came.failed;
        made.replay = with.replay;
        if (came.failed || with.trace)
            made.report = came.text + quoted(came.output) + table_of(*recorder.record(), with.lines);
        return made;
    }
    for (std::uint64_t i = 0; i < with.seeds; ++i) {
        const std::uint64_t seed = with.first_seed + i;
        plan.strategy = seeded(with, seed);
        const Outcome came = recorder.run(plan, body);
        ++made.runs;
        made.steps += came.steps;
        made.refusable = std::max(made.refusable, came.faults_asked);
        if (with.trace) made.report += table_of(*recorder.record(), with.lines);
        if (!came.failed) continue;
        made.seed = seed;
        report(with, recorder, plan, body, came, made);
        made.report = "seed " + std::to_string(seed) + ": " + made.report;
        return made;
    }
    return made;
}

}   // namespace weft::sim
