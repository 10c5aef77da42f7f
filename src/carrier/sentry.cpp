// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "carrier/sentry.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "os/clock.hpp"
#include "os/safe_read.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

// ---- its messages: it may call nothing of the C library that keeps anything by thread -----------

class Text {
public:
    void put(const char* text) { put(text, std::strlen(text)); }
    void put(const char* text, std::size_t bytes) {
        bytes = std::min(bytes, sizeof text_ - length_);
        std::memcpy(text_ + length_, text, bytes);
        length_ += bytes;
    }
    void put(std::uint64_t number) {
        char digits[20];
        std::size_t count = sizeof digits;
        do digits[--count] = static_cast<char>('0' + number % 10);
        while ((number /= 10) != 0);
        put(digits + count, sizeof digits - count);
    }
    void put_hex(std::uint64_t number) {
        char digits[16];
        std::size_t count = sizeof digits;
        do digits[--count] = "0123456789abcdef"[number % 16];
        while ((number /= 16) != 0);
        put("0x");
        put(digits + count, sizeof digits - count);
    }
    void put_seconds(std::uint64_t ns) {
        const std::uint64_t tenths = ns / 100'000'000;
        put(tenths / 10);
        put(".");
        put(tenths % 10);
        put(" s");
    }
    void say() const { os::say(text_, length_); }

private:
    char text_[1024];
    std::size_t length_ = 0;
};

struct Call {
    long number;
    const char* name;
};

// The number of a call that newer processors do not have, so that <sys/syscall.h> does not define
// it everywhere: the number of x86-64.
constexpr long old(long number) { return SYS_read == 0 ? number : -2; }

