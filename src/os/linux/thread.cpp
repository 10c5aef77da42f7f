// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/thread.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/atomic.hpp"
#include "os/bare_thread.hpp"
#include "os/begins_with.hpp"
#include "os/fault.hpp"
#include "os/memory.hpp"

namespace weft::os {
namespace {

struct Start {
    void (*body)(void*);
    void* argument;

    Start(void (*of)(void*), void* with) : body(of), argument(with) {}
};

constinit atomic<std::size_t> started{0};

// No unit switches while it is set, and only code that the C library calls meanwhile reads it: the
// compiler's own thread-local access is good enough here.
thread_local constinit bool starting = false;

// Neither allocates nor frees: the first time that a thread does either, the C library reserves 64
// MiB of addresses for it, and addresses may be scarce.
void* thread_main(void* raw) {
    const Start& start = *static_cast<const Start*>(raw);
    start.body(start.argument);
    started.fetch_sub(1);
    return nullptr;
}

}   // namespace

bool thread_start(Thread& thread, std::size_t stack_bytes, void (*body)(void*), void* argument) {
    if (fault(Seam::thread)) return false;
    auto* start = make<Start>(body, argument);
    if (start == nullptr) return false;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_t created;
    started.fetch_add(1);
    starting = true;
    const int answer = [&] {
        const BeginsWith environment;
        return pthread_create(&created, &attributes, thread_main, start);
    }();
    starting = false;
    pthread_attr_destroy(&attributes);
    if (answer != 0) {
        started.fetch_sub(1);
        release(start);
        return false;
    }
    thread.handle = static_cast<std::uintptr_t>(created);
    thread.start = start;
    return true;
}

bool thread_is_starting_one() { return starting; }

void thread_join(Thread& thread) {
    pthread_join(static_cast<pthread_t>(thread.handle), nullptr);
    release(thread.start);
    thread = {};
}

std::size_t thread_count() {
    DIR* const all = opendir("/proc/self/task");
    if (all == nullptr) return 0;
    std::size_t count = 0;
    while (const dirent* const one = readdir(all)) count += one->d_name[0] != '.';
    closedir(all);
    return count;
}

std::size_t threads_started() { return started.load() + bare_threads_started(); }

void threads_forked() {
    started.store(0);
    bare_threads_forked();
}
static_assert(sizeof(pthread_key_t) < sizeof(std::uintptr_t));

ThreadKey::ThreadKey(void (*at_end)(void*)) {
    pthread_key_t key;
    if (pthread_key_create(&key, at_end) == 0) key_ = std::uintptr_t{key} + 1;
}

// Without a key it asks for an impossible one, and gets null.
void* ThreadKey::get() const { return pthread_getspecific(static_cast<pthread_key_t>(key_ - 1)); }

bool ThreadKey::set(void* word) const {
    return !fault(Seam::allocate) && pthread_setspecific(static_cast<pthread_key_t>(key_ - 1), word) == 0;
}

void thread_name(const char* name) { pthread_setname_np(pthread_self(), name); }

std::uint32_t thread_id() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

Span thread_stack() {
    Span span;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &span.lowest, &span.bytes);
        pthread_attr_destroy(&attributes);
    }
    return span;
}

void thread_without_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

SignalMask thread_signals() {
    SignalMask mask;
    static_assert(sizeof mask.bits >= sizeof(sigset_t));
    pthread_sigmask(SIG_SETMASK, nullptr, reinterpret_cast<sigset_t*>(mask.bits));
    return mask;
}

void thread_set_signals(const SignalMask& mask) {
    pthread_sigmask(SIG_SETMASK, reinterpret_cast<const sigset_t*>(mask.bits), nullptr);
}

bool thread_time(std::uint32_t thread, std::uint64_t& ns) {
    // The kernel's clock of a thread by its number (CPUCLOCK_SCHED | CPUCLOCK_PERTHREAD_MASK), as
    // pthread_getcpuclockid derives it from a handle.
    const auto clock = static_cast<clockid_t>((~thread << 3) | 6u);
    timespec time;
    if (clock_gettime(clock, &time) != 0) return false;
    ns = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
    return true;
}

namespace {

// Writes "/proc/self/task/THREAD/NAME", as snprintf would, which a bare thread may not call.
void name_file(std::uint32_t thread, const char* name, char* text) {
    char digits[10];
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + thread % 10);
    while ((thread /= 10) != 0);
    constexpr char folder[] = "/proc/self/task/";
    std::memcpy(text, folder, sizeof folder - 1);
    text += sizeof folder - 1;
    while (count != 0) *text++ = digits[--count];
    *text++ = '/';
    std::strcpy(text, name);
}

// Reads the kernel's file of that name for a thread of this process; errno is unchanged. False:
// there is no such file.
bool read_of_thread(std::uint32_t thread, const char* name, char (&text)[96]) {
    const int kept = errno;
    name_file(thread, name, text);
    // System calls by number: the caller may be a hosted unit, which must not be cancelled here.
    const long file = syscall(SYS_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno = kept, false;
    const long length = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    errno = kept;
    if (length <= 0) return false;
    text[length] = '\0';
    return true;
}

}   // namespace

Doing thread_doing(std::uint32_t thread, long& call) {
    call = -1;
    char text[96];
    if (fault(Seam::thread_doing) || !read_of_thread(thread, "syscall", text)) return Doing::unknown;
    // "running", or the number of the call and its arguments, or -1 where the thread is blocked
    // outside a system call.
    if (text[0] == 'r') return Doing::runs;
    if (text[0] == '-') return Doing::waits;
    if (text[0] < '0' || text[0] > '9') return Doing::unknown;
    call = 0;
    for (const char* at = text; *at >= '0' && *at <= '9'; ++at) call = call * 10 + (*at - '0');
    return Doing::waits;
}

bool thread_delay(std::uint32_t thread, std::uint64_t& ns) {
    if (const Load* const load = load_for_test()) return ns = load->delay_ns(thread), true;
    char text[96];
    if (!read_of_thread(thread, "schedstat", text)) return false;
    unsigned long long ran, waited;   // "time on a processor, time in the queue of one, slices"
    if (std::sscanf(text, "%llu %llu", &ran, &waited) != 2) return false;
    ns = waited;
    return true;
}

void thread_yield() { sched_yield(); }

}   // namespace weft::os
