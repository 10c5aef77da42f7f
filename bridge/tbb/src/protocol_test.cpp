// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All interleavings of a few threads that call a server, and of its workers, at the steps that they
// make under the server's lock.
#include "protocol.hpp"

#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft_tbb::Protocol;

struct Worker {
    Worker* below = nullptr;
    bool idle = false;
    // What it does next. `works`: process() runs; `sent_away`: it has returned, and the worker is
    // about to look whether it is to wait; `waits`: it is about to; `asleep`; `leaves`: the
    // connection closes; `ends`: its unit is about to be gone
    enum class Next { begins, works, sent_away, waits, asleep, leaves, ends, gone } next = Next::begins;
};
using Next = Worker::Next;

// Chooses one of several ways, and in the next run another one, until all have been taken.
class Ways {
public:
    unsigned choose(unsigned count) {
        if (depth_ == taken_.size()) taken_.push_back({0, count});
        return taken_[depth_++].way;
    }
    bool next() {
        depth_ = 0;
        while (!taken_.empty() && ++taken_.back().way == taken_.back().count) taken_.pop_back();
        return !taken_.empty();
    }

private:
    struct Taken {
        unsigned way, count;
    };
    std::vector<Taken> taken_;
    std::size_t depth_ = 0;
};

constexpr int close = 1000;   // in place of a delta

struct Case {
    unsigned most;                           // jobs
    std::vector<std::vector<int>> callers;   // deltas, in order, or `close`
    bool refuses = false;                    // the kernel may refuse threads
    unsigned sent_away = 3;                  // so often at most process() returns although TBB wants the worker
};

class Run {
public:
    Run(const Case& of, Ways& ways) : case_(of), ways_(ways), at_(of.callers.size()), sent_away_left_(of.sent_away) {
        protocol_.begin(of.most);
    }
    void run() {
        while (step()) check();
        check_end();
    }

private:
    using Act = Protocol<Worker>::Act;

    void act(const Act& act) {
        harts_ += act.harts;
        for (Worker* one = act.resumed; one != nullptr;) {
            Worker* const after = one->below;
            ASSERT_TRUE(one->next == Next::asleep || one->next == Next::waits);
            EXPECT_FALSE(one->idle);
            one->next = protocol_.is_closing() ? Next::leaves : Next::works;
            one = after;
        }
        for (unsigned i = 0; i < act.missing; ++i) {
            if (case_.refuses && ways_.choose(2) == 1) {
                to_refuse_.push_back(1);
                continue;
            }
            workers_.push_back(std::make_unique<Worker>());
        }
        if (act.over) {
            EXPECT_FALSE(over_) << "told twice";
            for (const auto& worker : workers_)
                EXPECT_TRUE(worker->next == Next::ends || worker->next == Next::gone) << "a worker has its job";
            over_ = true;
        }
        if (act.gone) {
            EXPECT_FALSE(all_gone_) << "told twice";
            EXPECT_TRUE(over_) << "the client is told before the server serves another";
            EXPECT_EQ(count(Next::gone), workers_.size());
            all_gone_ = true;
        }
    }

    bool step() {
        std::vector<std::function<void()>> may;
        for (std::size_t i = 0; i < at_.size(); ++i) {
            if (at_[i] != case_.callers[i].size()) may.push_back([this, i] { call(case_.callers[i][at_[i]++]); });
        }
        if (!to_refuse_.empty()) {
            may.push_back([this] {
                to_refuse_.pop_back();
                act(protocol_.refused(1));
            });
        }
        for (const auto& worker : workers_) {
            if (Worker& one = *worker; may_step(one)) may.push_back([this, &one] { step_of(one); });
        }
        if (may.empty()) return false;
        may[ways_.choose(static_cast<unsigned>(may.size()))]();
        return true;
    }

    void call(int delta) {
        if (delta == close) {
            closed_ = true;
            return act(protocol_.close());
        }
        act(protocol_.adjust(delta, true));
    }

    // A worker that is wanted stays at work in the end.
    bool may_step(const Worker& one) const {
        if (one.next == Next::works) return protocol_.has_surplus() || protocol_.is_closing() || sent_away_left_ != 0;
        return one.next != Next::asleep && one.next != Next::gone;
    }

