// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call's jobs wait for each other by spinning, without a call at which their harts could go to
// others. So they run all at once, each on a hart, and calls wait for each other while harts are
// short.
#include "jobs.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <weft/embed/hosted.h>
#include <weft/guest.h>
#include <weft/sync.h>

#include "../../common/loaded.hpp"
#include "copies.hpp"
#include "counts.hpp"
#include "follow.hpp"

namespace weft_openblas {

namespace {

// ---- our OpenMP ---------------------------------------------------------------------------------

struct OpenMp {
    void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
    int (*thread_num)();
    int (*num_threads)();
    int (*active_level)();
    int (*max_active_levels)();
    void (*set_max_active_levels)(int levels);
};

// Null where the process has none, or another one (`--openmp=native`). Ours is the one that needs
// libweft: the report has functions of these names in front of it.
const OpenMp* openmp() {
    static const OpenMp* const found = []() -> const OpenMp* {
        static OpenMp it{};
        bool complete = false;
        weft_bridge::each_loaded([&](const weft_bridge::Loaded& object) {
            bool ours = false;
            weft_bridge::each_needed(object,
                                     [&](const char* name) { ours |= std::strncmp(name, "libweft.so", 10) == 0; });
            if (!ours) return false;
            complete = true;
            const auto take = [&](auto& function, const char* name) {
                function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
                    weft_bridge::address_in(object, name));
                complete &= function != nullptr;
            };
            take(it.parallel, "GOMP_parallel");
            take(it.thread_num, "omp_get_thread_num");
            take(it.num_threads, "omp_get_num_threads");
            take(it.active_level, "omp_get_active_level");
            take(it.max_active_levels, "omp_get_max_active_levels");
            take(it.set_max_active_levels, "omp_set_max_active_levels");
            return complete;
        });
        return complete ? &it : nullptr;
    }();
    return found;
}

// ---- which calls run, and with which workers ----------------------------------------------------

constexpr int most_workers = 256;   // what OpenBLAS can be built for

// The workers of one copy: its buffers. Under `turns`.
struct Workers {
    std::atomic<int> most{0};   // 0: not yet known; relaxed: each thread that asks finds the same number
    bool taken[most_workers] = {};
    int used = 0;
};
Workers workers_of[most_copies];

weft_mutex turns = WEFT_MUTEX_INIT;
weft_cond changed = WEFT_COND_INIT;
int running = 0;                         // jobs, of all copies
int calls = 0;                           // that run or wait
std::uint64_t arrived = 0, called = 0;   // calls in the order of their arrival

[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    turns = WEFT_MUTEX_INIT;
    changed = WEFT_COND_INIT;
    running = calls = 0;
    called = arrived;
    for (Workers& workers : workers_of) {
        std::fill(std::begin(workers.taken), std::end(workers.taken), false);
        workers.used = 0;
    }
});

// "OpenBLAS 0.3.31 ... MAX_THREADS=64"
int most_of(const Copy& copy) {
    const char* const text = copy.config == nullptr ? nullptr : copy.config();
    const char* const at = text == nullptr ? nullptr : std::strstr(text, "MAX_THREADS=");
    const int most = at == nullptr ? 1 : std::atoi(at + std::strlen("MAX_THREADS="));
    return std::clamp(most, 1, most_workers);
}

int most_workers_of(std::size_t copy) {
    std::atomic<int>& known = workers_of[copy].most;
    if (known.load(std::memory_order_relaxed) == 0) known.store(most_of(copies[copy]), std::memory_order_relaxed);
    return known.load(std::memory_order_relaxed);
}

