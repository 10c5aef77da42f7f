// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/bare_thread.hpp"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/config.hpp"
#include "os/fault.hpp"
#include "os/memory.hpp"
#include "os/thread_pointer.hpp"

namespace weft::os {
namespace {

// Whether an ordinary thread is needed: sanitizers find their per-thread data through the thread
// pointer; and the hooks of checked builds belong to tests, which may do anything.
constexpr bool ordinary = config::checked || config::thread_sanitizer || config::address_sanitizer;

constinit atomic<std::size_t> started{0};
// Kept for the next bare thread, since runtimes may follow each other.
constinit atomic<void*> kept_memory{nullptr};

// Room before and after the thread pointer, besides the distance to errno: it holds the C library's
// control block.
constexpr std::size_t room = 8192;

// Valgrind crashes after a thread has gone that the C library does not know. It is recognized by
// what it preloads.
bool beside_valgrind() {
    const char* const preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr && std::strstr(preloaded, "vgpreload") != nullptr;
}

// The positions in one mapping: the stack, then thread-local memory.
struct Layout {
    std::size_t pointer, bytes;
};

bool lay_out(Layout& out) {
    const std::ptrdiff_t to_errno = reinterpret_cast<char*>(&errno) - static_cast<char*>(thread_pointer());
    constexpr std::ptrdiff_t most = std::ptrdiff_t{1} << 30;
    if (std::abs(to_errno) > most) return false;
    const std::size_t page = page_bytes();
    const auto pages = [page](std::ptrdiff_t bytes) {
        return (static_cast<std::size_t>(std::max<std::ptrdiff_t>(bytes, 0)) + room + page - 1) / page * page;
    };
    out.pointer = BareThread::stack_bytes + pages(-to_errno);
    out.bytes = out.pointer + pages(to_errno);
    return true;
}

// Compiled code and the C library find the control block through words that point to itself.
void write_control_block(char* pointer) {
    auto* const words = reinterpret_cast<void**>(pointer);
    words[0] = words[2] = pointer;
}

void put_away(BareThread& thread) {
    void* none = nullptr;
    if (!kept_memory.compare_exchange_strong(none, thread.memory)) unmap(thread.memory, thread.bytes);
    thread.memory = nullptr;
}

int bare_main(void* raw) {
    const auto& thread = *static_cast<const BareThread*>(raw);
    if (thread.bare) syscall(SYS_prctl, PR_SET_NAME, thread.name, 0, 0, 0);
    thread.body(thread.argument);
    return 0;
}

// The kernel starts a thread with the caller's signal mask.
class NoSignals {
public:
    NoSignals() { set(~std::uint64_t{0}, &before_); }
    ~NoSignals() { set(before_, nullptr); }
    NoSignals(const NoSignals&) = delete;

private:
    // By its number: the C library lets no code block the signals that it uses itself.
    static void set(std::uint64_t mask, std::uint64_t* before) {
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, sizeof mask);
    }

    std::uint64_t before_ = 0;
};

bool start_ordinary(BareThread& thread) {
    return thread_start(
        thread.known, 4 * BareThread::stack_bytes,
        [](void* raw) {
            thread_name(static_cast<const BareThread*>(raw)->name);
            thread_without_signals();
            bare_main(raw);
        },
        &thread);
}

}   // namespace

bool bare_thread_start(BareThread& thread, const char* name, void (*body)(void*), void* argument) {
    thread.name = name;
    thread.body = body;
    thread.argument = argument;
    thread.bare = !ordinary && !beside_valgrind();
    if (!thread.bare) return start_ordinary(thread);
    Layout layout;
    if (!lay_out(layout)) return false;
    auto* memory = static_cast<char*>(kept_memory.exchange(nullptr));
    if (memory == nullptr) memory = static_cast<char*>(map(layout.bytes));
    if (memory == nullptr) return false;
    write_control_block(memory + layout.pointer);
    thread.memory = memory;
    thread.bytes = layout.bytes;
    const int kept = errno;
    started.fetch_add(1);   // before /proc shows it
    constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                          CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    int made;
    {
        const NoSignals none;
        char* const stack_top = memory + BareThread::stack_bytes;
        made = clone(bare_main, stack_top, flags, &thread, &thread.alive, memory + layout.pointer, &thread.alive);
    }
    errno = kept;
    if (made >= 0) {
        thread.number = static_cast<std::uint32_t>(made);
        return true;
    }
    started.fetch_sub(1);
    put_away(thread);
    return false;
}

void bare_thread_join(BareThread& thread) {
    if (!thread.bare) return thread_join(thread.known);
    const int kept = errno;
    // Not private: the kernel wakes as if other processes might wait.
    while (thread.alive.load() != 0) syscall(SYS_futex, &thread.alive, FUTEX_WAIT, thread.number, nullptr, nullptr, 0);
    // Until then it counts among the program's threads.
    while (syscall(SYS_tgkill, getpid(), thread.number, 0) == 0) sched_yield();
    errno = kept;
    put_away(thread);
    started.fetch_sub(1);
}

std::size_t bare_threads_started() { return started.load(); }

void bare_threads_forked() { started.store(0); }

void say(const char* text, std::size_t bytes) {
    const int kept = errno;
    while (bytes != 0) {
        const long written = syscall(SYS_write, STDERR_FILENO, text, bytes);
        if (written <= 0) break;
        text += written;
        bytes -= static_cast<std::size_t>(written);
    }
    errno = kept;
}

}   // namespace weft::os
