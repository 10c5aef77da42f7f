// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types that streams keep of jobs: the list of the unit that runs, and the lists where other
// streams see jobs. jobs.hpp has the operations.
#pragma once

#include "base/atomic.hpp"
#include "base/random.hpp"
#include "process/own_jobs.hpp"
#include "process/published_job.hpp"
#include "weft/embed/job.h"

namespace weft {

using PublishedJob = BasicPublishedJob<weft_job>;
using JobList = BasicJobList<weft_job>;
using Jobs = BasicJobs<weft_job>;
using RuntimesJobs = BasicJobsIn<weft_job, Jobs::most_lists>;
using ArenasJobs = BasicJobsIn<weft_job, 8>;   // it lies on a stack
using Search = BasicSearch<Jobs>;
static_assert(sizeof(PublishedJob) <= sizeof(weft_job::kept) && alignof(PublishedJob) <= alignof(weft_job));

// It comes first in Stream, so the word that leads to the stream also leads to its face.
using OwnJobs = BasicOwnJobs<weft_job, weft_jobs>;

// Where a stream's jobs are published, and whose jobs it takes. The stream writes it, and others
// read it; null: no place.
struct JobPlace {
    atomic<Jobs*> takes_from{nullptr};   // the list of the place where the stream's hart is
    // where the forks of its units are published: a stream without work there requests a steal of
    // this stream. Same as takes_from, except that a guest's stream publishes what it does not take
    atomic<Jobs*> publishes_to{nullptr};
    Random random{0};   // the stream's own: where it begins to look
};

}   // namespace weft
