// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mem/overflow.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arch/arch.hpp"
#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/memory.hpp"
#include "os/stack.hpp"

namespace weft::mem {
namespace {

// A signal that Weft handles, and its previous handler.
struct Handled {
    int signal;
    struct sigaction previous;
    bool in_chain;        // our handler is installed, or a later handler may still call it
    atomic<bool> spent;   // the previous handler was for one call (SA_RESETHAND) and has been called
};

Handled handled[] = {{SIGSEGV, {}, false, {false}}, {SIGBUS, {}, false, {false}}, {SIGILL, {}, false, {false}}};
atomic<OverflowDescribe> describe_fault{nullptr};
atomic<CrashDescribe> describe_crash{nullptr};
atomic<bool> crash_told{false};

void set_default(int signal) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
}

void write_all(const char* text, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t written = write(STDERR_FILENO, text, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;   // there is no reader; the signal itself will show the fault
        text += written;
        bytes -= static_cast<std::size_t>(written);
    }
}

// The process ends by this fault, which no handler takes. Prints once, though several threads may
// fault at the same time.
void tell_crash(const siginfo_t& info, const void* context) {
    // acquire: pairs with the release in overflow_install().
    const CrashDescribe describe = describe_crash.load(std::memory_order_acquire);
    char text[1024];
    if (describe == nullptr ||
        !describe(info.si_signo, arch::interrupted_code(context), info.si_addr, text, sizeof text))
        return;
    // relaxed: guards only the message.
    if (!crash_told.exchange(true, std::memory_order_relaxed)) write_all(text, strnlen(text, sizeof text));
}

bool has_default(int signal) {
    struct sigaction present {};
    return sigaction(signal, nullptr, &present) == 0 && !(present.sa_flags & SA_SIGINFO) &&
           present.sa_handler == SIG_DFL;
}

// Acts as if Weft's handler were not installed. `overflow`: the fault has been explained already.
void chain(Handled& entry, siginfo_t* info, void* context, bool overflow) {
    const struct sigaction& previous = entry.previous;
    const bool of_the_kernel = info->si_code > 0;   // a real fault: it is raised again when the handler returns
    // relaxed: two threads that fault at once may both find it unspent, as they might in the
    // kernel.
    const bool once = (previous.sa_flags & static_cast<int>(SA_RESETHAND)) != 0;
    const bool spent = once && entry.spent.exchange(true, std::memory_order_relaxed);
    if (!(previous.sa_flags & SA_SIGINFO) && previous.sa_handler == SIG_IGN && !of_the_kernel) return;
    if (spent ||
        (!(previous.sa_flags & SA_SIGINFO) && (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN))) {
        if (of_the_kernel && !overflow) tell_crash(*info, context);
        set_default(entry.signal);
        if (!of_the_kernel) raise(entry.signal);   // delivered when this handler returns
        return;
    }
    // The kernel restores the mask when this handler returns.
    pthread_sigmask(SIG_BLOCK, &previous.sa_mask, nullptr);
    if (previous.sa_flags & SA_NODEFER) {
        sigset_t own;
        sigemptyset(&own);
        sigaddset(&own, entry.signal);
        pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
    }
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(entry.signal, info, context);
    } else {
        previous.sa_handler(entry.signal);
    }
    // The previous handler has printed its message, as Python's faulthandler does, and leaves the
    // end to the kernel.
    if (of_the_kernel && !overflow && has_default(entry.signal)) tell_crash(*info, context);
}

void handle(int signal, siginfo_t* info, void* context) {
    const int saved = errno;
    // acquire: pairs with the release in overflow_install(); what describe reads was written
    // before.
    const OverflowDescribe describe = describe_fault.load(std::memory_order_acquire);
    char text[512];
    const bool overflow = describe != nullptr && info->si_code > 0 &&
                          describe(arch::interrupted_code(context), info->si_addr, text, sizeof text);
    if (overflow) write_all(text, strnlen(text, sizeof text));
    // Where there is no other handler this one returns, the instruction faults again, and the
    // process ends as it would have. A previous handler of the program may print more, or repair
    // the fault.
    auto mine = [=](const Handled& entry) { return entry.signal == signal; };
    chain(*std::find_if(std::begin(handled), std::end(handled), mine), info, context, overflow);
    errno = saved;
}

bool is_ours(const struct sigaction& action) { return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == handle; }

}   // namespace

void overflow_install(OverflowDescribe describe, CrashDescribe crash) {
    // release: pairs with the acquire in handle(), and in tell_crash().
    describe_fault.store(describe, std::memory_order_release);
    describe_crash.store(crash, std::memory_order_release);
    for (Handled& entry : handled) {
        // No overflow raises it, and a handler that the program has installed decides anyway.
        if (entry.signal == SIGILL && (crash == nullptr || !has_default(SIGILL))) continue;
        struct sigaction present {};
        sigaction(entry.signal, nullptr, &present);
        // It was left below a later handler: installing it again would make a ring of the chain.
        if (is_ours(present) || entry.in_chain) continue;
        entry.previous = present;
        entry.spent.store(false, std::memory_order_relaxed);   // relaxed: this handler is not installed yet
        struct sigaction ours {};
        ours.sa_sigaction = handle;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&ours.sa_mask);
        sigaction(entry.signal, &ours, nullptr);
        entry.in_chain = true;
    }
}

void overflow_remove() {
    describe_fault.store(nullptr, std::memory_order_release);   // release: pairs with the acquire in handle()
    describe_crash.store(nullptr, std::memory_order_release);   // release: pairs with the acquire in tell_crash()
    for (Handled& entry : handled) {
        struct sigaction present {};
        sigaction(entry.signal, nullptr, &present);
        if (!is_ours(present)) continue;
        sigaction(entry.signal, &entry.previous, nullptr);
        entry.in_chain = false;
    }
}

AlternateStack::~AlternateStack() { WEFT_ASSERT(memory_ == nullptr); }

bool AlternateStack::enter() {
    WEFT_ASSERT(!inside_);
    const std::size_t page = os::page_bytes();
    // Virtual memory: without a fault it costs nothing, and a handler that this one passes a fault
    // to may print much.
    const std::size_t wanted = std::max<std::size_t>(os::signal_frame_bytes() + (16 << 10), 64 << 10);
    bytes_ = (wanted + page - 1) / page * page;
    if (memory_ == nullptr) memory_ = os::map(bytes_);
    if (memory_ == nullptr) return false;
    inside_ = os::signal_stack_set(memory_, bytes_);
    if (!inside_) leave();   // a stack of other code serves as well
    return true;
}

void AlternateStack::step_out() {
    // If other code has put another stack in its place, the kernel does not use this one any more
    // either.
    if (inside_) os::signal_stack_remove(memory_);
    inside_ = false;
}

void AlternateStack::leave() {
    if (memory_ == nullptr) return;
    step_out();
    os::unmap(memory_, bytes_);
    memory_ = nullptr;
}

}   // namespace weft::mem
