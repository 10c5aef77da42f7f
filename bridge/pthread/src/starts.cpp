// What is started gets the CPUs of the OS thread that starts it. A hosted unit's stream may be bound to a few: what the unit starts is not.
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "real.hpp"

namespace {

using weft_pthread::inside_of;
using weft_pthread::Real;

Real<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real_create("pthread_create");
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*, char* const*);
Real<Spawn> real_spawn("posix_spawn"), real_spawnp("posix_spawnp");
Real<int (*)(const char*)> real_system("system");
Real<FILE* (*)(const char*, const char*)> real_popen("popen");
Real<pid_t (*)()> real_fork("fork");

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
    return inside_of(weft_hosted_unconfined, real_create.get(), thread, attributes, body, argument);
}

[[gnu::visibility("default")]] int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
    const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    return inside_of(weft_hosted_unconfined, real_spawn.get(), process, path, actions, attributes, arguments, environment);
}

[[gnu::visibility("default")]] int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
    const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    return inside_of(weft_hosted_unconfined, real_spawnp.get(), process, file, actions, attributes, arguments, environment);
}

[[gnu::visibility("default")]] int system(const char* command) { return inside_of(weft_hosted_unconfined, real_system.get(), command); }

[[gnu::visibility("default")]] FILE* popen(const char* command, const char* mode) { return inside_of(weft_hosted_unconfined, real_popen.get(), command, mode); }

// The child is told by itself: what a call inside of another does at its end it would do as well.
[[gnu::visibility("default")]] pid_t fork() noexcept {
    const auto own = static_cast<pid_t>(weft_hosted_thread_id());
    cpu_set_t cpus;
    const bool known = own != 0 && sched_getaffinity(own, sizeof cpus, &cpus) == 0;
    const pid_t child = real_fork.get()();
    if (child == 0 && known) pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
    return child;
}

}  // extern "C"
