// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/parallel.h"

#include "weft/embed/job.h"

#include "abi/convert.hpp"
#include "core/jobs.hpp"
#include "forkjoin/invoke.hpp"

using namespace weft;

namespace {

// As programs fork and join (weft/embed/job.h). noinline: a unit may come back on another stream,
// whose list is looked up anew.
[[gnu::noinline]] void fork(weft_job& job) {
    Stream* const stream = current_or_null();
    if (stream == nullptr || !stream->jobs.push(job)) offer(job);
}

[[gnu::noinline]] bool joined(weft_job& job) {
    Stream* const stream = current_or_null();
    return (stream != nullptr && stream->jobs.pop(job)) || take_back(job);
}

}   // namespace

extern "C" {

weft_status weft_invoke_called(void (*f)(void*), void* f_argument, void (*g)(void*), void* g_argument) noexcept {
    if (f == nullptr || g == nullptr) return is_null(f == nullptr ? "f" : "g");
    weft_branch second;
    second.job.run = [](weft_job* job) { weft_branch_run(job); };
    second.call = g;
    second.argument = g_argument;
    fork(second.job);
    f(f_argument);
    if (joined(second.job)) g(g_argument);
    return WEFT_OK;
}

// Under weft::sim the caller's word leads nowhere, and the caller makes both calls in any case:
// they check the list as the caller would.
void weft_job_offer(weft_job* job) noexcept { fork(*job); }

bool weft_job_take_back(weft_job* job) noexcept { return joined(*job); }

}   // extern "C"
