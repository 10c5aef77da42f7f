// The same primitives with Argobots, by its public interface; built where pkg-config finds it. One execution
// stream whose main pool is a FIFO of access "private" or "shared" (--pool=private|shared).
#include <abt.h>

#include "crowd.hpp"
#include "harness.hpp"

namespace {

void must(int status) {
    if (status == ABT_SUCCESS) [[likely]] return;
    std::fprintf(stderr, "bench: Argobots: error %d\n", status);
    std::exit(1);
}

class Runtime {
public:
    explicit Runtime(ABT_pool_access access) {
        must(ABT_init(0, nullptr));
        ABT_xstream stream = ABT_XSTREAM_NULL;
        must(ABT_xstream_self(&stream));
        must(ABT_pool_create_basic(ABT_POOL_FIFO, access, ABT_TRUE, &pool_));
        must(ABT_xstream_set_main_sched_basic(stream, ABT_SCHED_BASIC, 1, &pool_));
    }
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    ~Runtime() { must(ABT_finalize()); }
    [[nodiscard]] ABT_pool pool() const { return pool_; }

private:
    ABT_pool pool_ = ABT_POOL_NULL;
};

ABT_thread spawn_ult(ABT_pool pool, void (*body)(void*), void* argument) {
    ABT_thread thread = ABT_THREAD_NULL;
    must(ABT_thread_create(pool, body, argument, ABT_THREAD_ATTR_NULL, &thread));
    return thread;
}

// Runs f() on a ULT with room for Google Benchmark's own calls: as on_ult of weft_harness.hpp.
template <class F>
void on_ult(ABT_pool pool, F f) {
    ABT_thread_attr attributes = ABT_THREAD_ATTR_NULL;
    must(ABT_thread_attr_create(&attributes));
    must(ABT_thread_attr_set_stacksize(attributes, 262144));
    ABT_thread thread = ABT_THREAD_NULL;
    must(ABT_thread_create(pool, [](void* argument) { (*static_cast<F*>(argument))(); }, &f, attributes, &thread));
    must(ABT_thread_free(&thread));
    must(ABT_thread_attr_free(&attributes));
}

void ults(benchmark::State& state, ABT_pool pool, std::size_t count) {
    on_ult(pool, [&] {
        std::vector<ABT_thread> threads(count);
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            for (auto& thread : threads) thread = spawn_ult(pool, bench::nothing, nullptr);
            for (auto& thread : threads) must(ABT_thread_free(&thread));
        }
    });
}

void tasklets(benchmark::State& state, ABT_pool pool, std::size_t count) {
    on_ult(pool, [&] {
        std::vector<ABT_task> tasks(count);
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            for (auto& task : tasks) must(ABT_task_create(pool, bench::nothing, nullptr, &task));
            for (auto& task : tasks) must(ABT_task_free(&task));
        }
    });
}

constexpr auto yield = [] { must(ABT_thread_yield()); };

void yield_among(benchmark::State& state, ABT_pool pool, std::size_t count) {
    on_ult(pool, [&] {
        bench::Crowd crowd{state, static_cast<benchmark::IterationCount>(count)};
        auto yield_with_the_others = [](void* raw) { static_cast<bench::Crowd*>(raw)->yield_together(false, yield); };
        std::vector<ABT_thread> others(count - 1);
        for (auto& other : others) other = spawn_ult(pool, yield_with_the_others, &crowd);
        yield();
        crowd.yield_together(true, yield);
        crowd.stop = true;
        for (auto& other : others) must(ABT_thread_free(&other));
    });
}

struct Pair {
    bench::Crowd crowd;
    ABT_thread measuring = ABT_THREAD_NULL;
    void yield_to(ABT_thread other, bool measures) {
        crowd.yield_together(measures, [other] { must(ABT_thread_yield_to(other)); });
    }
};

void yield_between_two(benchmark::State& state, ABT_pool pool) {
    on_ult(pool, [&] {
        Pair pair{{state, 2}};
        must(ABT_thread_self(&pair.measuring));
        auto yield_back = [](void* raw) { static_cast<Pair*>(raw)->yield_to(static_cast<Pair*>(raw)->measuring, false); };
        ABT_thread other = spawn_ult(pool, yield_back, &pair);
        pair.yield_to(other, true);
        pair.crowd.stop = true;
        must(ABT_thread_free(&other));
    });
}

}  // namespace

int main(int argc, char** argv) {
    const std::string pool_name = bench::take_flag(argc, argv, "pool", "private");
    bench::pin(bench::usable_cpus().back());
    const Runtime runtime(pool_name == "shared" ? ABT_POOL_ACCESS_MPMC : ABT_POOL_ACCESS_PRIV);
    const ABT_pool pool = runtime.pool();
    const std::string subject = "argobots." + pool_name;
    bench::add("spawn_join/one", subject + ".ult", ults, pool, std::size_t{1});
    bench::add("spawn_join/one", subject + ".tasklet", tasklets, pool, std::size_t{1});
    for (std::size_t count : {64, 256, 4096, 262144}) {
        bench::add("spawn_join/" + std::to_string(count), subject + ".ult", ults, pool, count);
        bench::add("spawn_join/" + std::to_string(count), subject + ".tasklet", tasklets, pool, count);
    }
    for (std::size_t count : {2, 64, 16384}) bench::add("yield/" + std::to_string(count), subject, yield_among, pool, count);
    bench::add("yield_to", subject, yield_between_two, pool);
    return bench::run_registered(argc, argv);
}
