// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OS threads for calls that block: a unit hands its call over and is suspended; the thread that has
// made the call resumes the unit.
//
// Rejected: to let the carrier block and another carrier take over its stream. A call that does not
// block would then cost nothing, but every stream would need a scheduler's context on a stack that
// is no thread's, and the primary unit, which must stay on its thread, would need a stream that can
// continue without it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fifo.hpp"
#include "hart/parker.hpp"
#include "os/lock.hpp"
#include "os/thread.hpp"
#include "unit/unit.hpp"
#include "weft/status.h"

namespace weft {

struct Process;

class BlockingPool {
public:
    static constexpr std::size_t most = 1024;
    // how long a call waits for a thread before another one is started
    static constexpr std::uint64_t patience_ns = 1'000'000;
    static constexpr std::size_t stack_bytes = std::size_t{1} << 20;

    // On the stack of the unit that waits.
    struct Call {
        void (*fn)(void*);
        void* argument;
        Unit* unit;      // resumed when the call is done
        int error = 0;   // errno as fn left it
        std::uint64_t since_ns = 0;
        Call* next = nullptr;
    };

    explicit BlockingPool(Process& of) : of_(of) {}
    ~BlockingPool() { stop(); }
    BlockingPool(const BlockingPool&) = delete;
    BlockingPool& operator=(const BlockingPool&) = delete;

    // Makes sure that there is at least one thread. False: none could be started.
    bool ready();

    // A thread will make the call. Returns when grow() should be called to check whether there are
    // enough threads, or os::forever.
    std::uint64_t submit(Call& call);

    // Starts one more thread if a call has waited too long by `now_ns`; os::forever: however long
    // it has waited. Returns the time of the next call, as submit() does.
    std::uint64_t grow(std::uint64_t now_ns);

    void stop();

    // While no thread runs: no call waits while a worker has nothing to do.
    void check_whole() const {
        check();
        std::size_t all = 0, idle = 0;
        for (const Worker* worker = workers_; worker != nullptr; worker = worker->next, ++all) worker->parker.check();
        for (const Worker* worker = idle_; worker != nullptr && idle <= all; worker = worker->next_idle, ++idle)
            WEFT_ASSERT(&worker->blocking_pool == this);
        WEFT_ASSERT(stopping_ || (all == count_ && idle <= all));
        WEFT_ASSERT(calls_.empty() || idle_ == nullptr);
        calls_.check_whole([](const Call& call) { WEFT_ASSERT(call.unit->life.is(State::waiting)); });
    }

private:
    // On entry, under the lock.
    void check() const {
        WEFT_ASSERT(count_ <= most && (stopping_ || (workers_ == nullptr) == (count_ == 0)));
        WEFT_ASSERT(idle_ == nullptr || count_ != 0);
    }

    struct Worker {
        BlockingPool& blocking_pool;
        os::Thread thread{};
        Parker parker{};          // where it sleeps
        Worker* next = nullptr;   // of all
        Worker* next_idle = nullptr;

        explicit Worker(BlockingPool& of) : blocking_pool(of) {}
    };

    bool start_one();   // under the lock
    void run(Worker& self);
    std::uint64_t look_again() const;   // under the lock

    Process& of_;
    os::Lock lock_;   // guards what follows
    Fifo<Call, &Call::next> calls_;
    Worker* workers_ = nullptr;
    std::size_t count_ = 0;
    Worker* idle_ = nullptr;   // the newest first: its caches are the warmest
    bool stopping_ = false;
};

// weft_blocking and weft_on_stream_stack.
weft_status blocking(void (*fn)(void*), void* argument);
void on_stream_stack(void (*fn)(void*), void* argument);

}   // namespace weft
