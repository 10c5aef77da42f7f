// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A new thread or process inherits the CPUs of the OS thread that starts it. A hosted unit's stream
// may be bound to a few CPUs: threads and processes that the unit starts are not. With
// WEFT_GUESTS=admit each thread of the program is a guest from its first instruction to its last.
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <unistd.h>

#include <threads.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#include <weft/guest.h>

#include "../../common/variables.hpp"
#include "caller.hpp"
#include "lot.hpp"
#include "real.hpp"

namespace {

using weft_pthread::inside_of;
using weft_pthread::Real;

Real<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real_create("pthread_create");
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                      char* const*);
Real<Spawn> real_spawn("posix_spawn"), real_spawnp("posix_spawnp");
Real<int (*)(const char*)> real_system("system");
Real<FILE* (*)(const char*, const char*)> real_popen("popen");
Real<pid_t (*)()> real_fork("fork");
Real<int (*)(thrd_t*, thrd_start_t, void*)> real_thrd_create("thrd_create");

bool admits() {
    static const bool wanted = [] {
        const char* const value = std::getenv(weft_bridge::guests.name);
        const int word = weft_bridge::word_of(weft_bridge::guests, value);
        if (word == weft_bridge::illegal)
            std::fprintf(stderr, "weft: WEFT_GUESTS is '%s', and may be 'leave' or 'admit'; threads are left alone\n",
                         value);
        return word == 1;
    }();
    return wanted;
}

// Weft's own threads belong to the runtime and are not admitted.
bool is_admitted(const void* caller) { return admits() && !weft_pthread::is_weft(caller); }

// A thread that ends as a guest, in whatever way, leaves automatically.
void enter() {
    const weft_pthread::NotCancelled inside;
    if (weft_guest_enter() == WEFT_OK) return;
    static std::atomic<bool> said{false};
    if (!said.exchange(true))
        std::fprintf(stderr, "weft: a thread is left alone that was to be admitted (WEFT_GUESTS): %s\n",
                     weft_error_text());
}

template <class Body>
struct Start {
    Body body;
    void* argument;

    static auto begin(void* raw) {
        const Start kept = *static_cast<Start*>(raw);
        delete static_cast<Start*>(raw);
        enter();
        return kept.body(kept.argument);
    }
};
using Pthread = Start<void* (*)(void*)>;
using Thrd = Start<thrd_start_t>;

// `refused`: the call's result if the kernel gives no more threads. Idle threads of Weft then make
// room. Weft's own callers see the result themselves.
template <class... Parameters>
int start_thread(const void* caller, int refused, int (*call)(Parameters...),
                 std::type_identity_t<Parameters>... arguments) {
    int answer = 0;
    auto attempt = [&] {
        answer = inside_of<int, Parameters...>(weft_hosted_unconfined, call, arguments...);
        return answer != refused;
    };
    if (attempt() || weft_pthread::is_weft(caller)) [[likely]]
        return answer;
    const weft_pthread::NotCancelled inside;
    weft_hosted_make_room([](void* raw) { return (*static_cast<decltype(attempt)*>(raw))(); }, &attempt);
    return answer;
}

}   // namespace

extern "C" {

// libweft_openblas, where it is loaded. It is told of each thread that is about to start, and may
// replace what the thread runs. True: the thread is an OpenBLAS' own, which spins for others and is
// no guest.
[[gnu::weak, gnu::visibility("default")]] bool weft_openblas_thread_starts(void* (**body)(void*), void** argument);
[[gnu::weak, gnu::visibility("default")]] void weft_openblas_thread_refused(void* (*body)(void*), void* argument);
// It sets for the child how many threads each OpenBLAS uses. After the fork only the parent calls.
[[gnu::weak, gnu::visibility("default")]] void weft_openblas_before_fork();
[[gnu::weak, gnu::visibility("default")]] void weft_openblas_after_fork();

[[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                  void* (*body)(void*), void* argument) noexcept {
    const void* const caller = __builtin_return_address(0);
    if (weft_openblas_thread_starts != nullptr && !weft_pthread::is_weft(caller) &&
        weft_openblas_thread_starts(&body, &argument)) {
        const int error = start_thread(caller, EAGAIN, real_create.get(), thread, attributes, body, argument);
        if (error != 0) weft_openblas_thread_refused(body, argument);
        return error;
    }
    if (!is_admitted(caller))
        return start_thread(caller, EAGAIN, real_create.get(), thread, attributes, body, argument);
    auto* const start = new (std::nothrow) Pthread{body, argument};
    if (start == nullptr) return EAGAIN;
    const int error =
        start_thread(caller, EAGAIN, real_create.get(), thread, attributes, &Pthread::begin, static_cast<void*>(start));
    if (error != 0) delete start;
    return error;
}

[[gnu::visibility("default")]] int thrd_create(thrd_t* thread, thrd_start_t body, void* argument) {
    const void* const caller = __builtin_return_address(0);
    if (!is_admitted(caller)) return start_thread(caller, thrd_error, real_thrd_create.get(), thread, body, argument);
    auto* const start = new (std::nothrow) Thrd{body, argument};
    if (start == nullptr) return thrd_nomem;
    const int error =
        start_thread(caller, thrd_error, real_thrd_create.get(), thread, &Thrd::begin, static_cast<void*>(start));
    if (error != thrd_success) delete start;
    return error;
}

[[gnu::visibility("default")]] int posix_spawn(pid_t* process, const char* path,
                                               const posix_spawn_file_actions_t* actions,
                                               const posix_spawnattr_t* attributes, char* const* arguments,
                                               char* const* environment) {
    return inside_of(weft_hosted_unconfined, real_spawn.get(), process, path, actions, attributes, arguments,
                     environment);
}

[[gnu::visibility("default")]] int posix_spawnp(pid_t* process, const char* file,
                                                const posix_spawn_file_actions_t* actions,
                                                const posix_spawnattr_t* attributes, char* const* arguments,
                                                char* const* environment) {
    return inside_of(weft_hosted_unconfined, real_spawnp.get(), process, file, actions, attributes, arguments,
                     environment);
}

[[gnu::visibility("default")]] int system(const char* command) {
    return inside_of(weft_hosted_unconfined, real_system.get(), command);
}

[[gnu::visibility("default")]] FILE* popen(const char* command, const char* mode) {
    return inside_of(weft_hosted_unconfined, real_popen.get(), command, mode);
}

// The child is handled separately: otherwise it, too, would do what the enclosing call does at its
// end.
[[gnu::visibility("default")]] pid_t fork() noexcept {
    const auto own = static_cast<pid_t>(weft_hosted_thread_id());
    cpu_set_t cpus;
    const bool known = own != 0 && sched_getaffinity(own, sizeof cpus, &cpus) == 0;
    if (weft_openblas_before_fork != nullptr) weft_openblas_before_fork();
    const pid_t child = real_fork.get()();
    if (child != 0 && weft_openblas_after_fork != nullptr) weft_openblas_after_fork();
    if (child == 0 && known) pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
    return child;
}

}   // extern "C"
