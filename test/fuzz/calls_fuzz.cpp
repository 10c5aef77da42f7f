// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the C interface, legal and illegal, from three OS threads and the units that they spawn.
// An input is the configuration of the runtime and a program of calls for each of the three; what a
// unit does is a piece of the same bytes. Each call must return a status that its header names, no
// caller may wait forever, and in the end nothing is left: units, OS threads, descriptors,
// bindings.
#include <dirent.h>
#include <sched.h>

#include "test/fuzz/calls_rest.hpp"

using namespace weft_test;

namespace {

constexpr auto longest = std::chrono::seconds(12);   // for one input, which needs milliseconds

std::size_t entries(const char* folder) {
    DIR* open = opendir(folder);
    check(open != nullptr, "the folder can be read", folder);
    std::size_t count = 0;
    while (const dirent* entry = readdir(open)) count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

void show_unit(const weft_unit_info* info, void*) {
    if (info->state == WEFT_UNIT_DONE) return;
    weft_pool* pool = nullptr;
    weft_pool_kind kind{};
    std::size_t length = 0;
    weft_unit_pool_get(info->unit, &pool);
    weft_pool_kind_get(pool, &kind);
    weft_pool_length_get(pool, &length);
    std::fprintf(stderr, "unit %llu belongs to pool %p of kind %d and length %zu\n",
                 static_cast<unsigned long long>(info->id), static_cast<void*>(pool), static_cast<int>(kind), length);
}

[[noreturn]] void give_up() {
    std::fprintf(stderr, "somebody waits for ever:\n");
    weft_units_print(stderr);
    weft_unit_each(show_unit, nullptr);
    for (std::size_t rank = 0; rank < 32; ++rank) {
        weft_stream* stream = weft_stream_at(rank);
        weft_sched* sched = nullptr;
        if (stream == nullptr || weft_stream_sched_get(stream, &sched) != WEFT_OK) continue;
        std::fprintf(stderr, "stream %zu draws from", rank);
        std::size_t count = 0;
        weft_sched_pool_count_get(sched, &count);
        for (std::size_t i = 0; i < count; ++i) {
            weft_pool* pool = nullptr;
            weft_sched_pool_get(sched, i, &pool);
            std::fprintf(stderr, " %p", static_cast<void*>(pool));
        }
        std::fputc('\n', stderr);
    }
    std::abort();
}

// The janitor: resumes suspended units, again and again, and ends the process when an input takes
// too long.
void look_after(World& world) {
    const auto end = std::chrono::steady_clock::now() + longest;
    while (!world.over.load()) {
        {
            std::lock_guard guard(world.lock);
            const std::size_t count = std::min(world.recruited.load(), World::most_actors);
            for (std::size_t i = 0; i < count; ++i) {
                const Actor* actor = world.actors[i].load();
                weft_unit* unit = actor == nullptr ? nullptr : actor->parked;
                if (unit != nullptr)
                    expect(weft_unit_resume(unit), bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_unit_resume");
            }
            for (weft_stream* stream : world.pausable)
                expect(weft_stream_resume(stream), bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_stream_resume");
        }
        if (std::chrono::steady_clock::now() > end) give_up();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

weft_settings settings_of(Input& input) {
    constexpr weft_pool_kind pools[] = {WEFT_POOL_DEFAULT, WEFT_POOL_PRIVATE,  WEFT_POOL_SHARED,  WEFT_POOL_DEQUE,
                                        WEFT_POOL_LIFO,    WEFT_POOL_PRIORITY, WEFT_POOL_BLOCKING};
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 1 + input.below(3);
    settings.stack_bytes = 256 << 10;   // the calls that print need some stack
    settings.pool = pools[input.below(std::size(pools))];
    const std::uint8_t more = input.byte();
    constexpr weft_kind kinds[] = {WEFT_KIND_LSA, WEFT_KIND_FULL, WEFT_KIND_AUTO, WEFT_KIND_ROC,
                                   WEFT_KIND_SS,  WEFT_KIND_SC,   WEFT_KIND_AUTO, WEFT_KIND_DEFAULT};
    settings.kind = kinds[(more & 1) + (more >> 4 & 6)];
    settings.timing = (more & 2) != 0;
    settings.guard = (more & 4) != 0 ? WEFT_GUARD_CANARY : WEFT_GUARD_AUTO;
    settings.spin_ns = (more & 8) != 0 ? 1 : 0;
    if ((more & 16) != 0) settings.idle_memory_bytes = 1;
    settings.own_stacks = (more & 128) != 0;
    return settings;
}

void set_up(World& world, const weft_settings& settings) {
    expect(weft_key_create(unit_ends, &world.key), bit(WEFT_OK), "weft_key_create");
    for (const weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY}) {
        expect(weft_pool_create(kind, &world.pools.emplace_back()), bit(WEFT_OK), "weft_pool_create");
    }
    const weft_pool_ops ops = world.own_pool.ops(settings.own_stacks);
    expect(weft_pool_create_user(&ops, &world.own_pool, &world.pools.emplace_back()), bit(WEFT_OK),
           "weft_pool_create_user");
    weft_stream_options options{};
    options.size = sizeof options;
    expect(weft_sched_create(WEFT_SCHED_BASIC, world.pools.data(), world.pools.size(), &options.sched), bit(WEFT_OK),
           "weft_sched_create");
    weft_stream* last = nullptr;
    expect(weft_stream_create(&options, &last), bit(WEFT_OK), "weft_stream_create");
    for (std::size_t rank = 1; rank < settings.streams; ++rank) world.streams.push_back(weft_stream_at(rank));
    world.streams.push_back(last);
    world.pausable = world.streams;
    expect(weft_future_create(2, nullptr, nullptr, &world.future), bit(WEFT_OK), "weft_future_create");
    weft_channel_options channel{};
    channel.size = sizeof channel;
    channel.capacity = 2;
    expect(weft_channel_create(&channel, &world.channel), bit(WEFT_OK), "weft_channel_create");
    world.mutexes[1] = WEFT_MUTEX_RECURSIVE_INIT;
    expect(weft_semaphore_init(&world.semaphore, 1), bit(WEFT_OK), "weft_semaphore_init");
    expect(weft_latch_init(&world.latch, 3), bit(WEFT_OK), "weft_latch_init");
    expect(weft_barrier_init(&world.barrier, 2, nullptr, nullptr), bit(WEFT_OK), "weft_barrier_init");
}

// Units that every actor may use and only the stage frees.
void spawn_common(World& world, Input& input) {
    world.common.resize(2);
    Actor* bodies[2];
    for (Actor*& body : bodies) {   // before the first runs: it may recruit all that are left
        body = world.recruit(world.piece(input), Who::ult);
        body->pin();
    }
    // Spawned together: the first may name the second.
    expect(weft_unit_spawn_many(world.pools[input.below(2)], 2, unit_body, reinterpret_cast<void* const*>(bodies),
                                nullptr, world.common.data()),
           bit(WEFT_OK), "weft_unit_spawn_many");
}

// Cleans up after an actor that has ended, like all before it.
void clean_up_after(Actor& actor) {
    actor.who = Who::primary;
    actor.depth = 0;
    for (std::size_t slot = 0; slot < Actor::slots; ++slot) free_slot(actor, slot);
    free_stream(actor);
    const weft_status timer = weft_timer_cancel(&actor.timer);
    check(timer == WEFT_OK || timer == WEFT_WRONG_STATE, "weft_timer_cancel");
    if (actor.poller != nullptr) expect(weft_poller_unregister(actor.poller), bit(WEFT_OK), "weft_poller_unregister");
    if (actor.key != nullptr) expect(weft_key_free(actor.key), bit(WEFT_OK), "weft_key_free");
    if (actor.future != nullptr) expect(weft_future_free(actor.future), bit(WEFT_OK), "weft_future_free");
    if (actor.channel != nullptr) expect(weft_channel_free(actor.channel), bit(WEFT_OK), "weft_channel_free");
}

// Units may belong to the main pools of streams that have gone; new streams take those pools over.
class Heirs {
public:
    void look() {
        const auto now = std::chrono::steady_clock::now();
        if (now < next_ || streams_.size() == 16) return;
        next_ = now + std::chrono::milliseconds(20);
        weft_stream* stream = nullptr;
        expect(weft_stream_create(nullptr, &stream), bit(WEFT_OK), "weft_stream_create");
        streams_.push_back(stream);
    }
    void free() {
        for (weft_stream* stream : streams_)
            expect(weft_stream_join_free(stream), bit(WEFT_OK), "weft_stream_join_free");
    }

private:
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    std::vector<weft_stream*> streams_;
};

template <class Condition>
void until(Heirs& heirs, Condition condition) {
    while (!condition()) {
        expect(weft_unit_yield(), bit(WEFT_OK), "weft_unit_yield");
        heirs.look();
        std::this_thread::yield();
    }
}

bool ended(weft_unit* unit) { return unit == nullptr || weft_unit_try_join(unit) != WEFT_BUSY; }

// Ends all actors, in the order in which they came: an actor that spawned comes before what it
// spawned.
void wind_up(World& world, Heirs& heirs) {
    for (weft_unit* unit : world.common) until(heirs, [&] { return ended(unit); });
    for (std::size_t i = 0; i < std::min(world.recruited.load(), World::most_actors); ++i) {
        until(heirs, [&] { return world.actors[i].load() != nullptr; });   // it is being created
        Actor& actor = *world.actors[i].load();
        if (actor.fate.load() == Fate::detached) until(heirs, [&] { return actor.ended.load(); });
        for (weft_unit* unit : actor.units) until(heirs, [&] { return ended(unit); });
        clean_up_after(actor);
    }
    for (weft_unit* unit : world.common) expect(weft_unit_free(unit), bit(WEFT_OK), "weft_unit_free");
    heirs.free();
    for (weft_pool* pool : world.left) {
        until(heirs, [&] { return weft_pool_free(pool) == WEFT_OK; });
    }
    expect(weft_future_free(world.future), bit(WEFT_OK), "weft_future_free");
    expect(weft_channel_free(world.channel), bit(WEFT_OK), "weft_channel_free");
}

void run(World& world, Input& input, const weft_settings& settings) {
    set_up(world, settings);
    std::thread janitor([&world] { look_after(world); });
    const std::size_t share = input.left() / 3;
    Actor* all[3];
    all[0] = world.recruit(input.part(share), Who::primary);
    all[1] = world.recruit(input.part(share), Who::thread);
    all[2] = world.recruit(input.part(input.left()), Who::thread);
    Input choice = all[0]->program;
    spawn_common(world, choice);
    std::atomic<int> at_work{2};
    std::vector<std::thread> threads;
    for (int i = 1; i < 3; ++i) {
        threads.emplace_back([actor = all[i], &at_work] {
            act(*actor);
            at_work.fetch_sub(1);
        });
    }
    Heirs heirs;
    act(*all[0]);
    until(heirs, [&] { return at_work.load() == 0; });
    for (std::thread& thread : threads) thread.join();
    wind_up(world, heirs);
    world.over.store(true);
    janitor.join();
}

template <class Condition>
bool soon_holds(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    World world{Input(data, size)};
    nowhere();   // opened once
    expect(weft_unit_yield(), bit(WEFT_WRONG_CONTEXT), "weft_unit_yield without a runtime");
    expect(weft_ult_spawn(nullptr, unit_body, nullptr, nullptr, nullptr), bit(WEFT_NOT_INITIALIZED),
           "weft_ult_spawn without a runtime");
    const std::size_t threads = entries("/proc/self/task"), descriptors = entries("/proc/self/fd");
    cpu_set_t cpus, now;
    sched_getaffinity(0, sizeof cpus, &cpus);
    const weft_settings settings = settings_of(input);
    expect(weft_init(&settings), bit(WEFT_OK), "weft_init");
    run(world, input, settings);
    expect(weft_finalize(), bit(WEFT_OK), "weft_finalize");
    expect(weft_key_free(world.key), bit(WEFT_OK), "weft_key_free");
    check(world.own_pool.attached.load() == 0, "whoever came to a pool has left it");
    check(world.given.load() == world.released.load(), "what units were given is released");
    check(soon_holds([&] { return entries("/proc/self/task") <= threads; }), "no OS thread is left");
    check(entries("/proc/self/fd") == descriptors, "no descriptor is left");
    sched_getaffinity(0, sizeof now, &now);
    check(CPU_EQUAL(&cpus, &now), "the OS thread may run where it might before");
    return 0;
}
