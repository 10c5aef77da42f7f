// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The books of a server: how many workers TBB wants, which of them wait, and when the connection is
// over. No thread waits here, and nothing is resumed: each call says what the caller is to do when
// it has released the lock under which all calls are made. protocol_test.cpp tries all
// interleavings of small cases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft_tbb {

// Worker has `Worker* below` and `bool idle`, which belong to the protocol.
template <class Worker>
class Protocol {
public:
    struct Act {
        Worker* resumed = nullptr;   // linked by `below`: they go on
        unsigned missing = 0;        // so many are to be made; refused() takes back those that cannot
        std::ptrdiff_t harts = 0;    // to be requested
        bool over = false;           // the client is to be told that the connection is closed
        bool gone = false;           // afterwards: nothing is left of it, not even workers' units
    };

    // A new connection: at most so many jobs in its life.
    void begin(unsigned most) {
        *this = {};
        most_ = most;
    }

    // Deltas come in any order, so their sum may be below 0 for a moment. 0: the demand is as it
    // was, but workers may be gone. may_make: workers may be made.
    Act adjust(std::int64_t delta, bool may_make) {
        demand_ += delta;
        Act act;
        while (active_ < wanted() && idle_ != nullptr) take_idle(act);
        if (active_ < wanted() && may_make) {
            act.missing = std::min(wanted() - active_, most_ - made_);
            made_ += act.missing;
            active_ += act.missing;
            with_job_ += act.missing;
            units_ += act.missing;
        }
        act.harts = change_of_request();
        return act;
    }
    // Of the missing ones, so many could not be made.
    Act refused(unsigned count) {
        made_ -= count;
        active_ -= count;
        with_job_ -= count;
        units_ -= count;
        Act act = after_leaving();
        act.gone = closing_ && units_ == 0;
        return act;
    }

    // Whether a worker that TBB has sent away is to wait.
    bool has_surplus() const { return !closing_ && active_ > wanted(); }
    // It waits from now on, unless it is wanted again: then it is the one that is resumed.
    Act wait(Worker& worker) {
        Act act;
        worker.below = nullptr;
        if (!has_surplus()) {
            act.resumed = &worker;
            return act;
        }
        worker.idle = true;
        worker.below = idle_;
        idle_ = &worker;
        --active_;
        act.harts = change_of_request();
        return act;
    }

    // A worker's job is cleaned up, or it has not got one. `begun`: it has run.
    Act leave(bool begun) {
        // In the child of a fork that a worker's task has made, that worker has been forgotten.
        if (active_ != 0) --active_;
        if (with_job_ != 0) --with_job_;
        if (!begun) --made_;
        return after_leaving();
    }

    bool is_closing() const { return closing_; }
    // No worker is to wait any more. They are active until they leave.
    Act close() {
        closing_ = true;
        Act act;
        while (idle_ != nullptr) take_idle(act);
        act.harts = change_of_request();
        act.over = with_job_ == 0;
        act.gone = units_ == 0;
        return act;
    }

    // A worker's unit is gone.
    Act unit_is_gone() {
        Act act;
        act.gone = --units_ == 0 && closing_;
        return act;
    }

    // The workers do not exist any more, and neither do their units, where those are `gone`.
    void forget_workers(bool gone) {
        idle_ = nullptr;
        active_ = with_job_ = requested_ = 0;
        if (gone) units_ = 0;
    }

    // For tests.
    unsigned active() const { return active_; }
    unsigned requested() const { return requested_; }
    unsigned wanted() const {
        return static_cast<unsigned>(std::clamp<std::int64_t>(closing_ ? 0 : demand_, 0, most_));
    }

private:
    // As many as work, also beyond what is wanted: a worker in the middle of a task has to get to
    // its end, and may wait there for something meanwhile.
    std::ptrdiff_t change_of_request() {
        const unsigned needed = std::max(wanted(), active_);
        const auto change = static_cast<std::ptrdiff_t>(needed) - static_cast<std::ptrdiff_t>(requested_);
        requested_ = needed;
        return change;
    }
    Act after_leaving() {
        Act act;
        act.harts = change_of_request();
        act.over = closing_ && with_job_ == 0;
        return act;
    }
    // TBB expects that the worker that has worked last works next.
    void take_idle(Act& act) {
        Worker* const top = idle_;
        idle_ = top->below;
        top->idle = false;
        top->below = act.resumed;
        act.resumed = top;
        ++active_;
    }

    unsigned most_ = 0;
    std::int64_t demand_ = 0;
    unsigned requested_ = 0;   // harts
    unsigned made_ = 0;        // workers so far, of which each may have got a job
    unsigned active_ = 0;      // workers that work, or are about to
    unsigned with_job_ = 0;    // workers that may have a job
    unsigned units_ = 0;       // workers whose units are not gone
    bool closing_ = false;
    Worker* idle_ = nullptr;   // the one that has worked last is on top
};

}   // namespace weft_tbb
