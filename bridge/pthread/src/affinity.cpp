// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPUs that the calling thread may run on. For a hosted unit the calls apply to its own
// pthread, which runs nothing, so that the carrier stays on its stream's CPUs.
#include <sched.h>

#include "real.hpp"

namespace {

weft_pthread::Real<int (*)(pid_t, size_t, const cpu_set_t*)> real_set("sched_setaffinity");
weft_pthread::Real<int (*)(pid_t, size_t, cpu_set_t*)> real_get("sched_getaffinity");

// 0 if the caller is not a hosted unit: the kernel then applies the call to the calling thread, as
// it should.
pid_t meant(pid_t thread) { return thread != 0 ? thread : static_cast<pid_t>(weft_hosted_thread_id()); }

}   // namespace

extern "C" {

[[gnu::visibility("default")]] int sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t* cpus) noexcept {
    return real_set.get()(meant(thread), bytes, cpus);
}
[[gnu::visibility("default")]] int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t* cpus) noexcept {
    return real_get.get()(meant(thread), bytes, cpus);
}

}   // extern "C"
