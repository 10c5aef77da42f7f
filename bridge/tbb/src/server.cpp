// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "server.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <utility>

#include <weft/embed/hosted.h>
#include <weft/hart.h>
#include <weft/io.h>
#include <weft/sync.h>

#include "../../common/spin_lock.hpp"
#include "counts.hpp"
#include "domain.hpp"
#include "place.hpp"
#include "protocol.hpp"

namespace weft_tbb {

namespace {

using weft_bridge::SpinLock;

class Connection;

struct Worker {
    Connection& of;
    weft_unit* unit = nullptr;   // while it waits
    bool begun = false;
    bool left = false;         // its job is cleaned up, or it has had none
    Worker* below = nullptr;   // the protocol's, as is the next
    bool idle = false;
};

void work(void* raw);
void has_ended(void* raw);

// Whether a finalize that waits is on this thread's stack.
thread_local constinit bool waits_for_close [[gnu::tls_model("initial-exec")]] = false;

class Connection final : public rml::Server {
public:
    void begin(rml::Client& client) {
        client_ = &client;
        stack_bytes_ = client.min_stack_size();
        protocol_.begin(std::max(client.max_job_count(), 1U));
        awaited_ = false;
        refused_until_ns_ = 0;
        weft_event_reset(&all_gone_);
    }

    unsigned version() const override { return 2; }
    void yield() override { weft_unit_yield(); }
    void independent_thread_number_changed(int) override {}
    // More than any limit of TBB's own: the harts bound how many workers run.
    unsigned default_concurrency() const override { return 1U << 16; }
    void adjust_job_count_estimate(int delta) override;
    void request_close_connection(bool exiting) override;

    // A worker is there, on the stack of a new hosted unit.
    void be_worker(Worker& me) {
        if (!is_closing()) {
            count_worker();
            rml::Job* const job = client_->create_one_job();
            do client_->process(*job);
            while (goes_on(me));
            client_->cleanup(*job);
        }
        leave(me);
    }
    // A worker waits from now on, and its stack stands still.
    void wait(Worker& worker) {
        lock_.lock();
        const Act act = protocol_.wait(worker);
        release_and_do(act);
    }
    // Its unit is gone. It may not have run, where the kernel has refused it a pthread; or the
    // runtime has ended.
    void bury(Worker* worker);

    bool works() {
        lock_.lock();
        const bool some = protocol_.active() != 0;
        lock_.unlock();
        return some;
    }
    void forget_workers() { protocol_.forget_workers(false); }
    void forget_workers_in_child() {
        lock_.unlock();   // the thread that may have held it is gone
        protocol_.forget_workers(true);
    }

    Connection* next = nullptr;   // in the list of all
    bool rests = true;            // serves no client; under the list's lock

private:
    using Act = Protocol<Worker>::Act;

    bool is_closing() {
        lock_.lock();
        const bool closing = protocol_.is_closing();
        lock_.unlock();
        return closing;
    }
    void release_and_do(const Act& act);
    void make(unsigned count);
    unsigned spawn(unsigned count);
    // TBB has sent the worker away: waits until TBB wants it. False: the connection closes.
    bool goes_on(Worker& me);
    void leave(Worker& me);
    void is_gone();
    void rest();

    // A kernel that has refused a thread is not asked again for so long.
    static constexpr std::uint64_t between_tries_ns = 50'000'000;

