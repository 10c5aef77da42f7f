// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Idle wake-up: the time from a push by another OS thread to the first line of the unit on a stream
// that was asleep, compared with a bare futex wake. Both sleep for a millisecond before each
// sample, on the same CPU; samples alternate.
//   wake [--samples=N]
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <thread>

#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

constexpr std::uint64_t idle_gap_ns = 1'000'000;   // far beyond WEFT_SPIN_NS

std::atomic<std::uint64_t> woken_at{0};   // 0: not yet

void note_the_time(void*) { woken_at.store(bench::now_ns()); }

std::uint64_t wait_for_the_note() {
    std::uint64_t at = 0;
    // if both share one CPU, the waker must yield it
    while ((at = woken_at.load()) == 0) sched_yield();
    return at;
}

// An OS thread that sleeps on a futex, records the time when it is woken, and sleeps again.
class FutexSleeper {
public:
    explicit FutexSleeper(int cpu) : thread_([this, cpu] { sleep_and_note(cpu); }) {}
    ~FutexSleeper() {
        stop_.store(true);
        wake();
        thread_.join();
    }
    FutexSleeper(const FutexSleeper&) = delete;
    FutexSleeper& operator=(const FutexSleeper&) = delete;

    void wake() {
        word_.fetch_add(1);
        syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

private:
    void sleep_and_note(int cpu) {
        bench::pin(cpu);
        // `seen` counts the wakes: rereading the word could miss a wake that came before this
        // thread slept
        for (unsigned seen = 0; !stop_.load(); ++seen) {
            while (word_.load() == seen) syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
            note_the_time(nullptr);
        }
    }

    std::atomic<unsigned> word_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// A ULT that suspends, records the time when it is resumed, and suspends again.
struct Sleeper {
    std::atomic<weft_unit*> unit{nullptr};   // set once it is suspended
    std::atomic<bool> stop{false};
};

void suspend_and_note(void* argument) {
    auto* sleeper = static_cast<Sleeper*>(argument);
    while (!sleeper->stop.load()) {
        bench::must(weft_unit_suspend(
            [](weft_unit* unit, void* where) { static_cast<Sleeper*>(where)->unit.store(unit); }, sleeper));
        note_the_time(nullptr);
    }
}

void resume(Sleeper& sleeper) {
    weft_unit* unit = nullptr;
    while ((unit = sleeper.unit.exchange(nullptr)) == nullptr) sched_yield();
    bench::must(weft_unit_resume(unit));
}

template <class Wake>
void sample(const char* subject, Wake wake) {
    bench::sleep_ns(idle_gap_ns);
    woken_at.store(0);
    const std::uint64_t pushed_at = bench::now_ns();
    wake();
    const std::uint64_t at = wait_for_the_note();
    bench::print_sample(std::string("wake:") + subject, at > pushed_at ? static_cast<double>(at - pushed_at) : 0.0);
}

struct Streams {
    weft_stream* stream[2] = {};
    weft_pool* pool[2] = {};   // the pools that the stream draws from: its default pool, and a shared one
};

Streams start_streams(int cpu) {
    Streams streams;
    weft_stream_options options = {};
    options.size = sizeof options;
    bench::must(weft_stream_create(&options, &streams.stream[0]));
    bench::must(weft_stream_pool_get(streams.stream[0], &streams.pool[0]));
    bench::must(weft_pool_create(WEFT_POOL_SHARED, &streams.pool[1]));
    options.pool = streams.pool[1];
    bench::must(weft_stream_create(&options, &streams.stream[1]));
    for (auto* stream : streams.stream) bench::must(weft_stream_bind_cpus(stream, std::to_string(cpu).c_str()));
    return streams;
}

void measure(const Streams& streams, int samples, int waker_cpu, int sleeper_cpu) {
    bench::pin(waker_cpu);
    FutexSleeper futex(sleeper_cpu);
    Sleeper sleepers[2];
    weft_unit* ults[2];
    for (int i = 0; i < 2; ++i) {
        bench::must(weft_ult_spawn(streams.pool[i], suspend_and_note, &sleepers[i], nullptr, &ults[i]));
    }
    auto spawn = [&](int i) {
        bench::must(weft_tasklet_spawn(streams.pool[i], note_the_time, nullptr, nullptr, nullptr));
    };
    for (int i = 0; i < samples; ++i) {
        sample("futex", [&] { futex.wake(); });
        sample("weft.resume.default", [&] { resume(sleepers[0]); });
        sample("weft.spawn.default", [&] { spawn(0); });
        sample("weft.resume.shared", [&] { resume(sleepers[1]); });
        sample("weft.spawn.shared", [&] { spawn(1); });
    }
    for (int i = 0; i < 2; ++i) {
        sleepers[i].stop.store(true);
        resume(sleepers[i]);
        bench::must(weft_unit_join_free(ults[i]));
    }
}

}   // namespace

int main(int argc, char** argv) {
    const int samples = std::stoi(bench::take_flag(argc, argv, "samples", "1001"));
    const std::vector<int> cpus = bench::usable_cpus();
    weft_settings settings = {};
    settings.size = sizeof settings;
    bench::must(weft_init(&settings));
    const Streams streams = start_streams(cpus.back());
    // the waker is not a unit but an OS thread of the application; main waits for it in the kernel
    std::thread([&] { measure(streams, samples, cpus.front(), cpus.back()); }).join();
    for (auto* stream : streams.stream) bench::must(weft_stream_join_free(stream));
    bench::must(weft_pool_free(streams.pool[1]));
    bench::must(weft_finalize());
    return 0;
}
