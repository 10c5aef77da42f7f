// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hostile.py runs this program under conditions in which calls fail or take long: rounds of
// starting the runtime, using all of it, and stopping it. A status that reports an exhausted
// resource is accepted; everything created until then is cleaned up. At the end nothing may be
// left: units, stacks, OS threads, descriptors, mappings. The program's own memory is static: where
// memory is short, it is Weft that must cope.
//
//   hostile_workload ROUNDS STREAMS [storm]   storm: signals hold up the OS threads for 50 ms each
//   hostile_workload size                     prints the bytes of address space at its start
#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/config.hpp"
#include "weft/weft.h"

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr int most_units = 600;

// How many calls did not get the resource they needed.
std::atomic<int> no_memory{0}, no_system{0};
int done = 0;   // rounds that began

[[noreturn]] void fail(const char* what, weft_status status) {
    std::printf("failed: %s returned %s: %s\n", what, weft_status_name(status), weft_error_text());
    weft_units_print(stdout);
    std::fflush(stdout);
    std::abort();
}

// Returns true if the call succeeded, false if it lacked a resource.
bool got(const char* what, weft_status status) {
    if (status == WEFT_OK) return true;
    if (status == WEFT_NO_MEMORY) {
        no_memory.fetch_add(1);
    } else if (status == WEFT_SYSTEM) {
        no_system.fetch_add(1);
    } else {
        fail(what, status);
    }
    return false;
}

void must(const char* what, weft_status status) {
    if (status != WEFT_OK) fail(what, status);
}

// Joins and frees the unit. Returns false if it has not run for lack of a resource.
bool ran_to_its_end(weft_unit* unit) {
    const weft_status status = weft_unit_join_free(unit);
    if (status == WEFT_OK) return true;
    if (status != WEFT_NOT_RETURNED) fail("weft_unit_join_free", status);
    weft_unit_outcome outcome{};
    must("weft_unit_outcome_get", weft_unit_outcome_get(unit, &outcome));
    if (outcome == WEFT_OUTCOME_NO_STACK) {
        no_memory.fetch_add(1);
    } else if (outcome == WEFT_OUTCOME_NO_PTHREAD) {
        no_system.fetch_add(1);
    } else {
        fail("weft_unit_join_free", status);
    }
    must("weft_unit_free", weft_unit_free(unit));
    return false;
}

std::uint64_t later(std::uint64_t span) { return weft_now_ns() + span; }

// ---- what is left -------------------------------------------------------------------------------

struct Left {
    long mappings = 0, descriptors = 0, threads = 0;
};

long entries(const char* folder) {
    DIR* open = opendir(folder);
    if (open == nullptr) return -1;   // no descriptor is available, so nothing is learnt
    long count = 0;
    while (const dirent* entry = readdir(open)) count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

long mappings() {
    std::FILE* file = std::fopen("/proc/self/maps", "re");
    if (file == nullptr) return -1;
    static char line[8192];
    long count = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) ++count;
    std::fclose(file);
    return count;
}

// OS threads that were joined stay visible a little longer.
Left look(const Left& before) {
    Left now;
    for (int i = 0; i < 1000; ++i) {
        now.threads = entries("/proc/self/task");
        if (now.threads <= before.threads || before.threads <= 0) break;
        usleep(1000);
    }
    now.descriptors = entries("/proc/self/fd");
    now.mappings = mappings();
    return now;
}

// ---- what a round does --------------------------------------------------------------------------

weft_unit* units[most_units];

// Spawns hundreds of units: those that could be spawned are joined and freed, whatever happened to
// them.
int spawn(int count, void (*body)(void*), void* argument, const weft_unit_options* options = nullptr) {
    int made = 0;
    for (int i = 0; i < count; ++i) {
        weft_stream* stream = weft_stream_at(static_cast<std::size_t>(i) % weft_stream_count());
        weft_pool* pool = nullptr;
        if (stream != nullptr) must("weft_stream_pool_get", weft_stream_pool_get(stream, &pool));
        if (got("weft_ult_spawn", weft_ult_spawn(pool, body, argument, options, &units[made]))) ++made;
    }
    return made;
}

