// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Monte Carlo cross-section look-up with abt.h: a tasklet for each look-up, and a scheduler of our
// own that takes a batch of tasklets from its pool, runs them in the order of their energies, and
// takes from the pools of the other streams when its own is empty.
//
//   lookup [--nuclides=355] [--points=11303] [--lookups=1000000] [--streams=N] [--batch=8192]
//   [--rounds=3] [--check=200] [--run=argobots,openmp,pthreads]
//
// Compiles with every Argobots from 1.2 on. The sum of all results must equal that of the
// sequential run, bit for bit, and --check look-ups are compared with a search in the tables of the
// nuclides. The table shows the median of the rounds.
#include <sched.h>

#include <thread>

#include "call.hpp"
#include "lookup.hpp"

namespace {

using apps::done;
using lookup::CrossSections;
using lookup::Lookup;
using lookup::Sizes;

// ---- tasklets and their makers ------------------------------------------------------------------

struct Task;

// A user-level thread on each stream makes its share of the look-ups, a burst of a few batches at a
// time: all look-ups of a burst are in memory at once, and the other streams find something to
// steal.
struct Source {
    static constexpr std::size_t batches = 4;

    const CrossSections* sections = nullptr;
    std::size_t first = 0, last = 0;   // its share
    std::size_t burst = 0;             // how many look-ups at a time
    ABT_pool pool = ABT_POOL_NULL;     // for the tasklets
    ABT_eventual burst_done = ABT_EVENTUAL_NULL;
    std::vector<Task> tasks;
    std::uint64_t sum = 0;
    alignas(64) std::atomic<std::size_t> left = 0;   // of the burst
};

struct Task {
    Lookup lookup;
    Source* source;
};

void run_task(void* raw) {
    Task& task = *static_cast<Task*>(raw);
    Source& source = *task.source;
    source.sections->run(task.lookup);
    // acq_rel: each tasklet's release pairs with the acquire of the last one, so that the source,
    // which the last one wakes, sees all results.
    if (source.left.fetch_sub(1, std::memory_order_acq_rel) == 1)
        done("ABT_eventual_set", ABT_eventual_set(source.burst_done, nullptr, 0));
}

void run_source(void* raw) {
    Source& source = *static_cast<Source*>(raw);
    for (std::size_t first = source.first; first < source.last; first += source.burst) {
        const std::size_t last = std::min(first + source.burst, source.last);
        source.tasks.clear();
        for (std::size_t number = first; number < last; ++number)
            source.tasks.push_back({source.sections->lookup(number), &source});
        // relaxed: the pool publishes it to the stream that pops a tasklet.
        source.left.store(source.tasks.size(), std::memory_order_relaxed);
        for (Task& task : source.tasks) done("ABT_task_create", ABT_task_create(source.pool, run_task, &task, nullptr));
        void* nothing = nullptr;
        done("ABT_eventual_wait", ABT_eventual_wait(source.burst_done, &nothing));
        done("ABT_eventual_reset", ABT_eventual_reset(source.burst_done));
        for (const Task& task : source.tasks) source.sum += task.lookup.result;
    }
}

// ---- the scheduler ------------------------------------------------------------------------------

constexpr ABT_sched_config_var batch_of_config = {0, ABT_SCHED_CONFIG_INT};

// Its pools are, in this order: one with the user-level threads of its stream, which no other
// stream takes (the program's first user-level thread must stay on its stream); one with the
// tasklets of its stream; and those with the tasklets of the other streams.
class Sorter {
public:
    static ABT_sched_def definition() { return {ABT_SCHED_TYPE_ULT, init, run, free, nullptr}; }

    static Sorter& of(ABT_sched sched) {
        void* data = nullptr;
        done("ABT_sched_get_data", ABT_sched_get_data(sched, &data));
        return *static_cast<Sorter*>(data);
    }

    // Look-ups taken from other streams; relaxed: nothing else depends on this count.
    [[nodiscard]] std::size_t stolen() const { return stolen_.load(std::memory_order_relaxed); }

private:
    Sorter(ABT_sched sched, std::size_t batch) : sched_(sched), popped_(batch) { batch_.reserve(batch); }

    static int init(ABT_sched sched, ABT_sched_config config) {
        int batch = 0;
        done("ABT_sched_config_read", ABT_sched_config_read(config, 1, &batch));
        done("ABT_sched_set_data", ABT_sched_set_data(sched, new Sorter(sched, static_cast<std::size_t>(batch))));
        return ABT_SUCCESS;
    }

    static int free(ABT_sched sched) {
        delete &of(sched);
        return ABT_SUCCESS;
    }

    static void run(ABT_sched sched) { of(sched).loop(); }

    void find_pools() {
        int count = 0;
        done("ABT_sched_get_num_pools", ABT_sched_get_num_pools(sched_, &count));
        std::vector<ABT_pool> pools(static_cast<std::size_t>(count));
        done("ABT_sched_get_pools", ABT_sched_get_pools(sched_, count, 0, pools.data()));
        threads_ = pools[0];
        own_ = pools[1];
        others_.assign(pools.begin() + 2, pools.end());
    }

