// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dumps the stacks of all ULTs on request, possibly of a signal handler and while streams hang.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "environment.hpp"
#include "info.hpp"
#include "xstream.hpp"

namespace weft::argobots {

std::atomic<unsigned> dumps_pending{0};

namespace {

// ---- what a signal handler touches: no locks, no other memory -----------------------------------

struct Request {
    enum State : int { unused, claimed, asked };
    std::atomic<int> state{unused};
    std::FILE* file = nullptr;
    std::uint64_t deadline_ns = WEFT_FOREVER;
    void (*call)(ABT_bool timed_out, void* argument) = nullptr;
    void* argument = nullptr;
};

constexpr std::size_t most_requests = 8;
constexpr std::size_t most_streams = 64;   // that are notified at once; one that does not hang is enough

Request requests[most_requests];
std::atomic<weft_stream*> streams[most_streams];
std::atomic<int> askers{0};   // threads that now read `streams` or leave a request
std::atomic<bool> accepting{false};

void tell_streams() {
    for (std::atomic<weft_stream*>& place : streams) {
        if (weft_stream* stream = place.load())
            weft_stream_post(
                stream, [](void*) { serve_dump_request(); }, nullptr);
    }
}

// seq_cst on both sides: an asker increments the count before it checks; a thread that closes
// something does so before it reads the count.
void wait_for_askers() {
    while (askers.load() != 0) sched_yield();
}

bool leave(std::FILE* file, std::uint64_t deadline_ns, void (*call)(ABT_bool, void*), void* argument) {
    for (Request& request : requests) {
        int unused = Request::unused;
        if (!request.state.compare_exchange_strong(unused, Request::claimed)) continue;
        request.file = file;
        request.deadline_ns = deadline_ns;
        request.call = call;
        request.argument = argument;
        request.state.store(Request::asked);
        dumps_pending.fetch_add(1);
        return true;
    }
    return false;
}

std::uint64_t deadline_after(double seconds) {
    constexpr double most_s = 1e9;
    if (seconds < 0 || seconds > most_s) return WEFT_FOREVER;
    return weft_now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
}

// ---- the meeting: all streams stand between two units -------------------------------------------

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;   // guards what follows; taken before the lock of the list of streams
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
bool serving = false;              // an OS thread serves requests, or is about to
bool closing = false;              // no stream is waited for any more
std::uintptr_t round_number = 0;   // of the current meeting; odd: there is one

struct Guard {
    Guard() { pthread_mutex_lock(&lock); }
    ~Guard() { pthread_mutex_unlock(&lock); }
    Guard(const Guard&) = delete;
};

struct Attendee {
    weft_stream* stream;
    int rank;
    bool called;
    bool here;
};
Attendee* attendees = nullptr;   // of the meeting
std::size_t attendee_count = 0;

// Posted to each stream, which then waits until the meeting is over. A stream that arrives too late
// continues at once.
void come(void* of_round) {
    const Guard guard;
    const auto mine = reinterpret_cast<std::uintptr_t>(of_round);
    if (round_number != mine) return;
    for (std::size_t i = 0; i < attendee_count; ++i) {
        if (attendees[i].stream == weft_stream_self()) attendees[i].here = true;
    }
    pthread_cond_broadcast(&changed);
    while (round_number == mine) pthread_cond_wait(&changed, &lock);
}

// Whether a call may be posted to the stream. Requires the lock of the list, which keeps the stream
// from being freed.
bool runs(const Xstream& xstream) {
    bool ended = xstream.stream == nullptr || xstream.freeing;
    if (!ended) weft_stream_ended_get(xstream.stream, &ended);
    return !ended;
}

// Lists the streams that must attend. Requires the lock. False: no memory.
bool list_streams() {
    const auto room = static_cast<std::size_t>(count_xstreams()) + 8;   // a stream that begins meanwhile may be missed
    attendees = new (std::nothrow) Attendee[room];
    attendee_count = 0;
    if (attendees == nullptr) return false;
    ++round_number;
    each_xstream([&](const Xstream& xstream) {
        if (attendee_count < room && runs(xstream))
            attendees[attendee_count++] = {xstream.stream, xstream.rank, false, false};
    });
    return true;
}

// Posts the call to streams that could not be called yet, and checks whether any stream is missing;
// a stream that has ended meanwhile is not. Requires the lock.
bool all_here() {
    bool all = true;
    for (std::size_t i = 0; i < attendee_count; ++i) {
        Attendee& place = attendees[i];
        if (place.here) continue;
        bool found = false;
        each_xstream([&](const Xstream& xstream) {
            if (xstream.stream != place.stream || !runs(xstream)) return;
            found = true;
            if (!place.called)
                place.called = weft_stream_post(place.stream, come, reinterpret_cast<void*>(round_number)) == WEFT_OK;
        });
        place.here = !found;
        all = all && !found;
    }
    return all;
}

// Waits for the streams. False: not all arrived in time.
bool meet(std::uint64_t deadline_ns) {
    constexpr std::uint64_t look_again_ns = 20'000'000;   // for streams that have ended, or had no room for a call
    const Guard guard;
    if (!list_streams()) return false;
    while (!all_here()) {
        const std::uint64_t now_ns = weft_now_ns();
        if (closing || now_ns >= deadline_ns) return false;
        const std::uint64_t until_ns = deadline_ns - now_ns < look_again_ns ? deadline_ns : now_ns + look_again_ns;
        const timespec until{static_cast<time_t>(until_ns / 1'000'000'000),
                             static_cast<long>(until_ns % 1'000'000'000)};
        pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until);
    }
    return true;
}

void part() {
    const Guard guard;
    if (attendees != nullptr) ++round_number;
    delete[] attendees;
    attendees = nullptr;
    attendee_count = 0;
    pthread_cond_broadcast(&changed);
}

// ---- printing -----------------------------------------------------------------------------------

void print_absent(std::FILE* file) {
    const Guard guard;
    for (std::size_t i = 0; i < attendee_count; ++i) {
        if (attendees[i].here) continue;
        std::fprintf(file, "execution stream %d has not come: its units may run while they are looked at\n",
                     attendees[i].rank);
    }
}

void print_raw(const weft_unit_info* info, void* file) {
    if (info->state == WEFT_UNIT_RUNNING || info->state == WEFT_UNIT_DONE || info->kind == WEFT_KIND_TASKLET) return;
    print_raw_stack(static_cast<std::FILE*>(file), info->unit);
}

void serve(const Request& request) {
    const bool met = meet(request.deadline_ns);
    if (request.file != nullptr) {
        std::fprintf(request.file, "all stacks, as ABT_info_trigger_print_all_thread_stacks asks for them\n");
        if (!met) print_absent(request.file);
        weft_dump(request.file);
        // If units may run or end meanwhile, only the frames are printed: they are made from
        // copies.
        if (met && environment().print_raw_stack) weft_unit_each(print_raw, request.file);
        std::fflush(request.file);
    }
    part();
    if (request.call != nullptr) request.call(to_bool(!met), request.argument);
}

// ---- serving requests ---------------------------------------------------------------------------

void serve_all() {
    for (Request& request : requests) {
        if (request.state.load() != Request::asked) continue;
        dumps_pending.fetch_sub(1);
        serve(request);
        request.state.store(Request::unused);
    }
}

void* server(void*) {
    for (;;) {
        serve_all();
        const Guard guard;
        // A request that arrives after this check finds no thread serving: its call to the streams
        // has not been posted yet, or waits for the lock.
        if (dumps_pending.load() != 0) continue;
        serving = false;
        pthread_cond_broadcast(&changed);
        return nullptr;
    }
}

// The thread gets only the stack that the calls below need, since a program may ask for a dump when
// it is short of memory.
bool start_server() {
    constexpr std::size_t stack_bytes = 256 << 10;
    pthread_attr_t how;
    if (pthread_attr_init(&how) != 0) return false;
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&how, stack_bytes);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const bool started = pthread_create(&thread, &how, server, nullptr) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&how);
    return started;
}

// Called if no OS thread could be started.
void refuse_all() {
    for (Request& request : requests) {
        int asked = Request::asked;
        if (!request.state.compare_exchange_strong(asked, Request::claimed)) continue;
        dumps_pending.fetch_sub(1);
        if (request.call != nullptr) request.call(ABT_TRUE, request.argument);
        request.state.store(Request::unused);
    }
}

}   // namespace

void serve_dumps() {
    {
        const Guard guard;
        if (serving || closing || dumps_pending.load() == 0) return;
        serving = true;
        if (start_server()) return;
        serving = false;
    }
    refuse_all();
}

void begin_dumps() {
    const Guard guard;
    closing = false;
    accepting.store(true);
}

void end_dumps() {
    accepting.store(false);
    wait_for_askers();
    {
        const Guard guard;
        closing = true;
        pthread_cond_broadcast(&changed);
        while (serving) pthread_cond_wait(&changed, &lock);
    }
    serve_all();
}

void enter_dumps(weft_stream* stream) {
    for (std::atomic<weft_stream*>& place : streams) {
        weft_stream* nobody = nullptr;
        if (place.compare_exchange_strong(nobody, stream)) return;
    }
}

void leave_dumps(weft_stream* stream) {
    for (std::atomic<weft_stream*>& place : streams) {
        weft_stream* expected = stream;
        place.compare_exchange_strong(expected, nullptr);
    }
    wait_for_askers();
}

namespace {

// Copies memory through the kernel, which does not fault if a page is missing. It uses a pipe,
// since process_vm_readv is forbidden in many containers.
class Reader {
public:
    Reader() { open_ = pipe2(ends_, O_CLOEXEC) == 0; }
    ~Reader() {
        if (!open_) return;
        close(ends_[0]);
        close(ends_[1]);
    }
    Reader(const Reader&) = delete;