    rml::Client* client_ = nullptr;
    std::size_t stack_bytes_ = 0;
    SpinLock lock_;   // guards what follows
    Protocol<Worker> protocol_;
    bool awaited_ = false;   // a caller of request_close_connection waits for all_gone_
    std::uint64_t refused_until_ns_ = 0;
    weft_event all_gone_ = WEFT_EVENT_INIT;
};

void Connection::release_and_do(const Act& act) {
    rml::Client* const client = client_;   // another thread may end the connection, and a new one begin
    lock_.unlock();
    if (act.missing != 0) pool_of_workers();   // the domain is there when harts are requested
    request_harts(act.harts);
    for (Worker* one = act.resumed; one != nullptr;) {
        Worker* const after = one->below;   // it may be idle again once it is resumed
        weft_unit_resume(one->unit);
        one = after;
    }
    if (act.missing != 0) make(act.missing);
    if (act.over) client->acknowledge_close_connection();
    if (act.gone) is_gone();
}

// No other thread is in the connection, but a caller of request_close_connection that waits.
void Connection::is_gone() {
    if (awaited_) weft_event_set(&all_gone_, nullptr);
    else rest();
}

void Connection::adjust_job_count_estimate(int delta) {
    const std::uint64_t now_ns = weft_now_ns();
    lock_.lock();
    const Act act = protocol_.adjust(delta, now_ns >= refused_until_ns_);
    release_and_do(act);
}

// TBB goes on with the workers that there are.
void Connection::make(unsigned count) {
    const unsigned made = spawn(count);
    if (made == count) return;
    lock_.lock();
    refused_until_ns_ = weft_now_ns() + between_tries_ns;
    const Act act = protocol_.refused(count - made);
    release_and_do(act);
}

// Returns how many are workers now, or have been counted out.
unsigned Connection::spawn(unsigned count) {
    weft_pool* const pool = pool_of_workers();
    if (pool == nullptr) return 0;
    // One by one where the kernel refuses some: a unit without a pthread might wait for one for
    // good.
    const bool all_there = weft_hosted_prepare(count, stack_bytes_) == WEFT_OK;
    unsigned spawned = 0;
    for (; spawned < count; ++spawned) {
        if (!all_there && weft_hosted_prepare(1, stack_bytes_) != WEFT_OK) break;
        weft_unit_options options{};
        options.size = sizeof options;
        options.kind = WEFT_KIND_HOSTED;
        options.stack_bytes = stack_bytes_;
        options.name = "tbb";
        auto* const worker = new Worker{*this};
        options.data = worker;
        options.release = has_ended;
        // where the spawn fails the worker is released, which counts it out
        if (weft_ult_spawn_at(pool, work, worker, &options, reinterpret_cast<const void*>(work), nullptr) != WEFT_OK)
            return spawned + 1;
    }
    return spawned;
}

bool Connection::goes_on(Worker& me) {
    lock_.lock();
    const bool waits = protocol_.has_surplus();
    lock_.unlock();
    if (!waits) {
        weft_unit_yield();   // others have a turn, whatever TBB calls next
        return !is_closing();
    }
    const auto publish = [](weft_unit* unit, void* raw) {
        auto& worker = *static_cast<Worker*>(raw);
        worker.unit = unit;
        worker.of.wait(worker);
    };
    // Refused where the process has forked within a task: the thread that is left is no unit.
    return weft_unit_suspend(publish, &me) == WEFT_OK && !is_closing();
}

void Connection::leave(Worker& me) {
    me.left = true;
    lock_.lock();
    const Act act = protocol_.leave(me.begun);
    release_and_do(act);
}

void Connection::bury(Worker* worker) {
    if (!worker->left) leave(*worker);
    delete worker;
    lock_.lock();
    const Act act = protocol_.unit_is_gone();
    release_and_do(act);
}

void Connection::request_close_connection(bool) {
    const bool waits = waits_for_close && place_here() != Place::worker;
    lock_.lock();
    const Act act = protocol_.close();
    const bool waits_here = awaited_ = waits && !act.gone;
    release_and_do(act);
    if (!waits_here) return;
    weft_event_wait(&all_gone_, nullptr);
    rest();
}

Connection* all_connections = nullptr;
SpinLock listing;

void Connection::rest() {
    listing.lock();
    rests = true;
    listing.unlock();
}

template <class Do>
void each_connection(Do act) {
    listing.lock();
    Connection* at = all_connections;
    listing.unlock();
    for (; at != nullptr; at = at->next) act(*at);
}

void work(void* raw) {
    auto& me = *static_cast<Worker*>(raw);
    me.begun = true;
    const Stay stay(Place::worker);               // the pthread may serve another unit afterwards
    static_cast<void>(weft_concurrent_begin());   // without memory it is told the full number of threads
    me.of.be_worker(me);
}

void has_ended(void* raw) {
    auto* const worker = static_cast<Worker*>(raw);
    worker->of.bury(worker);
}

std::atomic<bool> in_new_child{false};

}   // namespace

rml::Server& new_server(rml::Client& client) {
    add_counters();
    listing.lock();
    Connection* at = all_connections;
    while (at != nullptr && !at->rests) at = at->next;
    if (at != nullptr) at->rests = false;
    listing.unlock();
    if (at == nullptr) {
        at = new Connection;
        at->rests = false;
        listing.lock();
        at->next = all_connections;
        all_connections = at;
        listing.unlock();
    }
    at->begin(client);
    return *at;
}

// TBB takes a lock when a worker finds nothing to do and leaves. A worker that holds it when the
// process forks would hold it in the child forever.
void settle_for_fork() {
    if (place_here() != Place::outside) return;   // the caller runs a task, and its workers run others
    constexpr std::uint64_t most_ns = 5'000'000;
    constexpr timespec pause{0, 50'000};
    const std::uint64_t until_ns = weft_now_ns() + most_ns;
    for (;;) {
        bool quiet = true;
        each_connection([&](Connection& connection) { quiet &= !connection.works(); });
        if (quiet || weft_now_ns() >= until_ns) return;
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, nullptr);   // the kernel's call: no switch
    }
}

bool is_idle_worker(const weft_unit* context) {
    const void* site = nullptr;
    void* data = nullptr;
    weft_unit_spawn_site_get(context, &site);
    if (site != reinterpret_cast<const void*>(work)) return false;
    weft_unit_data_get(context, &data);
    return data != nullptr && static_cast<const Worker*>(data)->idle;
}

void forget_workers() {
    each_connection([](Connection& connection) { connection.forget_workers(); });
}

void forget_workers_in_child() {
    forget_counts();
    listing.unlock();
    each_connection([](Connection& connection) { connection.forget_workers_in_child(); });
    in_new_child.store(true);
}

void begin_anew_in_child() {
    if (!in_new_child.exchange(false)) return;
    each_connection([](Connection& connection) {
        if (!connection.rests) connection.adjust_job_count_estimate(0);
    });
}

bool is_new_child() { return in_new_child.load(std::memory_order_relaxed); }   // relaxed: its own thread's

WaitsForClose::WaitsForClose() : before_(waits_for_close) { waits_for_close = true; }
WaitsForClose::~WaitsForClose() { waits_for_close = before_; }

}   // namespace weft_tbb