    // Tasklets come first, so that the stream's own tasklets are sorted in whole batches before
    // anything else begins.
    void loop() {
        find_pools();
        for (ABT_bool stop = ABT_FALSE; stop != ABT_TRUE;) {
            if (run_batch(own_, popped_.size()) == 0 && !run_thread() && !steal()) sched_yield();
            done("ABT_xstream_check_events", ABT_xstream_check_events(sched_));
            done("ABT_sched_has_to_stop", ABT_sched_has_to_stop(sched_, &stop));
        }
    }

    // Runs up to `most` tasklets of the pool, sorted by energy. Returns how many there were.
    std::size_t run_batch(ABT_pool pool, std::size_t most) {
        std::size_t count = 0;
        done("ABT_pool_pop_threads", ABT_pool_pop_threads(pool, popped_.data(), most, &count));
        batch_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            void* argument = nullptr;
            done("ABT_thread_get_arg", ABT_thread_get_arg(popped_[i], &argument));
            batch_.push_back({static_cast<const Task*>(argument)->lookup.energy, popped_[i]});
        }
        std::sort(batch_.begin(), batch_.end(), [](const Popped& a, const Popped& b) { return a.energy < b.energy; });
        for (const Popped& popped : batch_) done("ABT_self_schedule", ABT_self_schedule(popped.task, ABT_POOL_NULL));
        return count;
    }

    bool run_thread() {
        ABT_thread thread = ABT_THREAD_NULL;
        done("ABT_pool_pop_thread", ABT_pool_pop_thread(threads_, &thread));
        if (thread == ABT_THREAD_NULL) return false;
        done("ABT_self_schedule", ABT_self_schedule(thread, ABT_POOL_NULL));
        return true;
    }

    // Runs half of another stream's tasklets, at most a batch, so that both streams have something
    // to do.
    bool steal() {
        for (const ABT_pool victim : others_) {
            std::size_t size = 0;
            done("ABT_pool_get_size", ABT_pool_get_size(victim, &size));
            if (size == 0) continue;
            const std::size_t count = run_batch(victim, std::min((size + 1) / 2, popped_.size()));
            if (count == 0) continue;
            stolen_.fetch_add(count, std::memory_order_relaxed);
            return true;
        }
        return false;
    }

    struct Popped {
        double energy;
        ABT_thread task;
    };

    ABT_sched sched_;
    ABT_pool threads_ = ABT_POOL_NULL, own_ = ABT_POOL_NULL;
    std::vector<ABT_pool> others_;
    std::vector<ABT_thread> popped_;
    std::vector<Popped> batch_;
    std::atomic<std::size_t> stolen_ = 0;
};

// ---- streams ------------------------------------------------------------------------------------

// The streams from ABT_init to ABT_finalize; the first is the program's own.
class Streams {
public:
    explicit Streams(const Sizes& sizes)
        : thread_pools_(sizes.streams), task_pools_(sizes.streams), scheds_(sizes.streams), streams_(sizes.streams) {
        done("ABT_init", ABT_init(0, nullptr));
        for (auto* const pools : {&thread_pools_, &task_pools_}) {
            for (ABT_pool& pool : *pools)   // automatic: freed with the last scheduler that has it
                done("ABT_pool_create_basic",
                     ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
        }
        ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
        done("ABT_sched_config_create", ABT_sched_config_create(&config, batch_of_config, static_cast<int>(sizes.batch),
                                                                ABT_sched_config_var_end));
        for (std::size_t stream = 0; stream < sizes.streams; ++stream) create_sched(stream, config);
        done("ABT_sched_config_free", ABT_sched_config_free(&config));

        done("ABT_xstream_self", ABT_xstream_self(&streams_[0]));
        done("ABT_xstream_set_main_sched", ABT_xstream_set_main_sched(streams_[0], scheds_[0]));
        for (std::size_t stream = 1; stream < sizes.streams; ++stream)
            done("ABT_xstream_create", ABT_xstream_create(scheds_[stream], &streams_[stream]));
    }

    ~Streams() {
        for (std::size_t stream = 1; stream < streams_.size(); ++stream)
            done("ABT_xstream_free", ABT_xstream_free(&streams_[stream]));
        // No tasklet is still inside a call, not even the call that woke a source.
        done("ABT_xstream_set_main_sched_basic",
             ABT_xstream_set_main_sched_basic(streams_[0], ABT_SCHED_DEFAULT, 1, nullptr));
        for (ABT_sched& sched : scheds_) done("ABT_sched_free", ABT_sched_free(&sched));
        for (ABT_eventual& eventual : eventuals_) done("ABT_eventual_free", ABT_eventual_free(&eventual));
        done("ABT_finalize", ABT_finalize());
    }

    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    // Returns the sum of the results.
    std::uint64_t run(const CrossSections& sections, const Sizes& sizes) {
        std::vector<Source> sources(streams_.size());
        std::vector<ABT_thread> makers(streams_.size(), ABT_THREAD_NULL);
        for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
            Source& source = sources[stream];
            source.sections = &sections;
            source.first = sizes.lookups * stream / streams_.size();
            source.last = sizes.lookups * (stream + 1) / streams_.size();
            source.burst = sizes.batch * Source::batches;
            source.pool = task_pools_[stream];
            source.burst_done = eventual(stream);
            done("ABT_thread_create",
                 ABT_thread_create(thread_pools_[stream], run_source, &source, ABT_THREAD_ATTR_NULL, &makers[stream]));
        }
        std::uint64_t sum = 0;
        for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
            done("ABT_thread_free", ABT_thread_free(&makers[stream]));
            sum += sources[stream].sum;
        }
        return sum;
    }

    [[nodiscard]] std::size_t stolen() const {
        std::size_t sum = 0;
        for (const ABT_sched sched : scheds_) sum += Sorter::of(sched).stolen();
        return sum;
    }

