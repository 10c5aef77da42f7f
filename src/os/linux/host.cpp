// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/host.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "arch/arch.hpp"
#include "base/sanitizer.hpp"
#include "os/futex.hpp"
#include "os/stack.hpp"

// The C library's internals, and how they are found: for glibc 2.34 and later. Elsewhere the code
// works without what is missing, as host.hpp says.
extern "C" {
[[gnu::weak]] extern const std::ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
// What pthread_cleanup_push does in C: <pthread.h> hides it from C++.
void __pthread_register_cancel(__pthread_unwind_buf_t* frame);
void __pthread_unregister_cancel(__pthread_unwind_buf_t* frame);
int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* of_library) noexcept;
[[gnu::returns_twice]] int __sigsetjmp(struct __jmp_buf_tag* environment, int save_mask) noexcept;
}

namespace weft::os {
namespace {

// ---- the C library's insides --------------------------------------------------------------------

// The key's use count, odd while the key exists, and its destructor (nptl's struct
// pthread_key_struct).
struct KeyOfLibrary {
    std::uintptr_t use;
    void (*destructor)(void*);
};

struct Insides {
    void (*run_thread_local_destructors)();
    const KeyOfLibrary* keys;

    Insides()
        : run_thread_local_destructors(
              reinterpret_cast<void (*)()>(dlvsym(RTLD_DEFAULT, "__call_tls_dtors", "GLIBC_PRIVATE"))),
          keys(static_cast<const KeyOfLibrary*>(dlvsym(RTLD_DEFAULT, "__pthread_keys", "GLIBC_PRIVATE"))) {}
    [[nodiscard]] bool known() const { return run_thread_local_destructors != nullptr && keys != nullptr; }
};

const Insides& insides() {
    static const Insides found;
    return found;
}

constexpr int signal_set_ids = 33;   // glibc's own

// All signals but the one for setting ids, which cannot be refused: a thread that sets ids waits
// for every thread. A direct system call, because the C library lets no code mask its own two
// signals.
void refuse_signals() {
    const std::uint64_t all_but_one = ~(std::uint64_t{1} << (signal_set_ids - 1));
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all_but_one, nullptr, sizeof all_but_one);
}

// The offset from the thread pointer at which each thread has its list of thread_local objects to
// destroy: an internal variable of the C library, without a visible name. It is found by its
// behaviour, on a separate thread: of the library's thread-local words it is the one that is null
// at first, changes with each object that is added, and is null again after the destructors have
// run. No word is dereferenced as a pointer: errno is among them.
//
// It is searched for when a hosted unit ends for the first time, not when the first host starts.
// Adding an object allocates, and the C library reserves 64 MiB of addresses for the first
// allocation of each thread: where addresses are limited (ulimit -v), the stacks of a team come
// first.
class DestructorList {
public:
    // False: not found, at least not now; where no thread could be started the next call tries
    // again. Several threads may search at once, and find the same: a lock would have to be broken
    // open in the child of a fork.
    bool find() {
        if (offset_.load() != 0) return true;
        Thread thread;
        constexpr std::size_t stack_bytes = 128 << 10;
        if (!thread_start(thread, stack_bytes, look_for_it, this)) return false;
        thread_join(thread);
        return offset_.load() != 0;
    }

    // After find() has returned true.
    [[nodiscard]] bool empty_here() const {
        return *reinterpret_cast<void**>(static_cast<char*>(arch::thread_pointer()) + offset_.load()) == nullptr;
    }

private:
    static constexpr std::size_t most_words = 1024;
    using Words = std::uintptr_t[most_words];

    static void look_for_it(void* raw) { static_cast<DestructorList*>(raw)->look(); }

    // On a thread that has no such object. The process may have any number of other threads.
    void look() {
        refuse_signals();   // a handler might add objects
        Span of_library{};
        if (insides().run_thread_local_destructors == nullptr || dl_iterate_phdr(note_library, &of_library) == 0)
            return;
        const auto* const words = static_cast<const std::uintptr_t*>(of_library.lowest);
        const std::size_t count = std::min(of_library.bytes / sizeof(std::uintptr_t), most_words);
        Words before, with_one, with_two;
        std::copy(words, words + count, before);
        if (!add_object()) return;
        std::copy(words, words + count, with_one);
        const bool two = add_object();
        std::copy(words, words + count, with_two);
        insides().run_thread_local_destructors();
        if (!two) return;
        const std::uintptr_t* found = nullptr;
        for (std::size_t i = 0; i < count; ++i) {
            const bool changes = with_one[i] != 0 && with_two[i] != 0 && with_one[i] != with_two[i];
            if (before[i] != 0 || !changes || words[i] != 0) continue;
            if (found != nullptr) return;   // nothing tells which of the two it is
            found = words + i;
        }
        if (found == nullptr) return;
        offset_.store(reinterpret_cast<const char*>(found) - static_cast<const char*>(arch::thread_pointer()));
    }

