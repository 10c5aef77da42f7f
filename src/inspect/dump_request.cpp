// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways to ask for a dump: a call of the program, or a signal from outside (WEFT_DUMP). The
// signal's handler only wakes an OS thread; everything that it touches is in this file and is never
// freed.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "inspect/dump.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"
#include "process/error.hpp"

namespace weft {
namespace {

constexpr int patience_ms = 1000;   // for a reader of standard error that does not read

struct Requests {
    atomic<std::uint32_t> asked{0};   // the number of requests; the futex that the thread sleeps on
    atomic<bool> stop{false};
    os::Thread thread;
    Process* of = nullptr;      // what follows: used by begin and end
    std::uint32_t before = 0;   // the requests made before begin
    int signal = 0;             // 0: not begun
    int previous_of = 0;        // the signal whose action `previous` is
    struct sigaction previous {};
};

constinit Requests requests;

void on_signal(int) {
    requests.asked.fetch_add(1);
    os::futex_wake(requests.asked, 1);   // which leaves errno alone
}

// In steps that fit a pipe which poll() has found to have room, so that a reader that does not read
// cannot hold this thread for long.
bool write_to_stderr(void*, const char* text, std::size_t bytes) {
    constexpr std::size_t step = 4096;   // PIPE_BUF
    while (bytes > 0) {
        pollfd room{STDERR_FILENO, POLLOUT, 0};
        if (poll(&room, 1, patience_ms) != 1 || (room.revents & POLLOUT) == 0) return false;
        const ssize_t written = write(STDERR_FILENO, text, bytes < step ? bytes : step);
        if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (written <= 0) return false;
        text += written;
        bytes -= static_cast<std::size_t>(written);
    }
    return true;
}

// The thread: makes a dump whenever it finds that one was requested meanwhile. It accepts the
// signal too, which all others block.
void serve(void*) {
    os::thread_name("weft/dump");
    os::thread_without_signals();
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, requests.signal);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
    std::uint32_t done = requests.before;
    for (;;) {
        const std::uint32_t now = requests.asked.load();
        if (requests.stop.load()) return;
        if (now == done) {
            os::futex_wait(requests.asked, now);
            continue;
        }
        done = now;
        dump(*requests.of, {write_to_stderr, nullptr}, requests.stop);
    }
}

bool is_ours(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == on_signal;
}

// Unless another handler has replaced this one.
void restore_handler(int signal) {
    struct sigaction present {};
    sigaction(signal, nullptr, &present);
    if (is_ours(present)) sigaction(signal, &requests.previous, nullptr);
}

}   // namespace

weft_status dumps_begin(Process& of, int signal) {
    if (signal == 0) return WEFT_OK;
    requests.of = &of;
    requests.stop.store(false);
    requests.signal = signal;
    requests.before = requests.asked.load();
    if (!os::thread_start(requests.thread, dump_stack_bytes, serve, nullptr)) {
        requests.signal = 0;
        return fail(WEFT_SYSTEM,
                    "the kernel refused an OS thread for the dumps that WEFT_DUMP asks for (see ulimit -u and the "
                    "cgroup's pids.max)");
    }
    struct sigaction ours {};
    ours.sa_handler = on_signal;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;   // a unit's stack may have no room for it
    sigemptyset(&ours.sa_mask);
    struct sigaction present {};
    sigaction(signal, nullptr, &present);
    // The handler is installed already: the last dumps_end() left it below a handler that had come
    // later, and that has gone since. The action before it is still known.
    if (!is_ours(present) || requests.previous_of != signal) requests.previous = present;
    requests.previous_of = signal;
    if (sigaction(signal, &ours, nullptr) == 0) return WEFT_OK;
    dumps_end();
    return fail(WEFT_SYSTEM, "the kernel refused a handler for signal %d (WEFT_DUMP)", signal);
}

void dumps_end() {
    if (requests.signal == 0) return;
    restore_handler(requests.signal);
    requests.stop.store(true);
    requests.asked.fetch_add(1);
    os::futex_wake(requests.asked, 1);
    os::thread_join(requests.thread);
    requests.signal = 0;
}

void dumps_forked(Process* now) {
    const int signal = std::exchange(requests.signal, 0);
    if (signal == 0 || (now != nullptr && dumps_begin(*now, signal) == WEFT_OK)) return;
    restore_handler(signal);
}

void dump_waiting(Process& of, const char* line) {
    struct Request {
        Process& of;
        const char* line;
    } request{of, line};
    os::Thread thread;
    const bool started = os::thread_start(
        thread, dump_stack_bytes,
        [](void* raw) {
            os::thread_without_signals();
            const auto& asked = *static_cast<Request*>(raw);
            dump_waiting(asked.of, {write_to_stderr, nullptr}, asked.line);
        },
        &request);
    if (!started) return void(write_to_stderr(nullptr, line, std::strlen(line)));
    os::thread_join(thread);
}

weft_status dump_to(Process& of, std::FILE* file, const Unit* unit) {
    struct Request {
        Process& of;
        std::FILE* file;
        const Unit* unit;
        bool written = true;
    } request{of, file, unit};
    os::Thread thread;
    // The caller may be a unit whose stack is too small for the code that writes names.
    const bool started = os::thread_start(
        thread, dump_stack_bytes,
        [](void* raw) {
            os::thread_without_signals();
            static constinit atomic<bool> never{false};
            dump(static_cast<Request*>(raw)->of,
                 {[](void* self, const char* text, std::size_t bytes) {
                      auto& to = *static_cast<Request*>(self);
                      to.written = std::fwrite(text, 1, bytes, to.file) == bytes;
                      return to.written;
                  },
                  raw},
                 never, static_cast<Request*>(raw)->unit);
        },
        &request);
    if (!started)
        return fail(WEFT_SYSTEM,
                    "the kernel refused an OS thread for the dump (see ulimit -u and the cgroup's pids.max)");
    os::thread_join(thread);
    if (!request.written) return fail(WEFT_SYSTEM, "the dump could not be written");
    return WEFT_OK;
}

}   // namespace weft