// A call has its turn, and a worker for each job, while this lives.
class Turn {
public:
    Turn(std::size_t copy, int count) : workers_(workers_of[copy]), most_(most_workers_of(copy)), count_(count) {
        weft_mutex_lock(&turns);
        const std::uint64_t own = arrived++;
        const int beside = ++calls;
        while (own != called || !has_room()) weft_cond_wait(&changed, &turns);
        ++called;
        running += count_;
        // From the last one on: the first are the numbers of the copy's own threads too, which do
        // not go to sleep while a job has theirs.
        for (int worker = most_ - 1, at = 0; at < count_ && worker >= 0; --worker) {
            if (workers_.taken[worker]) continue;
            workers_.taken[worker] = true;
            numbers_[at++] = worker;
        }
        workers_.used += count_;
        weft_cond_broadcast(&changed);   // the next one may have room, too
        weft_mutex_unlock(&turns);
        if (beside > 1) several_call(beside);
    }
    ~Turn() {
        weft_mutex_lock(&turns);
        running -= count_;
        --calls;
        for (int i = 0; i < count_; ++i) workers_.taken[numbers_[i]] = false;
        workers_.used -= count_;
        weft_cond_broadcast(&changed);
        weft_mutex_unlock(&turns);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    int worker(int job) const { return numbers_[job]; }

private:
    bool has_room() const { return (running == 0 || running + count_ <= harts()) && workers_.used + count_ <= most_; }

    Workers& workers_;
    const int most_, count_;
    int numbers_[most_workers];
};

// ---- the jobs of a call -------------------------------------------------------------------------

struct Call {
    Job job;
    char* jobs;
    std::size_t bytes;
    int count, extra;
    const Turn& turn;
    std::atomic<bool> begun{false};

    void run(int i) const { job(turn.worker(i), jobs + static_cast<std::size_t>(i) * bytes, extra); }
};

// False: there were fewer threads than jobs, and none of these has begun.
bool by_region(Call& call) {
    const OpenMp& omp = *openmp();
    const int levels = omp.max_active_levels();
    const bool deeper = omp.active_level() >= levels;   // called in a region
    if (deeper) omp.set_max_active_levels(omp.active_level() + 1);
    omp.parallel(
        [](void* raw) {
            auto& that = *static_cast<Call*>(raw);
            if (openmp()->num_threads() != that.count) return;
            that.begun.store(true, std::memory_order_relaxed);   // relaxed: read after the region
            that.run(openmp()->thread_num());
        },
        &call, static_cast<unsigned>(call.count), 0);
    if (deeper) omp.set_max_active_levels(levels);
    return call.begun.load(std::memory_order_relaxed);
}

std::atomic<bool> refused{false};   // relaxed: other threads find the same

// Whether a region of that many threads has members: OpenMP ends a process to which the kernel
// refuses them.
bool has_members(int count) {
    thread_local int had = 0;
    if (count <= had) return true;
    if (weft_guest_enter() != WEFT_OK) return false;
    const bool prepared = weft_hosted_prepare(static_cast<std::size_t>(count) - 1, 0) == WEFT_OK;
    weft_guest_leave();
    if (prepared) had = count;
    return prepared;
}

// The copy's own threads run the jobs, as they would without us, until a look finds that we can:
// more spinning jobs than harts need threads of the kernel's, which takes their CPUs away.
void run_by_copy(Copy& copy, long count, void* jobs) {
    copy.set_callback(nullptr);
    copy.exec(count, jobs);
}

void run_jobs(std::size_t number, Job job, int count, std::size_t bytes, char* jobs, int extra) {
    Copy& copy = copies[number];
    if (count <= 0) return;
    if (count > harts() || count > most_workers_of(number)) return run_by_copy(copy, count, jobs);
    if (count > 1 && !has_members(count)) {
        refused.store(true, std::memory_order_relaxed);
        return run_by_copy(copy, count, jobs);
    }
    {
        const Turn turn(number, count);
        Call call{job, jobs, bytes, count, extra, turn, {}};
        if (count == 1) return call.run(0);
        count_call();
        if (by_region(call)) return;
    }
    run_by_copy(copy, count, jobs);   // OMP_THREAD_LIMIT
}

template <std::size_t copy>
void on_jobs(int, Job job, int count, std::size_t bytes, void* jobs, int extra) {
    run_jobs(copy, job, count, bytes, static_cast<char*>(jobs), extra);
}

template <std::size_t... numbers>
constexpr std::array<Callback, most_copies> table(std::index_sequence<numbers...>) {
    return {on_jobs<numbers>...};
}
constexpr auto callbacks = table(std::make_index_sequence<most_copies>());

}   // namespace

void take_jobs(bool wanted) {
    const bool possible = wanted && !refused.load(std::memory_order_relaxed) && openmp() != nullptr;
    std::size_t number = 0;
    each_copy([&](Copy& copy) {
        const Callback own = callbacks[number++];
        if (copy.set_callback == nullptr || copy.callback == nullptr || copy.exec == nullptr) return;
        const Callback now = *copy.callback, then = possible && copy.number() <= harts() ? own : nullptr;
        if ((now == nullptr || now == own) && now != then) copy.set_callback(then);
    });
}

}   // namespace weft_openblas
