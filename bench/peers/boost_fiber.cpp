// The same primitives with Boost.Fiber: its round-robin scheduler, pooled stacks of 16 KiB (without
// guards), launch::post (parent-first) unless the name says dispatch (child-first).
#include <boost/context/fiber.hpp>
#include <boost/fiber/all.hpp>

#include "crowd.hpp"
#include "harness.hpp"

namespace {

namespace fibers = boost::fibers;

constexpr std::size_t stack_bytes = 16384;

fibers::pooled_fixedsize_stack& stacks() {
    static fibers::pooled_fixedsize_stack pool(stack_bytes);
    return pool;
}

fibers::fiber spawn(fibers::launch policy) {
    return fibers::fiber(policy, std::allocator_arg, stacks(), [] { bench::nothing(nullptr); });
}

void one_by_one(benchmark::State& state, fibers::launch policy) {
    while (state.KeepRunning()) spawn(policy).join();
}

void bulk(benchmark::State& state, std::size_t count) {
    std::vector<fibers::fiber> all(count);
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
        for (auto& fiber : all) fiber = spawn(fibers::launch::post);
        for (auto& fiber : all) fiber.join();
    }
}

void yield_among(benchmark::State& state, std::size_t count) {
    bench::Crowd crowd{state, static_cast<benchmark::IterationCount>(count)};
    auto yield = [] { boost::this_fiber::yield(); };
    std::vector<fibers::fiber> others(count - 1);
    for (auto& fiber : others) {
        fiber = fibers::fiber(fibers::launch::post, std::allocator_arg, stacks(),
                              [&crowd, yield] { crowd.yield_together(false, yield); });
    }
    yield();
    crowd.yield_together(true, yield);
    crowd.stop = true;
    for (auto& fiber : others) fiber.join();
}

// Boost.Context, which lies under it: one switch, one way.
void switch_once(benchmark::State& state) {
    namespace context = boost::context;
    bool stop = false;
    context::fiber other([&stop](context::fiber&& back) {
        while (!stop) back = std::move(back).resume();
        return std::move(back);
    });
    while (state.KeepRunningBatch(2)) other = std::move(other).resume();
    stop = true;
    other = std::move(other).resume();
}

}  // namespace

int main(int argc, char** argv) {
    bench::pin(bench::usable_cpus().back());
    bench::add("spawn_join/one", "boost.fiber", one_by_one, fibers::launch::post);
    bench::add("spawn_join/one", "boost.fiber.dispatch", one_by_one, fibers::launch::dispatch);
    for (std::size_t count : {64, 256, 4096, 262144}) {
        bench::add("spawn_join/" + std::to_string(count), "boost.fiber", bulk, count);
    }
    for (std::size_t count : {2, 64, 16384}) bench::add("yield/" + std::to_string(count), "boost.fiber", yield_among, count);
    bench::add("switch", "boost.context", switch_once);
    return bench::run_registered(argc, argv);
}