    bool usable() const { return open_; }
    // Copies at most a pipe's capacity. False: some of the memory is not mapped.
    bool copy(const void* from, std::size_t bytes, void* to) const {
        // Bypasses the C library's write, which sanitizers intercept: a stack contains their data,
        // too.
        const long written = syscall(SYS_write, ends_[1], from, bytes);
        if (written <= 0) return false;
        return read(ends_[0], to, static_cast<std::size_t>(written)) == written &&
               static_cast<std::size_t>(written) == bytes;
    }

private:
    int ends_[2] = {-1, -1};
    bool open_;
};

void print_words(std::FILE* file, const char* address, const std::uint64_t* words, std::size_t count) {
    constexpr std::size_t a_line = 4;
    for (std::size_t at = 0; at + a_line <= count; at += a_line) {
        const std::uint64_t* line = words + at;
        if ((line[0] | line[1] | line[2] | line[3]) == 0) continue;
        std::fprintf(file, "    %p: %016llx %016llx %016llx %016llx\n",
                     static_cast<const void*>(address + at * sizeof *words), static_cast<unsigned long long>(line[0]),
                     static_cast<unsigned long long>(line[1]), static_cast<unsigned long long>(line[2]),
                     static_cast<unsigned long long>(line[3]));
    }
}

}   // namespace

void print_raw_stack(std::FILE* file, const weft_unit* unit) {
    weft_unit_state state{};
    weft_unit_state_get(unit, &state);
    weft_stack_info stack{};
    stack.size = sizeof stack;
    if (state == WEFT_UNIT_RUNNING || weft_unit_stack_get(unit, &stack) != WEFT_OK || stack.lowest == nullptr) return;
    std::uint64_t id = 0;
    weft_unit_id_get(unit, &id);
    const Reader reader;
    std::fprintf(file, "    stack of unit %llu: %zu bytes from %p on; %s\n", static_cast<unsigned long long>(id),
                 stack.bytes, stack.lowest,
                 reader.usable() ? "what is left out is zero" : "they cannot be read: no pipe can be had");
    if (!reader.usable()) return;
    constexpr std::size_t count = 32;   // small, so that a missing page hides as little as possible
    const char* const lowest = static_cast<const char*>(stack.lowest);
    for (std::size_t at = 0; at < stack.bytes; at += count * sizeof(std::uint64_t)) {
        std::uint64_t some[count] = {};
        if (reader.copy(lowest + at, std::min(sizeof some, stack.bytes - at), some))
            print_words(file, lowest + at, some, count);
    }
}

}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_info_trigger_print_all_thread_stacks(FILE* fp, double timeout, void (*cb_func)(ABT_bool, void*), void* arg) {
    const int error_before = errno;
    askers.fetch_add(1);
    int error = ABT_ERR_UNINITIALIZED;
    if (accepting.load()) {
        const bool left = leave(fp, deadline_after(timeout), cb_func, arg);
        if (left) tell_streams();
        error = left ? ABT_SUCCESS : ABT_ERR_OTHER;   // there are too many requests already
    }
    askers.fetch_sub(1);
    errno = error_before;
    return error;
}

}   // extern "C"