// The calls in which programs wait.
constexpr Call calls[] = {
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_readv, "readv"},
    {SYS_writev, "writev"},
    {SYS_pread64, "pread64"},
    {SYS_pwrite64, "pwrite64"},
    {SYS_futex, "futex: a lock, a condition or a join of the C library's"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept4"},
    {SYS_connect, "connect"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_openat, "openat"},
    {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fdatasync"},
    {SYS_msync, "msync"},
    {SYS_ioctl, "ioctl"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_rt_sigsuspend, "rt_sigsuspend"},
    {SYS_semtimedop, "semtimedop"},
    {SYS_msgrcv, "msgrcv"},
    {old(7), "poll"},
    {old(23), "select"},
    {old(34), "pause"},
    {old(232), "epoll_wait"},
};

void put_call(Text& text, long number) {
    if (number < 0) return text.put("the kernel");
    const auto is_it = [number](const Call& one) { return one.number == number; };
    const Call* const found = std::find_if(std::begin(calls), std::end(calls), is_it);
    if (found != std::end(calls)) return text.put(found->name);
    text.put("system call ");
    text.put(static_cast<std::uint64_t>(number));
}

// What the sentry reports.
struct Found {
    Stream& stream;
    const Unit* unit;   // a copy; null: the stream stands in its scheduler
    std::size_t waiting;
    std::uint64_t for_ns;
    os::Doing doing;
    long call;
};

void put_who(Text& text, const Found& found) {
    text.put("weft: ");
    if (found.unit == nullptr) {
        text.put("the scheduler");
    } else {
        text.put("unit ");
        text.put(found.unit->id);
        const std::size_t length = strnlen(found.unit->name, sizeof found.unit->name);
        if (length != 0) {
            text.put(" '");
            text.put(found.unit->name, length);
            text.put("'");
        } else if (found.unit->body != nullptr) {
            text.put(" (body at ");
            text.put_hex(reinterpret_cast<std::uintptr_t>(found.unit->body));
            text.put(")");
        } else {
            text.put(" (the primary one)");
        }
    }
    text.put(" on stream ");
    text.put(found.stream.rank);
}

void put_waiting(Text& text, const Found& found) {
    text.put(found.waiting == 1 ? ", while 1 unit waits" : ", while ");
    if (found.waiting != 1) {
        text.put(found.waiting);
        text.put(" units wait");
    }
    text.put(" that this stream alone may run. ");
}

void tell(const Found& found) {
    Text text;
    put_who(text, found);
    if (found.doing == os::Doing::waits) {
        text.put(" has been blocked for ");
        text.put_seconds(found.for_ns);
        text.put(" in ");
        put_call(text, found.call);
        put_waiting(text, found);
        text.put(
            "With WEFT_RESCUE=all other OS threads run them meanwhile; or make the call by weft_blocking, wait by "
            "Weft's own means, or give them a pool that several streams draw from\n");
    } else {
        text.put(" has computed, or spun, for ");
        text.put_seconds(found.for_ns);
        text.put(" without a switch");
        put_waiting(text, found);
        text.put(
            "If it spins for one of them it never ends: let it call weft_unit_yield or wait by Weft's own means, "
            "or set WEFT_RESCUE=all, by which other OS threads run them. If it computes, nothing is wrong (reported "
            "once)\n");
    }
    text.say();
}

// ---- checking -----------------------------------------------------------------------------------

// Whether one stream draws from the pool, and rescue leaves it alone. A user's table is not asked
// for the length of its pool.
bool left_alone(const Process& of, const Pool& pool) {
    if (of.settings.values.rescue == WEFT_RESCUE_ALL && pool::thief_safe(pool)) return false;
    if (pool.kind == WEFT_POOL_USER || pool.remote_calls || pool.confined) return false;
    return pool.kind == WEFT_POOL_PRIVATE || pool.drawers.load() <= Pool::of_one_stream;
}

// As far as can be told: the data is the stream's own.
bool has_own_hart(const Stream& stream) {
    const Domain* domain = nullptr;
    bool held = false;
    os::safe_read(&stream.serving.domain, &domain, sizeof domain);
    os::safe_read(&stream.holds_hart, &held, sizeof held);
    return held && domain == nullptr;
}

bool is_the_programs_own(const Stream& stream) {
    return !stream.role.hidden && stream.role.guest == nullptr && stream.carrier.thread_id.load() != 0 &&
           !stream.ending.join_state.done();
}

class Watch {
public:
    Watch(Process& of, std::uint64_t now_ns) : of_(of), sentry_(of.sentry), now_ns_(now_ns) {}

    // Returns the time after which the sentry is to check again; os::forever: not before it is
    // woken.
    std::uint64_t look() {
        std::lock_guard replacing(of_.replacing);   // a stream's scheduler stays
        std::lock_guard guard(of_.lock);
        sentry_.looks.fetch_add(1);
        for (std::size_t rank = 0; rank < of_.ranks_used; ++rank) {
            Stream* const stream = of_.streams[rank];
            if (stream != nullptr && is_the_programs_own(*stream)) look_at(*stream);
        }
        if (!any_) sentry_.wanted.store(false);
        sentry_.calm = awake_ ? 0 : sentry_.calm + 1;
        if (sentry_.calm >= Sentry::calm_looks) return os::forever;
        // Most streams that stand still for long belong to a program that computes, or waits for an
        // external event; and that may last.
        const bool lasts = !moved_ && !waits_;
        sentry_.wait_ns = lasts ? std::min(2 * sentry_.wait_ns, Sentry::longest_look_ns) : Sentry::look_every_ns;
        // a unit that sleeps waits from then on
        return std::min(sentry_.wait_ns, std::max(earliest_ns_ - now_ns_, Sentry::look_every_ns));
    }

private:
    void look_at(Stream& stream) {
        std::size_t waiting = 0;
        bool any = false, all = true;
        for (std::size_t i = 0; i < stream.levels.main->count; ++i) {
            const Pool& pool = *stream.levels.main->pools[i];
            if (!left_alone(of_, pool)) {
                all = false;
                continue;
            }
            any = true;
            waiting += pool::length(pool);
        }
        any_ |= any;
        // A unit that sleeps there goes back to one of these pools when its time has come, and only
        // the stream checks the time.
        const std::uint64_t due_ns = any && all ? stream.heap->timers.earliest() : Timers::never;
        if (due_ns <= now_ns_) {
            ++waiting;
        } else {
            earliest_ns_ = std::min(earliest_ns_, due_ns);
        }
        const bool paused = stream.asked().has(attention::pause | attention::exit);
        // A stream whose hart a domain has, or that waits for a hart, is not to blame.
        const bool asleep = stream.sleep.asleep.load() || paused || !any || !has_own_hart(stream);
        awake_ |= !asleep;
        note(stream, asleep, waiting);
    }

    void note(Stream& stream, bool asleep, std::size_t waiting) {
        Noted& noted = stream.sampled.noted;
        const std::uint64_t runs = stream.counted(trace::Count::run);
        if (asleep || runs != noted.runs) {
            noted.runs = runs;
            noted.moved_ns = now_ns_;
            moved_ |= !asleep;
        }
        if (waiting == 0) {
            noted.waits_ns = 0;
            return;
        }
        waits_ = true;
        if (noted.waits_ns == 0) noted.waits_ns = now_ns_;
        const std::uint64_t for_ns = now_ns_ - std::max(noted.moved_ns, noted.waits_ns);
        if (for_ns >= Sentry::blocked_ns) judge(stream, waiting, for_ns, now_ns_ - noted.moved_ns);
    }

    void judge(Stream& stream, std::size_t waiting, std::uint64_t for_ns, std::uint64_t still_ns) {
        const Unit* running = nullptr;
        os::safe_read(&stream.running, &running, sizeof running);
        alignas(Unit) unsigned char copy[sizeof(Unit)];
        const bool copied = running != nullptr && os::safe_read(running, copy, sizeof copy) == sizeof copy;
        const Unit* const unit = copied ? reinterpret_cast<const Unit*>(copy) : nullptr;
        const std::uint64_t number = unit == nullptr ? 0 : unit->id;
        Noted& noted = stream.sampled.noted;
        if (noted.told_runs == noted.runs || (number == noted.told_unit && number != 0)) return;
        long call = -1;
        const os::Doing doing = os::thread_doing(stream.carrier.thread_id.load(), call);
        if (doing != os::Doing::waits) {
            // Computing for long is no fault, and it is unknown whether the unit computes or spins.
            if (sentry_.told_of_computing || for_ns < Sentry::computed_ns) return;
            sentry_.told_of_computing = true;
        }
        noted.told_unit = number;
        noted.told_runs = noted.runs;
        if (sentry_.told.fetch_add(1) < Sentry::most_told) tell({stream, unit, waiting, still_ns, doing, call});
    }

    Process& of_;
    Sentry& sentry_;
    const std::uint64_t now_ns_;
    bool any_ = false;   // there are streams with such pools
    bool awake_ = false, moved_ = false, waits_ = false;
    std::uint64_t earliest_ns_ = Timers::never;   // when the first sleeping unit is to run again: later than now
};

// hart/README.md, "Going to sleep and being woken", for a sleeper that is on no idle list: it is
// woken because a stream is awake.
bool nobody_awake(Process& of) {
    std::lock_guard guard(of.lock);
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        const Stream* const stream = of.streams[rank];
        if (stream != nullptr && !stream->role.hidden && stream->role.guest == nullptr && !stream->sleep.asleep.load())
            return false;
    }
    return true;
}

