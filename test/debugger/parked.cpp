// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program whose units stand in functions that gdb_test.py knows by name: the test stops it with a
// debugger, inspects it, and lets it end.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "weft/weft.h"

weft_mutex the_mutex = WEFT_MUTEX_INIT;
weft_event the_event = WEFT_EVENT_INIT;
weft_event child_is_there = WEFT_EVENT_INIT;
std::atomic<bool> go_on{false};
std::atomic<bool> is_busy{false};
std::atomic<int> came_back{0};
weft_unit* sleeper = nullptr;
weft_unit* busy = nullptr;

void must(weft_status status) {
    if (status == WEFT_OK) return;
    std::fprintf(stderr, "parked: %s\n", weft_error_text());
    std::exit(1);
}

// The debugger stops here; the second time on the stack of a tasklet.
[[gnu::noinline]] void everything_stands(int time) { asm volatile("" : : "r"(time) : "memory"); }

// Not inlined, and with work after the call, so that each call has a frame.
[[gnu::noinline]] void waits_until_resumed(int depth) {
    if (depth > 0) {
        waits_until_resumed(depth - 1);
    } else {
        must(weft_unit_suspend([](weft_unit* unit, void*) { sleeper = unit; }, nullptr));
    }
    came_back.fetch_add(1);
}
[[gnu::noinline]] void waits_for_the_mutex() {
    must(weft_mutex_lock(&the_mutex));
    must(weft_mutex_unlock(&the_mutex));
    came_back.fetch_add(1);
}
[[gnu::noinline]] void waits_for_the_event() {
    must(weft_event_wait_until(&the_event, weft_now_ns() + 3'600'000'000'000, nullptr));
    came_back.fetch_add(1);
}
[[gnu::noinline]] void waits_for_its_child() {
    weft_unit* child = nullptr;
    must(weft_ult_spawn(
        nullptr, [](void*) {}, nullptr, nullptr, &child));
    must(weft_unit_join_free(child));   // it leaves its stack as the spare one
    must(weft_ult_spawn(
        nullptr,
        [](void*) {
            must(weft_event_set(&child_is_there, nullptr));
            waits_for_the_event();
        },
        nullptr, nullptr, &child));
    must(weft_unit_join_free(child));   // nothing else is ready: the child is called on that stack
    came_back.fetch_add(1);
}
thread_local int own_number = 0;
[[gnu::noinline]] void waits_as_a_thread() {
    own_number = 42;
    must(weft_event_wait(&the_event, nullptr));
    came_back.fetch_add(own_number == 42 ? 1 : 0);
}
[[gnu::noinline]] void works() {
    is_busy = true;
    while (!go_on) {}
    came_back.fetch_add(1);
}
[[gnu::noinline]] void has_not_started(void*) { came_back.fetch_add(1); }

bool has_slept(std::size_t rank) {
    std::uint64_t times = 0;
    must(weft_counter_read(("/streams{stream#" + std::to_string(rank) + "}/count/slept").c_str(), &times));
    return times != 0;
}

void spawn(const char* name, void (*body)(void*), weft_unit** unit, weft_pool* pool = nullptr,
           weft_kind kind = WEFT_KIND_DEFAULT) {
    weft_unit_options options{};
    options.size = sizeof options;
    options.name = name;
    options.kind = kind;
    must(weft_ult_spawn(pool, body, nullptr, &options, unit));
}

int main() {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 4;
    settings.pool = WEFT_POOL_PRIVATE;
    settings.spin_ns = 1;
    must(weft_init(&settings));
    must(weft_mutex_lock(&the_mutex));
    must(weft_stream_suspend(weft_stream_at(3)));

    weft_unit* units[6] = {};
    spawn(
        "suspended", [](void*) { waits_until_resumed(2); }, &units[0]);
    spawn(
        "on_mutex", [](void*) { waits_for_the_mutex(); }, &units[1]);
    spawn(
        "on_event", [](void*) { waits_for_the_event(); }, &units[2]);
    spawn(
        "hosted", [](void*) { waits_as_a_thread(); }, &units[5], nullptr, WEFT_KIND_HOSTED);
    for (int i = 0; i < 4; ++i) must(weft_unit_yield());
    spawn(
        "on_child", [](void*) { waits_for_its_child(); }, &units[3]);
    must(weft_event_wait(&child_is_there, nullptr));
    weft_pool* other = nullptr;
    must(weft_stream_pool_get(weft_stream_at(1), &other));
    spawn(
        "busy", [](void*) { works(); }, &busy, other);
    while (!is_busy) must(weft_unit_yield());
    char cpus[1024];
    // the call waits until the stream's OS thread has started
    must(weft_stream_binding_get(weft_stream_at(3), cpus, sizeof cpus));
    weft_hart_use use{};
    use.size = sizeof use;
    do must(weft_hart_use_get(&use));
    while (use.granted != 2 || !has_slept(2));
    spawn("unstarted", has_not_started, &units[4]);
    everything_stands(1);

    // A tasklet that is the next to run; the primary unit is suspended meanwhile.
    weft_unit* tasklet = nullptr;
    must(weft_tasklet_spawn(
        nullptr,
        [](void*) {
            everything_stands(2);
            came_back.fetch_add(1);
        },
        nullptr, nullptr, &tasklet));
    must(weft_unit_join_free(tasklet));

    go_on = true;
    must(weft_mutex_unlock(&the_mutex));
    must(weft_unit_resume(sleeper));
    must(weft_event_set(&the_event, nullptr));
    must(weft_unit_join_free_many(units, 6));
    must(weft_unit_join_free(busy));
    must(weft_stream_resume(weft_stream_at(3)));
    must(weft_finalize());
    std::printf("%d came back\n", came_back.load());
    return came_back == 11 ? 0 : 2;
}