    static bool add_object() {
        static char object;
        return __cxa_thread_atexit_impl([](void*) {}, &object, &object) == 0;
    }

    // Notes the calling thread's part of the C library's thread-local memory.
    static int note_library(dl_phdr_info* info, std::size_t, void* raw) {
        const auto function = reinterpret_cast<std::uintptr_t>(insides().run_thread_local_destructors);
        const ElfW(Phdr)* thread_local_memory = nullptr;
        bool here = false;
        for (const ElfW(Phdr)* part = info->dlpi_phdr; part != info->dlpi_phdr + info->dlpi_phnum; ++part) {
            if (part->p_type == PT_TLS) thread_local_memory = part;
            if (part->p_type == PT_LOAD && function - info->dlpi_addr - part->p_vaddr < part->p_memsz) here = true;
        }
        if (!here || thread_local_memory == nullptr || info->dlpi_tls_data == nullptr) return 0;
        *static_cast<Span*>(raw) = {info->dlpi_tls_data, thread_local_memory->p_memsz};
        return 1;
    }

    atomic<std::ptrdiff_t> offset_{0};   // 0: not found
};

DestructorList& destructor_list() {
    static DestructorList of_threads;
    return of_threads;
}

constexpr std::uint32_t most_keys = PTHREAD_KEYS_MAX;

bool in_use(const KeyOfLibrary& key) { return (key.use & 1) != 0; }

// ---- what the kernel and the C library tell all threads -----------------------------------------

// The kernel's form, not what the C library shows.
struct KernelAction {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    std::uint64_t mask;
};

// AArch64 has no restorer, but the kernel's structure has a place for it there, too.
long kernel_action(int signal, const KernelAction* now, KernelAction* before) {
    return syscall(SYS_rt_sigaction, signal, now, before, sizeof(std::uint64_t));
}

void (*set_ids_before)(int, siginfo_t*, void*) = nullptr;

// setuid and similar functions make every thread set its own ids, by a signal whose handler also
// notes in the thread control block that it is done. An OS thread that stands in for a host makes
// the note in its own block; the parked thread, which is recognized by its part of the stack, makes
// it in the host's.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void set_ids(int signal, siginfo_t* info, void* context) {
    const auto* const host = static_cast<const HostThread*>(arch::host_word());
    // not where this code runs: there may be an alternate stack
    const char* const interrupted = arch::interrupted_stack(context);
    const bool stands_in = host != nullptr && (interrupted < host->top || interrupted > host->own_stack);
    if (stands_in) arch::set_thread_pointer(host->carrier);
    set_ids_before(signal, info, context);
    if (stands_in) arch::set_thread_pointer(host->thread_pointer);
}

// The C library installs its handler when the process starts its second thread.
void take_set_ids_over() {
    KernelAction action;
    if (set_ids_before != nullptr || kernel_action(signal_set_ids, nullptr, &action) != 0 || action.handler == nullptr)
        return;
    set_ids_before = action.handler;
    action.handler = set_ids;
    kernel_action(signal_set_ids, &action, nullptr);
}

// The kernel writes the current CPU into the area that the calling OS thread has registered in its
// thread control block, and aborts restartable sequences there, no matter whose thread pointer the
// thread runs with. Where nothing is registered glibc asks the kernel instead.
void leave_restartable_sequences() {
    if (&__rseq_offset == nullptr || &__rseq_size == nullptr || __rseq_size == 0) return;
    char* const area = static_cast<char*>(arch::thread_pointer()) + __rseq_offset;
    // the size that the kernel first had; glibc registers it where it has no larger one
    constexpr unsigned registered_bytes = 32, unregister = 1;
    const int kept = errno;
    syscall(SYS_rseq, area, std::max(__rseq_size, registered_bytes), unregister, arch::restartable_signature);
    errno = kept;
}

// ---- the thread ---------------------------------------------------------------------------------

void note_kept_keys(HostThread& host) {
    if (insides().keys == nullptr) return;
    for (std::uint32_t key = 0; key < most_keys && host.kept_count < HostThread::most_kept; ++key) {
        if (in_use(insides().keys[key]) && pthread_getspecific(key) != nullptr) host.kept[host.kept_count++] = key;
    }
}

bool keeps(const HostThread& host, std::uint32_t key) {
    return std::find(host.kept, host.kept + host.kept_count, key) != host.kept + host.kept_count;
}

// The bytes kept for the thread itself, below the place where it waits: the frames of a signal and
// its handler.
std::size_t own_bytes() { return signal_frame_bytes() + (16 << 10); }

void describe(HostThread& host) {
    host.thread_pointer = arch::thread_pointer();
    host.local_word = arch::local_word_address();
    host.errno_address = errno_address();
    host.exceptions = exception_globals();
    host.id = thread_id();
    host.self = static_cast<std::uintptr_t>(pthread_self());
}