    void step_of(Worker& one) {
        switch (one.next) {
        case Next::begins: one.next = protocol_.is_closing() ? Next::leaves : Next::works; break;
        case Next::works:
            if (!protocol_.has_surplus() && !protocol_.is_closing()) --sent_away_left_;
            one.next = Next::sent_away;
            break;
        case Next::sent_away:
            one.next = protocol_.has_surplus() ? Next::waits : protocol_.is_closing() ? Next::leaves : Next::works;
            break;
        case Next::waits: {
            const Act next = protocol_.wait(one);
            if (next.resumed == nullptr) one.next = Next::asleep;
            act(next);
            break;
        }
        case Next::leaves:
            one.next = Next::ends;
            act(protocol_.leave(true));
            break;
        case Next::ends:
            one.next = Next::gone;
            act(protocol_.unit_is_gone());
            break;
        case Next::asleep:
        case Next::gone: break;
        }
    }

    std::size_t count(Next next) const {
        std::size_t found = 0;
        for (const auto& worker : workers_) found += worker->next == next ? 1 : 0;
        return found;
    }

    void check() {
        EXPECT_EQ(harts_, static_cast<std::ptrdiff_t>(protocol_.requested()));
        EXPECT_LE(workers_.size(), case_.most);
        EXPECT_GE(protocol_.requested(), protocol_.active()) << "one that works can get a hart";
        EXPECT_LE(count(Next::works) + count(Next::sent_away) + count(Next::waits), protocol_.active());
    }

    void check_end() {
        EXPECT_EQ(harts_, static_cast<std::ptrdiff_t>(protocol_.requested()));
        if (closed_) {
            EXPECT_TRUE(over_);
            EXPECT_EQ(count(Next::gone), workers_.size());
            EXPECT_TRUE(all_gone_);
            EXPECT_EQ(harts_, 0);
            return;
        }
        EXPECT_EQ(count(Next::works), protocol_.active());
        EXPECT_EQ(count(Next::works) + count(Next::asleep), workers_.size());
        if (case_.refuses) return;
        EXPECT_EQ(protocol_.active(), std::min(protocol_.wanted(), case_.most));
    }

    const Case& case_;
    Ways& ways_;
    Protocol<Worker> protocol_;
    std::vector<std::size_t> at_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<int> to_refuse_;
    unsigned sent_away_left_;
    std::ptrdiff_t harts_ = 0;
    bool over_ = false, closed_ = false, all_gone_ = false;
};

void try_all(const Case& of) {
    Ways ways;
    unsigned long runs = 0;
    do {
        ++runs;
        Run(of, ways).run();
    } while (!testing::Test::HasFailure() && ways.next());
    std::printf("%lu interleavings\n", runs);
    EXPECT_GT(runs, 1UL);
}

TEST(Protocol, AsManyWorkersWorkAsTheDeltasSay) { try_all({2, {{1, 1}, {-1}}, false, 1}); }
TEST(Protocol, DeltasComeInAnyOrder) { try_all({2, {{2, -1}, {-1, 1}}, false, 0}); }
TEST(Protocol, NoMoreJobsAreMadeThanThereMayBe) { try_all({1, {{2}, {1, -2}}, false, 1}); }
TEST(Protocol, TheConnectionIsOverWhenTheLastWorkerHasLeft) { try_all({2, {{1}, {1}, {close}}, false, 1}); }
TEST(Protocol, AWorkerThatIsAboutToWaitSeesThatTheConnectionCloses) { try_all({2, {{1, -1, close}}, false, 1}); }
TEST(Protocol, AConnectionWithoutWorkersIsOverAtOnce) { try_all({2, {{0, close}, {0}}, false, 0}); }
TEST(Protocol, ItGoesOnWithoutTheWorkersThatTheKernelRefuses) { try_all({2, {{2, -1}, {1}}, true, 0}); }
TEST(Protocol, ItClosesAlthoughTheKernelRefusesWorkers) { try_all({2, {{2}, {close}}, true, 0}); }

}   // namespace