private:
    void create_sched(std::size_t stream, ABT_sched_config config) {
        std::vector<ABT_pool> pools{thread_pools_[stream]};
        // The stream's own, then the others from the next stream on, so that not all streams steal
        // from one first.
        for (std::size_t i = 0; i < task_pools_.size(); ++i)
            pools.push_back(task_pools_[(stream + i) % task_pools_.size()]);
        ABT_sched_def definition = Sorter::definition();
        done("ABT_sched_create",
             ABT_sched_create(&definition, static_cast<int>(pools.size()), pools.data(), config, &scheds_[stream]));
    }

    ABT_eventual eventual(std::size_t stream) {
        if (eventuals_.size() == stream)
            done("ABT_eventual_create", ABT_eventual_create(0, &eventuals_.emplace_back(ABT_EVENTUAL_NULL)));
        return eventuals_[stream];
    }

    std::vector<ABT_pool> thread_pools_, task_pools_;   // one of each for each stream
    std::vector<ABT_sched> scheds_;
    std::vector<ABT_xstream> streams_;
    std::vector<ABT_eventual> eventuals_;   // of the sources; here, so that they outlive the tasklets that set them
};

// ---- the comparison -----------------------------------------------------------------------------

void check_sample(const CrossSections& sections, std::size_t count) {
    for (std::size_t number = 0; number < count; ++number) {
        const Lookup lookup = sections.lookup(number);
        apps::require(sections.sections(lookup.energy, lookup.material) ==
                          sections.sections_by_search(lookup.energy, lookup.material),
                      "lookup: the unionized grid gives other cross sections than a search");
    }
}

void print(const char* version, const Sizes& sizes, double seconds, double sequential) {
    std::printf("%-18s %9.4f s %12.0f look-ups/s %7.2f\n", version, seconds,
                static_cast<double>(sizes.lookups) / seconds, sequential / seconds);
    std::fflush(stdout);
}

}   // namespace

int main(int argc, char** argv) {
    apps::Arguments arguments(argc, argv);
    Sizes sizes{};
    sizes.nuclides = arguments.number("nuclides", 355);
    sizes.points = arguments.number("points", 11'303, 2, CrossSections::most_points);
    sizes.lookups = arguments.number("lookups", 1'000'000);
    sizes.streams = arguments.number("streams", std::max(std::thread::hardware_concurrency(), 1U), 1, 4096);
    sizes.batch = arguments.number("batch", 8192, 1, std::size_t{1} << 20);
    const std::size_t rounds = arguments.number("rounds", 3);
    const std::size_t checked = arguments.number("check", 200, 0);
    const apps::Versions versions(arguments);
    arguments.refuse_others();

    const CrossSections sections(sizes.nuclides, sizes.points);
    check_sample(sections, checked);
    std::printf("%zu nuclides, %zu energies, %.1f MB, %zu look-ups, %zu streams, batches of %zu\n", sizes.nuclides,
                sections.rows(), static_cast<double>(sections.bytes()) * 1e-6, sizes.lookups, sizes.streams,
                sizes.batch);

    std::uint64_t expected = 0;
    const double sequential = apps::median_seconds(rounds, [&] {
        const apps::Stopwatch watch;
        expected = lookup::run_sequentially(sections, sizes);
        return watch.seconds();
    });
    print("sequential", sizes, sequential, sequential);

    const auto compare = [&](const char* version, const auto& run) {
        const double seconds = apps::median_seconds(rounds, [&] {
            const apps::Stopwatch watch;
            const std::uint64_t sum = run();
            const double taken = watch.seconds();
            apps::require(sum == expected, "lookup: another sum than the sequential run's");
            return taken;
        });
        print(version, sizes, seconds, sequential);
    };
    if (versions.has("openmp")) compare("openmp", [&] { return lookup::run_openmp(sections, sizes); });
    if (versions.has("pthreads")) {
        compare("pthreads", [&] { return lookup::run_pthreads(sections, sizes, false); });
        compare("pthreads, sorted", [&] { return lookup::run_pthreads(sections, sizes, true); });
    }
    if (versions.has("argobots")) {
        Streams streams(sizes);
        compare("argobots", [&] { return streams.run(sections, sizes); });
        std::printf("%zu look-ups were taken from another stream in these %zu rounds\n", streams.stolen(), rounds);
    }
    std::printf("checksum %016llx, equal to the sequential run\n", static_cast<unsigned long long>(expected));
    return 0;
}
