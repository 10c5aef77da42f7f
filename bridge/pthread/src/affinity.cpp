// Where the calling thread may run: of a hosted unit its own pthread, which runs nothing, so that
// the carrier stays where its stream was put.
#include <sched.h>

#include "real.hpp"

namespace {

weft_pthread::Real<int (*)(pid_t, size_t, const cpu_set_t*)> real_set("sched_setaffinity");
weft_pthread::Real<int (*)(pid_t, size_t, cpu_set_t*)> real_get("sched_getaffinity");

// 0 where it is no hosted unit: then the kernel takes it for the calling thread, as it should.
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
