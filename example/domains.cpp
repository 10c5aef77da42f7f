// Two libraries that know nothing of each other, except that the one calls the other, share the machine's hardware threads: each is a domain with a policy
// of its own. Neither starts an OS thread, and however many of their parallel parts are under way at once, there are never more contexts at work than harts.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

// The first library: contexts go on in the order in which they can.
class in_order {
public:
    // Calls f(i) for i = 0 .. count - 1, and returns when all have returned.
    template <class F>
    static void for_each(int count, F f) {
        in_order self;
        weft::registered<in_order> domain(self);
        struct call {
            F* f;
            int number;
            weft::context context;
        };
        std::vector<call> calls;
        for (int i = 0; i < count; ++i) calls.push_back({&f, i, weft::context()});
        self.begin_ = [](void* raw) { (*static_cast<call*>(raw)->f)(static_cast<call*>(raw)->number); };
        for (call& each : calls) self.fresh_.push_back({each.context.get(), &each});
        domain.get().request(count);
        for (call& each : calls) each.context.join();   // waits as a context of this domain: its hart runs the calls
    }

    void enter() noexcept {
        const std::lock_guard guard(lock_);
        if (!ready_.empty()) {
            weft::this_hart::resume(ready_.front());
            ready_.pop_front();
        } else if (!fresh_.empty()) {
            weft::this_hart::run(fresh_.front().first, begin_, fresh_.front().second);
            fresh_.pop_front();
        } else {
            weft::this_hart::yield();
        }
    }
    void unblock(weft::unit_ref context) noexcept {
        const std::lock_guard guard(lock_);
        ready_.push_back(context);
    }

private:
    std::mutex lock_;
    std::deque<weft::unit_ref> ready_;
    std::deque<std::pair<weft::unit_ref, void*>> fresh_;
    void (*begin_)(void*) = nullptr;
};

// The second library: the most urgent task first.
class by_priority {
public:
    struct task {
        int priority;
        void (*run)(int priority);
    };
    static void run_all(std::vector<task> tasks) {
        by_priority self;
        weft::registered<by_priority> domain(self);
        std::vector<weft::context> contexts;
        for (task& each : tasks) {
            contexts.emplace_back();
            self.waiting_.push_back({each.priority, contexts.back().get(), &each});
        }
        domain.get().request(static_cast<std::ptrdiff_t>(tasks.size()));
        for (auto& context : contexts) context.join();
    }

    void enter() noexcept {
        const std::lock_guard guard(lock_);
        const auto most = std::max_element(waiting_.begin(), waiting_.end(), [](const entry& a, const entry& b) { return a.priority < b.priority; });
        if (most == waiting_.end()) return weft::this_hart::yield();
        if (most->fresh != nullptr) {
            weft::this_hart::run(most->context, [](void* raw) { static_cast<task*>(raw)->run(static_cast<task*>(raw)->priority); }, most->fresh);
        } else {
            weft::this_hart::resume(most->context);
        }
        waiting_.erase(most);
    }
    void unblock(weft::unit_ref context) noexcept {
        const std::lock_guard guard(lock_);
        waiting_.push_back({1'000, context, nullptr});   // what has begun comes first
    }

private:
    struct entry {
        int priority;
        weft::unit_ref context;
        task* fresh;   // null: it has begun
    };
    std::mutex lock_;
    std::vector<entry> waiting_;
};

int main() {
    weft::runtime runtime;
    static std::atomic<int> ran{0};
    in_order::for_each(8, [](int) {
        std::vector<by_priority::task> tasks;
        for (int i = 0; i < 16; ++i) tasks.push_back({i, [](int) { ++ran; }});
        by_priority::run_all(std::move(tasks));
    });
    std::printf("%d tasks of 8 calls ran on %zu harts\n", ran.load(), weft::hart_limit());
    return ran == 128 ? 0 : 1;
}
