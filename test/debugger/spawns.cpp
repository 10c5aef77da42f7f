// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that spawns with each class of the C++ headers, for gdb_test.py: a debugger shows the
// lines marked "spawns NAME" as the places where the units of that name were spawned, and shows
// objects of the headers as sentences.
#include <algorithm>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "weft/weft.hpp"

namespace {

weft::event go_on;
weft::pool_ref aside;   // its stream is suspended: what is spawned there does not run

// The debugger stops here.
[[gnu::noinline]] void everything_stands() { asm volatile("" : : : "memory"); }

void wait_as(const char* name) {
    weft::this_thread::set_name(name);
    go_on.wait();
}

int add(int one, int other) { return one + other; }

template <class Body>
weft::thread spawn_for_somebody(Body body) {
    return weft::thread({.pool = aside, .name = "by a template"}, body);   // spawns by a template
}

class spawner {
public:
    void spawn(int number) {
        plain_.emplace([] {});
        named_ = weft::thread({.pool = aside, .name = "named"}, [] {});                            // spawns named
        stoppable_ = weft::thread({.pool = aside, .name = "stoppable"}, [](std::stop_token) {});   // spawns stoppable
        with_arguments_ = weft::thread({.pool = aside, .name = "arguments"}, add, 1, number);      // spawns arguments
    }

    std::optional<weft::thread> plain_;   // which calls the constructor
    weft::thread named_, stoppable_, with_arguments_;
};

}   // namespace

int main() {
    weft::runtime runtime({.streams = 2, .pool = weft::pool_kind::private_fifo});
    const weft::stream_ref other = weft_stream_at(1);
    other.suspend();
    aside = other.pool();

    spawner some;
    some.spawn(7);
    weft::thread by_a_template = spawn_for_somebody([] {});
    const auto inside = [] {
        return weft::thread({.pool = aside, .name = "in a lambda"}, [] {});   // spawns in a lambda
    };
    weft::thread in_a_lambda = inside();
    weft::tasklet tasklet({.pool = aside, .name = "tasklet"}, [] {});                  // spawns tasklet
    auto handle = weft::spawn({.pool = aside, .name = "handle"}, [] { return 42; });   // spawns handle
    auto plain_handle = weft::spawn([] { wait_as("plain handle"); });                  // spawns plain handle
    weft::thread plain([] { wait_as("ref"); });                                        // spawns ref
    auto group = weft::spawn_many({.pool = aside, .name = "group"}, 2, [] {});         // spawns group
    weft::task_group tasks;
    tasks.run({.pool = aside, .name = "task"}, [] {});   // spawns task
    weft::thread again({.name = "again"}, [] {});
    while (again.ref().state() != weft::unit_state::done) weft::this_thread::yield();
    again.ref().revive([](void*) { go_on.wait(); }, nullptr);   // spawns again

    std::vector<weft::thread> in_a_vector;
    for (const char* name : {"first", "second"}) in_a_vector.emplace_back([name] { wait_as(name); });

    weft::thread nothing;
    const weft::unit_ref ref = handle.ref();
    const weft::unit_id id = handle.get_id();
    const weft::thread& reference = tasklet.joinable() ? some.named_ : nothing;
    weft::pool fifo(weft::pool_kind::shared_fifo);
    const weft::scheduler scheduler(weft::scheduler_kind::basic, {fifo});
    weft::mutex free_mutex, held_mutex;
    weft::recursive_mutex recursive;
    weft::shared_mutex shared, written;
    weft::condition_variable condition;
    weft::event unset;
    weft::counting_semaphore semaphore(3);
    weft::latch latch(2);
    weft::barrier barrier(3);
    weft::channel<int> channel(4);
    channel.send(1);
    const std::lock_guard lock(held_mutex);
    const std::lock_guard again_locked(recursive);
    const std::shared_lock reads(shared);
    const std::lock_guard writes(written);
    weft::thread waits_for_mutex({.name = "for mutex"}, [&] { const std::lock_guard guard(held_mutex); });
    weft::thread waits_for_event([&] { unset.wait(); }), waits_for_event_too([&] { unset.wait(); });
    weft::thread waits_for_latch([&] { latch.wait(); });
    weft::thread waits_at_barrier([&] { barrier.arrive_and_wait(); });
    weft::thread waits_for_condition([&] {
        weft::mutex own;
        std::unique_lock guard(own);
        condition.wait(guard);
    });
    const auto waits = [](weft::unit_ref unit) { return unit.state() == weft::unit_state::suspended; };
    const auto all_wait = [&] {
        return waits(waits_for_mutex) && waits(waits_for_event) && waits(waits_for_event_too) &&
               waits(waits_for_latch) && waits(waits_at_barrier) && waits(waits_for_condition) && waits(again) &&
               waits(plain) && waits(plain_handle.ref()) && std::ranges::all_of(in_a_vector, waits);
    };
    while (!all_wait()) weft::this_thread::yield();
    everything_stands();

    const std::lock_guard at_last(free_mutex);   // so that they lie in memory
    semaphore.acquire();
    other.resume();
    go_on.set();
    held_mutex.unlock();
    unset.set();
    latch.count_down(2);
    while (waits_for_mutex.ref().state() != weft::unit_state::done) weft::this_thread::yield();
    held_mutex.lock();   // for the destructor of its guard
    condition.notify_one();
    static_cast<void>(barrier.arrive(2));
    return handle.join() == 42 && ref && id != weft::unit_id() && reference.joinable() && scheduler ? 0 : 2;
}
