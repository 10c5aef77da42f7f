// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "forkjoin/invoke.hpp"

#include "base/assert.hpp"
#include "core/jobs.hpp"
#include "core/suspend.hpp"
#include "hart/parker.hpp"
#include "local/own_float.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

struct UnitWait : Suspension, JobWaiter {
    weft_job& job;

    UnitWait(Unit& unit, weft_job& of)
        : Suspension{unit}, JobWaiter{[](JobWaiter* raw) { static_cast<UnitWait*>(raw)->go_on(); }}, job(of) {}

    void publish() {
        if (!PublishedJob::of(job).enroll(*this)) go_on();
    }
    void go_on() {
        resume_waiting(self);   // the last act: this lies on its stack
    }
};

[[gnu::noinline]] void wait_in_ult(Stream& stream, Unit& self, weft_job& job) {
    UnitWait wait(self, job);
    suspend(stream, wait, Waits::invoke, &job);
}

struct TaskletWait : JobWaiter {
    Parker parker;

    TaskletWait() : JobWaiter{[](JobWaiter* raw) { static_cast<TaskletWait*>(raw)->parker.unpark(); }} {}
};

// A tasklet cannot leave its stream. It runs other tasklets' jobs, on its own stack, and when there
// are none for a while its OS thread sleeps: the taken job runs to its end without a switch, since
// a tasklet runs it as well.
[[gnu::noinline]] void wait_in_tasklet(weft_job& job) {
    constexpr int most_looks = 256;
    for (int looks = 0; looks < most_looks; ++looks) {
        if (PublishedJob::of(job).done()) return;
        if (weft_job* const other = take_tasklets_job(*PublishedJob::of(job).list->of)) {
            run_job_of(PublishedJob::of(*other).owner(), *other);
            finish_job(*other);
            looks = 0;
        }
        arch::pause();
    }
    TaskletWait wait;
    if (PublishedJob::of(job).enroll(wait)) wait.parker.park();
}

}   // namespace

bool take_back(weft_job& job) {
    // the job was published or is unstealable; else the lists are inconsistent
    WEFT_ASSERT(PublishedJob::of(job).state.load() - PublishedJob::available < 4);
    // relaxed: the unit has written `unstealable` itself, and no other value becomes that.
    if (PublishedJob::of(job).state.load(std::memory_order_relaxed) == PublishedJob::unstealable) return true;
    Unit& self = *current().running;
    const bool mine = PublishedJob::of(job).list->remove(job);
    if (!mine && !PublishedJob::of(job).done()) {
        if (self.kind == Kind::tasklet) wait_in_tasklet(job);
        else wait_in_ult(current(), self, job);
    }
    --self.jobs_out;
    // The thief that has taken a job will come for the next, and need not have requested it by
    // then.
    if (!mine) current().jobs.request_steal();
    return mine;
}

}   // namespace weft