// Called by the thread that started the host: the call allocates, and the first allocation of a
// thread reserves 64 MiB of addresses. False: no memory.
bool describe_stack(HostThread& host) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(static_cast<pthread_t>(host.thread.handle), &attributes) != 0) return false;
    void* lowest = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &lowest, &bytes);
    pthread_attr_getguardsize(&attributes, &host.guard_bytes);
    pthread_attr_destroy(&attributes);
    host.lowest = static_cast<char*>(lowest);
    return true;
}

void host_main(void* raw) {
    auto& host = *static_cast<HostThread*>(raw);
    refuse_signals();
    thread_name("weft/host");
    if (host.cpus != nullptr) affinity_set(0, *host.cpus);
    leave_restartable_sequences();
    note_kept_keys(host);
    describe(host);
    host.own_stack = arch::here_on_stack();
    host.top = host.own_stack - own_bytes();
    host.top -= reinterpret_cast<std::uintptr_t>(host.top) % 64;
    arch::set_host_word(&host);
    sanitizer::tsan_release(&host);
    arch::park_without_stack(&host.parked, &host.released);
    arch::set_host_word(nullptr);
    arch::set_local_word(nullptr);
    host.gone.store(true);
}

}   // namespace

bool hosts_supported() { return true; }

void host_begin() {
    if (arch::instruction_capability != 0)
        arch::sets_thread_pointer_by_instruction.store((getauxval(AT_HWCAP2) & arch::instruction_capability) != 0);
}

namespace {

// Where addresses are limited, those that Weft itself takes are missing for the stacks of hosts.
// When a stack of the C library's default size is not available, half of that is tried, until as
// much has been spared as Weft takes.
atomic<std::size_t> spared{0};

std::size_t smaller_stack(std::size_t standard) {
    constexpr std::size_t most = 24 << 20, least_bytes = 1 << 20;
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
    const std::size_t smaller = standard / 2;
    if (smaller < least_bytes) return 0;
    if (spared.fetch_add(smaller) + smaller <= most) return smaller;
    spared.fetch_sub(smaller);
    return 0;
}

bool start_on_stack(HostThread& host, std::size_t wanted, std::size_t standard, std::size_t least) {
    if (thread_start(host.thread, std::max(standard, least), host_main, &host)) return true;
    const std::size_t smaller = wanted == 0 ? smaller_stack(standard) : 0;
    if (smaller == 0) return false;
    if (smaller >= least && thread_start(host.thread, smaller, host_main, &host)) return true;
    spared.fetch_sub(smaller);
    return false;
}

}   // namespace

bool host_start(HostThread& host, std::size_t bytes, const CpuSet* cpus) {
    // The C library takes a thread's own data from its stack: the thread-local memory of all loaded
    // libraries.
    constexpr std::size_t for_library = 128 << 10;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    std::size_t standard = 0;
    pthread_attr_getstacksize(&attributes, &standard);
    pthread_attr_destroy(&attributes);
    host.cpus = cpus;
    if (!start_on_stack(host, bytes, standard, bytes + own_bytes() + for_library)) return false;
    if (!describe_stack(host)) {
        host_release(host);
        thread_join(host.thread);
        return false;
    }
    take_set_ids_over();
    return true;
}

bool host_call(void (*body)(void*), void* argument) {
    __pthread_unwind_buf_t frame;
    if (__sigsetjmp(reinterpret_cast<__jmp_buf_tag*>(frame.__cancel_jmp_buf), 0) != 0) return false;
    // pthread_exit and cancellation return above, and run no destructor of this frame.
    struct Registered {
        __pthread_unwind_buf_t& frame;
        explicit Registered(__pthread_unwind_buf_t& of) : frame(of) { __pthread_register_cancel(&frame); }
        ~Registered() { __pthread_unregister_cancel(&frame); }
    };
    const Registered registered(frame);
    body(argument);
    return true;
}

bool host_settle() {
    return host_call(
        [](void*) {
            pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
            pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, nullptr);
            pthread_testcancel();
        },
        nullptr);
}

bool host_end_of_unit(const HostThread& host) {
    if (!insides().known() || !destructor_list().find()) return false;
    const bool no_objects = destructor_list().empty_here();
    insides().run_thread_local_destructors();
    bool some = true;   // a destructor may set values
    for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS && some; ++round) {
        some = false;
        for (std::uint32_t key = 0; key < most_keys; ++key) {
            const KeyOfLibrary& of = insides().keys[key];
            if (!in_use(of) || keeps(host, key)) continue;
            void* const value = pthread_getspecific(key);
            if (value == nullptr) continue;
            pthread_setspecific(key, nullptr);
            if (of.destructor == nullptr) continue;
            of.destructor(value);
            some = true;
        }
    }
    return no_objects && destructor_list().empty_here();
}

void host_forked() { arch::set_host_word(nullptr); }

void host_prepare_carrier() { leave_restartable_sequences(); }

void signal_thread(std::uint32_t id, int signal) { syscall(SYS_tgkill, getpid(), id, signal); }
void signal_here(int signal) { signal_thread(thread_id(), signal); }

}   // namespace weft::os
