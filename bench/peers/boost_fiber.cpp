// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The primitives of Weft's benchmarks with Boost.Fiber: its round-robin scheduler, pooled stacks of
// 16 KiB (without guards), launch::post (parent-first) unless the name says dispatch (child-first).
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

// The underlying Boost.Context: one switch, one way.
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

// ---- synchronization of fibers ------------------------------------------------------------------

// A fiber for the crowds of crowd.hpp, joined at the end.
struct Joined {
    fibers::fiber fiber;
    explicit Joined(fibers::fiber&& other) : fiber(std::move(other)) {}
    Joined(Joined&&) = default;
    Joined& operator=(Joined&&) = default;
    ~Joined() {
        if (fiber.joinable()) fiber.join();
    }
};

constexpr auto spawner = [](auto body) {
    return Joined(fibers::fiber(fibers::launch::post, std::allocator_arg, stacks(), body));
};

struct ConditionGame {
    fibers::mutex mutex;
    fibers::condition_variable changed;
    int turns = 0;
    bool over = false;

    void meet(int me) {
        if (me == 0) return;
        std::unique_lock lock(mutex);
        while (turns != me) changed.wait(lock);
    }
    void turn(int me) {
        std::unique_lock lock(mutex);
        turns = 1 - me;
        changed.notify_one();
        while (turns != me && !over) changed.wait(lock);
    }
    void release() {
        const std::lock_guard guard(mutex);
        over = true;
        changed.notify_all();
    }
};

struct UnlockedConditionGame {
    fibers::mutex mutex;
    fibers::condition_variable changed;
    int turns = 0;

    void turn(int me) {
        std::unique_lock lock(mutex);
        while (turns != me) changed.wait(lock);
        turns = 1 - me;
        changed.notify_one();
    }
};

// Holds the mutex throughout.
struct HeldConditionGame {
    fibers::mutex mutex;
    fibers::condition_variable_any changed;
    int turns = 0;

    void begin() { mutex.lock(); }
    void end() { mutex.unlock(); }
    void turn(int me) {
        while (turns != me) changed.wait(mutex);
        turns = 1 - me;
        changed.notify_one();
    }
};

struct ChannelGame {
    fibers::unbuffered_channel<void*> to[2];

    void turn(int me) {
        void* ball = nullptr;
        if (me == 0) to[1].push(ball);
        to[me].pop(ball);
        if (me == 1) to[0].push(ball);
    }
};

template <class Game>
void hand_off(benchmark::State& state) {
    bench::hand_off<Game>(state, spawner);
}

void barrier(benchmark::State& state, std::size_t count) {
    fibers::barrier all(count);
    bench::wait_for_all(
        state, count, [&all] { all.wait(); }, spawner);
}

void mutex_held(benchmark::State& state, std::size_t count) {
    fibers::mutex mutex;
    auto locked = [&mutex](auto inside) {
        const std::lock_guard guard(mutex);
        const bool goes_on = inside();
        boost::this_fiber::yield();
        return goes_on;
    };
    bench::lock_among(state, count, locked, spawner);
}

void mutex_uncontended(benchmark::State& state) {
    fibers::mutex mutex;
    while (state.KeepRunning()) {
        mutex.lock();
        mutex.unlock();
    }
}

void channel_buffered(benchmark::State& state) {
    fibers::buffered_channel<void*> channel(128);
    const Joined sender = spawner([&channel] {
        while (channel.push(nullptr) == fibers::channel_op_status::success) {}
    });
    void* element = nullptr;
    while (state.KeepRunning()) channel.pop(element);
    channel.close();
}

void future_whole(benchmark::State& state) {
    while (state.KeepRunning()) {
        fibers::promise<void*> promise;
        fibers::future<void*> future = promise.get_future();
        promise.set_value(nullptr);
        benchmark::DoNotOptimize(future.get());
    }
}

}   // namespace

int main(int argc, char** argv) {
    bench::pin(bench::usable_cpus().back());
    bench::add("spawn_join/one", "boost.fiber", one_by_one, fibers::launch::post);
    bench::add("spawn_join/one", "boost.fiber.dispatch", one_by_one, fibers::launch::dispatch);
    for (std::size_t count : {64, 256, 4096, 262144}) {
        bench::add("spawn_join/" + std::to_string(count), "boost.fiber", bulk, count);
    }
    for (std::size_t count : {2, 64, 16384})
        bench::add("yield/" + std::to_string(count), "boost.fiber", yield_among, count);
    bench::add("switch", "boost.context", switch_once);
    bench::add("mutex", "boost.fiber", mutex_uncontended);
    for (std::size_t count : {2, 16, 64, 256, 1024}) {
        bench::add("mutex_held/" + std::to_string(count), "boost.fiber", mutex_held, count);
    }
    bench::add("condition", "boost.fiber", hand_off<ConditionGame>);
    bench::add("condition.unlocked", "boost.fiber", hand_off<UnlockedConditionGame>);
    bench::add("condition.held", "boost.fiber", hand_off<HeldConditionGame>);
    bench::add("barrier/64", "boost.fiber", barrier, std::size_t{64});
    bench::add("channel/0", "boost.fiber", hand_off<ChannelGame>);
    bench::add("channel/128", "boost.fiber", channel_buffered);
    bench::add("future", "boost.fiber", future_whole);
    return bench::run_registered(argc, argv);
}