// Returns how many of them ran.
int join(int made) {
    int ran = 0;
    for (int i = 0; i < made; ++i) ran += ran_to_its_end(units[i]);
    return ran;
}

void spawn_and_join() {
    static std::atomic<int> count;
    count = 0;
    const int ran = join(spawn(
        200,
        [](void*) {
            must("weft_unit_yield", weft_unit_yield());
            count.fetch_add(1);
        },
        nullptr));
    if (count.load() != ran) fail("a unit ran that was said not to have, or the other way round", WEFT_OK);
}

void suspend_many() {
    static std::atomic<int> asleep, up;
    asleep = 0, up = 0;
    const int made = spawn(
        most_units,
        [](void*) {
            asleep.fetch_add(1);
            must("weft_unit_suspend", weft_unit_suspend(nullptr, nullptr));
            up.fetch_add(1);
        },
        nullptr);
    // In the order in which they fall asleep: a unit that waits for a stack may get it only after
    // others have woken and ended. A unit that got no stack ends without having slept.
    for (int left = made; left > 0;) {
        left = 0;
        for (int i = 0; i < made; ++i) {
            weft_unit_resume(units[i]);
            left += weft_unit_try_join(units[i]) == WEFT_BUSY;
        }
        must("weft_unit_yield", weft_unit_yield());
    }
    join(made);
    if (asleep.load() != up.load()) fail("not all that slept woke", WEFT_OK);
}

[[gnu::noinline]] int recurse(int depth) {
    volatile char room[4096];
    room[0] = static_cast<char>(depth);
    const int below = depth == 0 ? 0 : recurse(depth - 1);
    return below + room[0];
}

void grow_stacks() {
    weft_unit_options options{};
    options.size = sizeof options;
    options.stack_bytes = 512 << 10;
    options.kind = WEFT_KIND_FULL;
    join(spawn(
        20,
        [](void*) {
            recurse(60);
            must("weft_unit_yield", weft_unit_yield());
        },
        nullptr, &options));
}

void synchronize() {
    static weft_mutex mutex;
    static weft_semaphore semaphore;
    static int inside;
    mutex = WEFT_MUTEX_INIT, inside = 0;
    must("weft_semaphore_init", weft_semaphore_init(&semaphore, 2));
    join(spawn(
        60,
        [](void*) {
            must("weft_semaphore_acquire", weft_semaphore_acquire(&semaphore));
            must("weft_mutex_lock", weft_mutex_lock(&mutex));
            if (++inside != 1) fail("two are in the lock", WEFT_OK);
            must("weft_unit_yield", weft_unit_yield());
            --inside;
            must("weft_mutex_unlock", weft_mutex_unlock(&mutex));
            must("weft_semaphore_release", weft_semaphore_release(&semaphore, 1));
        },
        nullptr));
    weft_future* future = nullptr;
    weft_channel* channel = nullptr;
    if (got("weft_future_create", weft_future_create(1, nullptr, nullptr, &future))) {
        const weft_status status = weft_future_wait_until(future, later(ms), nullptr);
        if (status != WEFT_TIMED_OUT) fail("weft_future_wait", status);
        must("weft_future_free", weft_future_free(future));
    }
    if (got("weft_channel_create", weft_channel_create(nullptr, &channel))) {
        void* element = nullptr;
        const weft_status status = weft_channel_receive_until(channel, later(ms / 4), &element);
        if (status != WEFT_TIMED_OUT) fail("weft_channel_receive", status);
        must("weft_channel_free", weft_channel_free(channel));
    }
}

void wait_for_time() {
    static weft_timer timer;
    static std::atomic<int> fired;
    fired = 0;
    std::memset(&timer, 0, sizeof timer);
    must("weft_timer_start", weft_timer_start(
                                 &timer, [](void*) { fired.fetch_add(1); }, nullptr, later(ms)));
    join(spawn(
        30, [](void*) { must("weft_sleep_for", weft_sleep_for(ms / 2)); }, nullptr));
    if (weft_timer_cancel(&timer) != WEFT_OK) {
        while (fired.load() == 0) must("weft_unit_yield", weft_unit_yield());
    }
}