void stand_guard(void* raw) {
    Process& of = *static_cast<Process*>(raw);
    Sentry& sentry = of.sentry;
    while (!sentry.ends.load()) {
        const std::uint64_t wait_ns = Watch(of, os::now_ns()).look();
        sentry.sleeper.prepare();
        if (sentry.ends.load() || (wait_ns == os::forever && sentry.wanted.load() && !nobody_awake(of))) {
            sentry.sleeper.cancel();
            sentry.calm = 0;
            continue;
        }
        sentry.sleeper.wait(wait_ns);
        if (wait_ns == os::forever) sentry.calm = 0;
    }
}

// The call of the sleeper, as long as there is no thread. The thread that has claimed it starts the
// sentry; where the kernel refuses, there is no second try.
void start_sentry(Sleeper& self) {
    Process& of = ProcessSleeper::process_of(self);
    of.sentry.sleeper.rise();
    of.sentry.sleeper.be_called(false);
    std::lock_guard guard(of.sentry.lock);
    Sentry& sentry = of.sentry;
    if (!sentry.ends.load()) sentry.there = os::bare_thread_start(sentry.thread, "weft/sentry", stand_guard, &of);
}

void first_unit() { wake_sentry(process()); }

}   // namespace

Sentry::Sentry(Process& of) : sleeper(of, start_sentry) {}

void note_for_sentry(Process& of, const Stream& stream) {
    if (of.settings.values.rescue == WEFT_RESCUE_IGNORE || stream.role.hidden || stream.role.guest != nullptr) return;
    for (std::size_t i = 0; i < stream.levels.main->count; ++i) {
        const Pool& pool = *stream.levels.main->pools[i];
        // The deques of the runtime's own streams are for all of these streams, which may not all
        // exist yet.
        if (!left_alone(of, pool) || (pool.kind == WEFT_POOL_DEQUE && of.settings.values.streams != 1)) continue;
        return of.sentry.wanted.store(true);
    }
}

void begin_sentry(Process& of) {
    if (of.settings.values.rescue == WEFT_RESCUE_IGNORE) return;
    of.sentry.sleeper.prepare();
    of.sentry.sleeper.lie_down();
    of.streams[0]->units->trip_next(first_unit);
    of.outside->units->trip_next(first_unit);
}

void wake_sentry(Process& of) {
    // relaxed: a hint; the thread that writes it wakes the sentry, or is woken, later.
    if (of.sentry.wanted.load(std::memory_order_relaxed)) of.sentry.sleeper.wake();
}

bool end_sentry(Process& of) {
    Sentry& sentry = of.sentry;
    std::lock_guard guard(sentry.lock);   // the sentry does not take it itself
    sentry.ends.store(true);
    if (!std::exchange(sentry.there, false)) return false;
    sentry.sleeper.wake();
    os::bare_thread_join(sentry.thread);
    return true;
}

}   // namespace weft
