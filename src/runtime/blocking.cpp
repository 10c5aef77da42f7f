// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/blocking.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "core/suspend.hpp"
#include "hart/quota.hpp"
#include "local/own_float.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/memory.hpp"
#include "process/error.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

constexpr std::size_t few = 4;

std::size_t at_once() { return std::min(std::max(few, 2 * hart::limit()), BlockingPool::most); }

// Sets errno of the stream that the unit is on now: see os/local.hpp.
void set_errno(int error) { *current().errno_address = error; }

void resume_called(Unit& unit) {
    unit.life.move(State::waiting, State::ready);
    resume_claimed(nullptr, unit);
}

}   // namespace

bool BlockingPool::start_one() {
    auto* worker = os::make<Worker>(*this);
    if (worker == nullptr) return false;
    const bool started = os::thread_start(
        worker->thread, stack_bytes,
        [](void* raw) {
            auto& self = *static_cast<Worker*>(raw);
            os::thread_name("weft/blocking");
            os::thread_without_signals();
            leave_bindings(self.blocking_pool.of_);
            self.blocking_pool.run(self);
        },
        worker);
    if (!started) {
        os::destroy(worker);
        return false;
    }
    worker->next = workers_;
    workers_ = worker;
    ++count_;
    return true;
}

bool BlockingPool::ready() {
    std::lock_guard guard(lock_);
    check();
    return count_ != 0 || start_one();
}

std::uint64_t BlockingPool::look_again() const {
    return calls_.empty() || count_ == most ? os::forever : calls_.front()->since_ns + patience_ns;
}

std::uint64_t BlockingPool::submit(Call& call) {
    call.since_ns = os::now_ns();
    Worker* woken;
    std::uint64_t again_ns = os::forever;
    {
        std::lock_guard guard(lock_);
        check();
        calls_.push_back(&call);
        woken = idle_;
        if (woken != nullptr) {
            idle_ = woken->next_idle;
        } else if (count_ >= at_once() || !start_one()) {
            again_ns = look_again();
        }
    }
    if (woken != nullptr) woken->parker.unpark();
    return again_ns;
}

std::uint64_t BlockingPool::grow(std::uint64_t now_ns) {
    std::lock_guard guard(lock_);
    check();
    if (calls_.empty() || stopping_) return os::forever;
    if (calls_.front()->since_ns + patience_ns > now_ns) return look_again();
    if (idle_ == nullptr && count_ < most) start_one();
    return now_ns + patience_ns;
}

void BlockingPool::run(Worker& self) {
    const Process* const of = process_or_null();
    lock_.lock();
    for (;;) {
        Call* call = calls_.pop_front();
        if (call == nullptr && stopping_) break;
        if (call == nullptr) {
            self.next_idle = idle_;
            idle_ = &self;
        }
        lock_.unlock();
        if (call == nullptr) {
            self.parker.park();
        } else {
            errno = 0;
            call->fn(call->argument);
            call->error = errno;
            if (process_or_null() != of) return;   // it has forked, and this is the child, where no unit waits for it
            resume_called(*call->unit);
        }
        lock_.lock();
    }
    lock_.unlock();
}

void BlockingPool::stop() {
    Worker* all;
    {
        std::lock_guard guard(lock_);
        check();
        stopping_ = true;
        all = std::exchange(workers_, nullptr);
    }
    for (Worker* worker = all; worker != nullptr; worker = worker->next) worker->parker.unpark();
    while (all != nullptr) {
        Worker* next = all->next;
        os::thread_join(all->thread);
        os::destroy(all);
        all = next;
    }
}

namespace {

// The unit's call goes to the blocking pool once the unit's context is saved.
struct HandOver : Suspension {
    BlockingPool::Call& call;
    Process& of;

    HandOver(Unit& unit, BlockingPool::Call& what, Process& in) : Suspension{unit}, call(what), of(in) {}

    void publish() {
        Process& runs = of;   // a copy: the unit, and its stack, may continue as soon as the call is handed over
        const std::uint64_t again_ns = runs.blocking_pool.submit(call);
        if (again_ns == os::forever) return;
        runs.blocking_alarm_ns.store(again_ns);
        // Without a reactor nothing checks whether the call waits for long: then the blocking pool
        // grows now. With `again_ns` in place of os::forever it would not grow if another call,
        // which came later, is the first by now, and nothing would check on that call.
        if (!runs.reactor.watch(again_ns)) runs.blocking_pool.grow(os::forever);
    }
};

}   // namespace

[[gnu::noinline]] weft_status blocking(void (*fn)(void*), void* argument) {
    Stream* stream = current_or_null();
    if (stream == nullptr) {
        fn(argument);
        return WEFT_OK;
    }
    Unit* self = stream->running;
    if (self == nullptr)
        return fail(WEFT_WRONG_CONTEXT, "a scheduler cannot give its hart away; make the blocking call from a ULT");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet cannot give its hart away; make it a ULT");
    Process& of = *stream->of;
    if (!of.blocking_pool.ready())
        return fail(WEFT_SYSTEM,
                    "the kernel refused an OS thread for a blocking call (see ulimit -u and the cgroup's pids.max)");
    CallFor call_for(*self, fn, argument);
    BlockingPool::Call call{call_for.fn(), call_for.argument(), self};
    HandOver request(*self, call, of);
    suspend(*stream, request, Waits::blocking, reinterpret_cast<const void*>(fn));
    set_errno(call.error);
    call_for.come_back();
    return WEFT_OK;
}

namespace {

// A call that is made on the scheduler's stack; afterwards its unit runs next.
struct StreamCall {
    void (*fn)(void*);
    void* argument;
    Unit& unit;
    int error = 0;

    void make() {
        errno = 0;
        fn(argument);
        error = errno;
        unit.life.move(State::running, State::ready);
        current().next_unit = &unit;
    }
};

}   // namespace

[[gnu::noinline]] void on_stream_stack(void (*fn)(void*), void* argument) {
    Stream* stream = current_or_null();
    Unit* self = stream == nullptr ? nullptr : stream->running;
    // Such a caller is on that stack already, and could not suspend anyway. An SC is on it as well,
    // but could suspend: it leaves, and is promoted.
    if (self == nullptr || self->kind == Kind::tasklet) return fn(argument);
    CallFor call_for(*self, fn, argument);
    StreamCall call{call_for.fn(), call_for.argument(), *self};
    stream->counters.add(trace::Count::yielded);
    detail::leave_to<Leaves::yields>(*stream, *self, nullptr,
                                     {[](void* raw) { static_cast<StreamCall*>(raw)->make(); }, &call}, Unit::observed);
    set_errno(call.error);
    call_for.come_back();
}

}   // namespace weft
