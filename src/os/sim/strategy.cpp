// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/sim/strategy.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/random.hpp"

namespace weft::sim {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0} >> 2;

bool one_in(Random& random, std::uint32_t count) { return random.below(count) == 0; }

// Stores stay in the buffer over a switch or two, usually all of them.
void maybe_keep(Random& random, const View& view, Deviation& made) {
    if (view.buffered == 0 || one_in(random, 3)) return;
    const auto all = static_cast<std::uint8_t>(view.buffered);
    made.keep = one_in(random, 4) ? static_cast<std::uint8_t>(1 + random.below(all)) : all;
    made.hold = static_cast<std::uint8_t>(1 + random.below(one_in(random, 4) ? 12 : 3));
}

// Now and then a hart that is left in the middle of something stays away for long, so that other
// harts run out of patience.
void maybe_out(Random& random, Deviation& made) {
    if (one_in(random, 12)) made.out = static_cast<std::uint16_t>(8u << random.below(7));
}

void go(Deviation& made, std::uint16_t to) {
    made.act = Act::go;
    made.to = to;
}

// Picks a random hart at moments with random gaps between them. The seed also decides how large the
// gaps are on average: some bugs need two harts in lockstep, others need one that stands still for
// long.
class RandomStrategy : public Strategy {
public:
    RandomStrategy(std::uint64_t seed, Tastes tastes)
        : random_(seed * 0x9e3779b97f4a7c15u + 1),
          tastes_(tastes),
          gap_(2u << random_.below(9)),
          wait_changes_(1 + random_.below(8)) {
        next_ = gap();
    }

    std::uint64_t free_steps(const View& view) override { return next_ > view.total ? next_ - view.total - 1 : 0; }

    // The store-then-load races lie between a store that other harts do not see yet and the next
    // load.
    bool stored() override {
        if (!tastes_.store_buffers || !one_in(random_, 6)) return false;
        soon_ = true;
        next_ = 0;
        return true;
    }

    void decide(Moment moment, const View& view, Deviation& made) override {
        if (moment != Moment::point) {
            if (view.ready_count > 0 && one_in(random_, wait_changes_)) choose(view, made);
            return;
        }
        if (view.total < next_) return;
        next_ = view.total + gap();
        const bool soon = std::exchange(soon_, false);
        if (tastes_.early_wakes && !soon && one_in(random_, 32)) {
            if (view.deadline_near && one_in(random_, 2)) {
                made.act = Act::jump;
            } else if (view.rousable_count > 0) {
                made.act = Act::rouse;
                made.to = view.rousable[random_.below(static_cast<std::uint32_t>(view.rousable_count))];
            }
        } else if (view.ready_count > 0) {
            choose(view, made);
        }
        if (made.act == Act::none) return;
        if (tastes_.store_buffers) maybe_keep(random_, view, made);
        maybe_out(random_, made);
    }

private:
    std::uint64_t gap() { return 1 + random_.below(2 * gap_); }
    void choose(const View& view, Deviation& made) {
        go(made, view.ready[random_.below(static_cast<std::uint32_t>(view.ready_count))]);
    }

    Random random_;
    const Tastes tastes_;
    const std::uint32_t gap_;
    const std::uint32_t wait_changes_;
    std::uint64_t next_ = 0;
    bool soon_ = false;
};

// PCT (Burckhardt and others, ASPLOS 2010, section 2): a bug that needs d steps in a certain order
// is found with a probability of at least 1 / (harts * length^(d-1)) each run. A hart that pauses
// gets the lowest priority, or others would wait forever.
class PriorityStrategy : public Strategy {
public:
    PriorityStrategy(std::uint64_t seed, Tastes tastes) : random_(seed * 0x9e3779b97f4a7c15u + 2), tastes_(tastes) {
        // The length of the run is not known, and must not depend on other runs: it is guessed from
        // the seed.
        const std::uint32_t length = 128u << random_.below(10);
        const std::uint32_t changes = random_.below(6);
        for (std::uint32_t i = 0; i < changes; ++i) changes_.push_back(1 + random_.below(length));
        std::sort(changes_.begin(), changes_.end(), std::greater<>());
    }

    std::uint64_t free_steps(const View& view) override {
        if (look_) return 0;
        if (changes_.empty()) return never;
        return changes_.back() > view.total ? changes_.back() - view.total - 1 : 0;
    }

    bool became_ready(std::uint16_t which) override {
        look_ = true;
        return true;
    }

    void decide(Moment moment, const View& view, Deviation& made) override {
        look_ = false;
        bool changed = moment == Moment::pause;
        if (changed) priority(view.hart) = --lowest_;
        while (!changes_.empty() && view.total >= changes_.back()) {
            changes_.pop_back();
            priority(view.hart) = --lowest_;
            changed = true;
            if (tastes_.early_wakes && view.deadline_near && one_in(random_, 4)) {
                made.act = Act::jump;
                return;
            }
        }
        std::uint16_t best = view.hart;
        bool have = moment != Moment::block;
        for (std::size_t i = 0; i < view.ready_count; ++i) {
            const std::uint16_t other = view.ready[i];
            if (have && priority(other) <= priority(best)) continue;
            best = other;
            have = true;
        }
        if (!have || best == view.plainly) return;
        go(made, best);
        if (moment == Moment::point && tastes_.store_buffers) maybe_keep(random_, view, made);
    }

private:
    std::int64_t& priority(std::uint16_t hart) {
        auto [at, is_new] = priorities_.try_emplace(hart, 0);
        if (is_new) at->second = static_cast<std::int64_t>(random_.next() >> 33);
        return at->second;
    }

    Random random_;
    const Tastes tastes_;
    std::vector<std::uint64_t> changes_;   // the next one is last
    std::map<std::uint16_t, std::int64_t> priorities_;
    std::int64_t lowest_ = 0;
    bool look_ = false;
};

class ReplayStrategy : public Strategy {
public:
    explicit ReplayStrategy(std::vector<Deviation> deviations) {
        for (const Deviation& one : deviations) left_[one.hart].push_back(one);
        for (auto& [hart, list] : left_) std::reverse(list.begin(), list.end());
    }

    std::uint64_t free_steps(const View& view) override {
        const Deviation* next = next_of(view);
        if (next == nullptr) return never;
        return next->step > view.step ? next->step - view.step - 1 : 0;
    }

    void decide(Moment moment, const View& view, Deviation& made) override {
        const Deviation* next = next_of(view);
        if (next == nullptr || next->step != view.step || next->moment != moment) return;
        made = *next;
        left_[view.hart].pop_back();
    }

private:
    // A deviation that was passed by, because an earlier one was left out and the course differs,
    // is dropped.
    const Deviation* next_of(const View& view) {
        const auto at = left_.find(view.hart);
        if (at == left_.end()) return nullptr;
        auto& list = at->second;
        while (!list.empty() && list.back().step < view.step) list.pop_back();
        return list.empty() ? nullptr : &list.back();
    }

    std::map<std::uint16_t, std::vector<Deviation>> left_;   // the next one is last
};

}   // namespace

std::unique_ptr<Strategy> random_strategy(std::uint64_t seed, Tastes tastes) {
    return std::make_unique<RandomStrategy>(seed, tastes);
}

std::unique_ptr<Strategy> priority_strategy(std::uint64_t seed, Tastes tastes) {
    return std::make_unique<PriorityStrategy>(seed, tastes);
}

std::unique_ptr<Strategy> replay_strategy(std::vector<Deviation> deviations) {
    return std::make_unique<ReplayStrategy>(std::move(deviations));
}

}   // namespace weft::sim
