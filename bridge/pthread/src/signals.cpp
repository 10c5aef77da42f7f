// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signal handlers: this library's handler calls the program's handlers, so that a wait within one
// is recognized. The kernel gets this library's handler; queries return the program's.
#include "signals.hpp"

#include <signal.h>

#include <atomic>

#include "caller.hpp"
#include "real.hpp"

namespace weft_pthread {

namespace {

Real<int (*)(int, const struct sigaction*, struct sigaction*)> real_sigaction("sigaction");

// The kernel passes all three arguments, or the handler ignores the last two.
using Handler = void (*)(int, siginfo_t*, void*);

constexpr int most = 65;
std::atomic<Handler> handlers[most];

void call(int signal, siginfo_t* info, void* context) {
    const Handling handling(__builtin_frame_address(0));
    // acquire: pairs with the exchange in Change
    handlers[signal].load(std::memory_order_acquire)(signal, info, context);
}

bool is_function(Handler handler) {
    const auto number = reinterpret_cast<std::uintptr_t>(handler);
    return number > reinterpret_cast<std::uintptr_t>(SIG_HOLD) && number != reinterpret_cast<std::uintptr_t>(SIG_ERR);
}

// A handler on its way to the kernel: it is first stored for this library's handler to call.
class Change {
public:
    Change(int signal, Handler handler) : signal_(signal), handler_(handler) {
        if (signal < 1 || signal >= most) return;
        before_ = is_function(handler) ? handlers[signal].exchange(handler) : handlers[signal].load();
    }
    // The handler that the kernel gets.
    Handler to_kernel() const { return is_function(handler_) ? call : handler_; }
    // The handler that the program gets for the kernel's former one.
    Handler told(Handler had) const { return had == call ? before_ : had; }
    void failed() {
        if (is_function(handler_) && signal_ >= 1 && signal_ < most) handlers[signal_].store(before_);
    }

private:
    const int signal_;
    const Handler handler_;
    Handler before_ = nullptr;
};

using Plain = void (*)(int);

template <class Set>
Plain set(Set real, int signal, Plain handler) {
    Change change(signal, reinterpret_cast<Handler>(reinterpret_cast<void*>(handler)));
    const Plain had = real(signal, reinterpret_cast<Plain>(reinterpret_cast<void*>(change.to_kernel())));
    if (had == SIG_ERR) change.failed();
    return reinterpret_cast<Plain>(
        reinterpret_cast<void*>(change.told(reinterpret_cast<Handler>(reinterpret_cast<void*>(had)))));
}

Real<Plain (*)(int, Plain)> real_signal("signal"), real_sysv("sysv_signal"), real_sigset("sigset");

}   // namespace

bool interrupts(int signal, bool restarts) noexcept {
    struct sigaction present {};
    if (real_sigaction.get()(signal, nullptr, &present) != 0 || present.sa_handler == SIG_IGN ||
        present.sa_handler == SIG_DFL)
        return false;
    return !restarts || (present.sa_flags & SA_RESTART) == 0;
}

}   // namespace weft_pthread

using namespace weft_pthread;   // NOLINT: entry points

extern "C" {

[[gnu::visibility("default")]] int sigaction(int signal, const struct sigaction* action,
                                             struct sigaction* before) noexcept {
    Change change(signal, action == nullptr ? nullptr : action->sa_sigaction);
    struct sigaction ours {};
    if (action != nullptr) {
        ours = *action;
        ours.sa_sigaction = change.to_kernel();
    }
    const int answer = real_sigaction.get()(signal, action == nullptr ? nullptr : &ours, before);
    if (answer != 0) change.failed();
    else if (before != nullptr) before->sa_sigaction = change.told(before->sa_sigaction);
    return answer;
}

[[gnu::visibility("default")]] Plain signal(int number, Plain handler) noexcept {
    return set(real_signal.get(), number, handler);
}
[[gnu::visibility("default")]] Plain bsd_signal(int number, Plain handler) noexcept {
    return set(real_signal.get(), number, handler);
}
[[gnu::visibility("default")]] Plain ssignal(int number, Plain handler) noexcept {
    return set(real_signal.get(), number, handler);
}
[[gnu::visibility("default")]] Plain sysv_signal(int number, Plain handler) noexcept {
    return set(real_sysv.get(), number, handler);
}
// the name that <signal.h> uses for it in strict modes
[[gnu::visibility("default")]] Plain __sysv_signal(int number, Plain handler) noexcept {
    return set(real_sysv.get(), number, handler);
}
[[gnu::visibility("default")]] Plain sigset(int number, Plain handler) noexcept {
    return set(real_sigset.get(), number, handler);
}

}   // extern "C"