void block() {
    join(spawn(
        10, [](void*) { got("weft_blocking", weft_blocking([](void*) { usleep(500); }, nullptr)); }, nullptr));
    got("weft_blocking", weft_blocking([](void*) { usleep(100); }, nullptr));
    must("weft_on_stream_stack", weft_on_stream_stack([](void*) { recurse(20); }, nullptr));
}

void poll() {
    static std::atomic<int> calls;
    calls = 0;
    auto look = [](void*) { return calls.fetch_add(1) < 0; };
    weft_poller* poller = nullptr;
    if (got("weft_poller_register", weft_poller_register(look, nullptr, nullptr, &poller))) {
        while (calls.load() == 0) must("weft_unit_yield", weft_unit_yield());
        must("weft_poller_unregister", weft_poller_unregister(poller));
    }
    const int descriptor = eventfd(1, EFD_CLOEXEC);
    if (descriptor < 0) return;
    weft_poller_hint hint{};
    hint.size = sizeof hint;
    hint.has_descriptor = true;
    hint.descriptor = descriptor;
    if (got("weft_poller_register", weft_poller_register(look, nullptr, &hint, &poller))) {
        must("weft_sleep_for", weft_sleep_for(ms / 4));
        must("weft_poller_unregister", weft_poller_unregister(poller));
    }
    close(descriptor);
}

void come_and_go() {
    weft_stream* streams[4] = {};
    for (weft_stream*& stream : streams) {
        if (!got("weft_stream_create", weft_stream_create(nullptr, &stream))) stream = nullptr;
    }
    spawn_and_join();
    for (weft_stream* stream : streams) {
        if (stream != nullptr) must("weft_stream_join_free", weft_stream_join_free(stream));
    }
    weft_key* key = nullptr;
    if (!got("weft_key_create", weft_key_create(nullptr, &key))) return;
    join(spawn(
        20, [](void* under) { got("weft_local_set", weft_local_set(static_cast<weft_key*>(under), under)); }, key));
    must("weft_key_free", weft_key_free(key));
    weft_pool* pool = nullptr;
    weft_sched* sched = nullptr;
    if (!got("weft_pool_create", weft_pool_create(WEFT_POOL_SHARED, &pool))) return;
    if (got("weft_sched_create", weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched)))
        must("weft_sched_free", weft_sched_free(sched));
    must("weft_pool_free", weft_pool_free(pool));
}

// Calls from an OS thread that is no stream.
void call_from_outside() {
    auto body = [] {
        weft_unit* unit = nullptr;
        if (got("weft_ult_spawn", weft_ult_spawn(
                                      nullptr, [](void*) {}, nullptr, nullptr, &unit)))
            ran_to_its_end(unit);
    };
    static std::atomic<bool> over;
    over = false;
    try {
        std::thread outside([&] {
            body();
            over = true;
        });
        while (!over.load()) must("weft_unit_yield", weft_unit_yield());
        outside.join();
    } catch (const std::system_error&) {
        no_system.fetch_add(1);   // ours, not Weft's
    } catch (const std::bad_alloc&) {
        no_memory.fetch_add(1);
    }
}

void check_counters() {
    std::size_t alive = 0;
    must("weft_unit_each",
         weft_unit_each([](const weft_unit_info*, void* count) { ++*static_cast<std::size_t*>(count); }, &alive));
    if (alive != 1) fail("units are left", WEFT_OK);
    std::uint64_t own = 0, stacks = 99;
    // A stream that is held up for long is rescued: a carrier may be about to start meanwhile, or
    // be refused, and is not counted yet.
    for (int looks = 0; stacks > own && looks < 2000; ++looks) {
        if (looks != 0) must("weft_sleep_for", weft_sleep_for(1'000'000));
        std::uint64_t carriers = 0;
        must("weft_counter_read", weft_counter_read("/stacks/count/live", &stacks));
        must("weft_counter_read", weft_counter_read("/harts/count/carriers", &carriers));
        own = (weft_stream_count() + carriers) * 2;   // two per stream: its scheduler's stack, and a spare one
    }
    if (stacks > own) {
        std::printf("%llu stacks are in use, and %llu may be\n", static_cast<unsigned long long>(stacks),
                    static_cast<unsigned long long>(own));
        fail("stacks are left", WEFT_OK);
    }
}

void use_everything() {
    spawn_and_join();
    synchronize();
    suspend_many();
    grow_stacks();
    wait_for_time();
    block();
    poll();
    come_and_go();
    call_from_outside();
    check_counters();
}

void round(std::size_t streams, bool short_one) {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = streams;
    if (!got("weft_init", weft_init(&settings))) return;
    ++done;
    if (!short_one) use_everything();
    must("weft_finalize", weft_finalize());
}

// ---- signals that hold threads up ---------------------------------------------------------------

void hold_up(int) {
    const int error = errno;
    timespec span{0, 50'000'000};
    while (nanosleep(&span, &span) != 0) {}
    errno = error;
}

// Signals every OS thread of the process but the caller, one after another, for the life of the
// process.
void storm() {
    struct sigaction action {};
    action.sa_handler = hold_up;
    sigaction(SIGUSR1, &action, nullptr);
    std::thread([] {
        const pid_t self = static_cast<pid_t>(syscall(SYS_gettid));
        for (;;) {
            usleep(20'000);
            DIR* open = opendir("/proc/self/task");
            while (const dirent* entry = open == nullptr ? nullptr : readdir(open)) {
                const pid_t thread = std::atoi(entry->d_name);
                if (thread <= 0 || thread == self) continue;
                syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
                usleep(60'000);
            }
            if (open != nullptr) closedir(open);
        }
    }).detach();
}

void print_size() {
    unsigned long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) std::exit(1);
    std::printf("%lu\n", pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)));
}

// Returns true if the number of mappings keeps growing. `first` is the maximum in the first quarter
// of the rounds, `last` the minimum in the last.
bool many_rounds(int rounds, std::size_t streams, bool storms, const Left& before, long& first, long& last) {
    first = 0, last = 1L << 40;
    for (int i = 0; i < rounds; ++i) {
        round(streams, i % 2 != 0);
        const Left now = look(before);
        if (before.threads > 0 && now.threads > before.threads) fail("OS threads are left", WEFT_OK);
        // The storm's thread has a descriptor at times.
        if (!storms && before.descriptors > 0 && now.descriptors > before.descriptors)
            fail("descriptors are left", WEFT_OK);
        if (i < rounds / 4) first = std::max(first, now.mappings);
        if (i >= rounds - rounds / 4) last = std::min(last, now.mappings);
    }
    return last > first && !weft::config::address_sanitizer;   // which maps memory for itself
}

}   // namespace

int main(int count, char** arguments) {
    mallopt(M_ARENA_MAX, 1);   // one heap, so that the mappings can be compared
    if (count > 1 && std::strcmp(arguments[1], "size") == 0) return print_size(), 0;
    if (count < 3) return std::fputs("usage: hostile_workload ROUNDS STREAMS [storm]\n", stderr), 2;
    const int rounds = std::max(8, std::atoi(arguments[1]));
    const auto streams = static_cast<std::size_t>(std::atoi(arguments[2]));
    if (count > 3) storm();
    for (int i = 0; i < 2; ++i) round(streams, false);   // so that the C library has allocated what it keeps
    const Left before = look({});
    // What the C library keeps of its threads settles after a while; a leak continues in each block
    // of rounds.
    bool leaks = true;
    long first = 0, last = 0;
    for (int block = 0; block < 4 && leaks; ++block) {
        leaks = many_rounds(rounds, streams, count > 3, before, first, last);
    }
    std::printf("%d rounds began; refused for want of memory %d, by the system %d; mappings %ld, then %ld\n", done,
                no_memory.load(), no_system.load(), first, last);
    if (leaks) {
        std::printf("failed: mappings are left in each round\n");
        return 1;
    }
    return 0;
}
