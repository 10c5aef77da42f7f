// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenMP in Weft units of each kind, wherever they run: to OpenMP each unit is a thread of its own.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include <weft/weft.h>
#include <weft/weft.hpp>

#include "check.h"

namespace {

constexpr weft_kind ult_kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA,  WEFT_KIND_ROC,   WEFT_KIND_SS,
                                   WEFT_KIND_SC,   WEFT_KIND_AUTO, WEFT_KIND_HOSTED};

void is_alone() {
    EQUAL(omp_get_level(), 0);
    EQUAL(omp_get_active_level(), 0);
    EQUAL(omp_get_thread_num(), 0);
    EQUAL(omp_get_num_threads(), 1);
    CHECK(!omp_in_parallel());
}

void yield() { weft_unit_yield(); }

// A region of so many threads, which sees nothing of any other unit.
void one_region(int threads, bool yields) {
    std::atomic<int> came{0}, singles{0};
    int sum = 0, in_critical = 0;
    void* const who = weft_unit_self();
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        EQUAL(omp_get_num_threads(), threads);
        EQUAL(omp_get_level(), 1);
        EQUAL(omp_in_parallel(), threads > 1);
        if (omp_get_thread_num() == 0 && who != nullptr) CHECK(weft_unit_self() == who);
        ++came;
        if (yields) yield();
#pragma omp single
        ++singles;
        EQUAL(came, threads);
        sum += omp_get_thread_num();
#pragma omp critical(in_units)
        {
            const int before = in_critical;
            if (yields) yield();
            in_critical = before + 1;
        }
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; ++i) sum += 1;
    }
    EQUAL(sum, threads * (threads - 1) / 2 + 10);
    EQUAL(singles, 1);
    EQUAL(in_critical, threads);
    is_alone();
}

void nested_regions(int threads) {
    std::atomic<int> came{0};
#pragma omp parallel num_threads(threads)
#pragma omp parallel num_threads(2)
    {
        EQUAL(omp_get_level(), 2);
        EQUAL(omp_get_team_size(1), threads);
        EQUAL(omp_get_num_threads(), 2);
        ++came;
    }
    EQUAL(came, 2 * threads);
}

void tasks(int threads) {
    std::atomic<int> ran{0};
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < 20; ++i) {
#pragma omp task
        ++ran;
    }
    EQUAL(ran, 20);
#pragma omp task shared(ran)
    ++ran;
#pragma omp taskwait
    EQUAL(ran, 21);
}

// What a unit sets is its own, across its waits, too.
void control_variables(int mine, bool yields) {
    omp_set_num_threads(mine);
    omp_set_max_active_levels(3);
    if (yields) yield();
    EQUAL(omp_get_max_threads(), mine);
    std::atomic<int> came{0};
#pragma omp parallel
    ++came;
    EQUAL(came, mine);
    if (yields) yield();
    EQUAL(omp_get_max_threads(), mine);
}

struct NestLock {
    omp_nest_lock_t lock;
    NestLock() { omp_init_nest_lock(&lock); }
    ~NestLock() { omp_destroy_nest_lock(&lock); }
};
NestLock shared_lock;
int under_lock;

// A unit holds the lock across its waits, and no other unit counts as its owner.
void locks(bool yields) {
    omp_set_nest_lock(&shared_lock.lock);
    const int before = under_lock;
    EQUAL(omp_test_nest_lock(&shared_lock.lock), 2);
    if (yields) yield();
    omp_unset_nest_lock(&shared_lock.lock);
    CHECK(under_lock == before);
    under_lock = before + 1;
    omp_unset_nest_lock(&shared_lock.lock);
}

void meet_openmp(int number, bool yields) {
    is_alone();
    const int threads = 1 + number % 3;
    control_variables(1 + number % 2, yields);
    one_region(threads, yields);
    if (yields) yield();
    nested_regions(threads);
    locks(yields);
    tasks(threads);
    one_region(2, yields);
    is_alone();
}

// ---- the callers --------------------------------------------------------------------------------

std::atomic<int> numbers{0}, done{0};

void unit_body(void*) {
    meet_openmp(numbers++, true);
    ++done;
}

void in_units_of(weft_kind kind, bool child_first) {
    constexpr int count = 8;
    weft_unit* units[count];
    weft_unit_options options{};
    options.size = sizeof options;
    options.kind = kind;
    options.child_first = child_first;
    done = 0;
    for (weft_unit*& unit : units) CHECK(weft_ult_spawn(nullptr, unit_body, nullptr, &options, &unit) == WEFT_OK);
    meet_openmp(numbers++, true);
    for (weft_unit* unit : units) CHECK(weft_unit_join_free(unit) == WEFT_OK);
    EQUAL(done, count);
}

void in_every_kind() {
    for (const weft_kind kind : ult_kinds) {
        in_units_of(kind, false);
        if (kind != WEFT_KIND_SS && kind != WEFT_KIND_SC && kind != WEFT_KIND_AUTO) in_units_of(kind, true);
    }
}

// A tasklet cannot wait: its teams have one thread.
void tasklet_body(void*) {
    is_alone();
    int came = 0;
#pragma omp parallel num_threads(4)
    {
        EQUAL(omp_get_num_threads(), 1);
        EQUAL(omp_get_level(), 1);
#pragma omp critical(in_units)
        ++came;
#pragma omp task shared(came)
        ++came;
    }
    EQUAL(came, 2);
    omp_set_num_threads(7);
    EQUAL(omp_get_max_threads(), 7);
    ++done;
}

void in_tasklets() {
    weft_unit* units[10];
    done = 0;
    for (weft_unit*& unit : units) CHECK(weft_tasklet_spawn(nullptr, tasklet_body, nullptr, nullptr, &unit) == WEFT_OK);
    for (weft_unit* unit : units) CHECK(weft_unit_join_free(unit) == WEFT_OK);
    EQUAL(done, 10);
}

void in_members_of_spmd() {
    done = 0;
    CHECK(weft_spmd(
              4,
              [](void*) {
                  for (int i = 0; i < 5; ++i) meet_openmp(numbers++, true);
                  ++done;
              },
              nullptr) == WEFT_OK);
    EQUAL(done, 4);
}

void in_bodies_of_algorithms() {
    std::atomic<int> ran{0};
    weft::parallel_for(0, 40, [&](int i) {
        meet_openmp(i, i % 2 == 0);
        ++ran;
    });
    EQUAL(ran, 40);
    weft::invoke(
        [&] {
            meet_openmp(1, true);
            ++ran;
        },
        [&] {
            meet_openmp(2, true);
            ++ran;
        });
    EQUAL(ran, 42);
    weft::task_group group;
    for (int i = 0; i < 6; ++i)
        group.run([&, i] {
            meet_openmp(i, true);
            ++ran;
        });
    group.wait();
    EQUAL(ran, 48);
}

void in_an_arena() {
    weft_arena* arena = nullptr;
    CHECK(weft_arena_create(2, &arena) == WEFT_OK);
    done = 0;
    CHECK(weft_arena_execute(
              arena,
              [](void*) {
                  weft::parallel_for(0, 20, [](int i) {
                      meet_openmp(i, false);
                      ++done;
                  });
              },
              nullptr) == WEFT_OK);
    EQUAL(done, 20);
    CHECK(weft_arena_free(arena) == WEFT_OK);
}

void in_guests() {
    std::atomic<int> over{0};
    std::vector<std::thread> guests;
    for (int i = 0; i < 3; ++i) {
        guests.emplace_back([i, &over] {
            meet_openmp(i, false);
            CHECK(weft_guest_enter() == WEFT_OK);
            meet_openmp(i, true);
            weft_unit* unit = nullptr;
            CHECK(weft_ult_spawn(nullptr, unit_body, nullptr, nullptr, &unit) == WEFT_OK);
            meet_openmp(i, true);
            CHECK(weft_unit_join_free(unit) == WEFT_OK);
            CHECK(weft_guest_leave() == WEFT_OK);
            meet_openmp(i, false);
            ++over;
        });
    }
    while (over != 3) yield();   // what they spawn runs here
    for (std::thread& guest : guests) guest.join();
}

void stay_in_region(int error) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        weft_stream* const here = weft_stream_self();
        errno = error;
        int* const address = &errno;
        yield();
        CHECK(weft_stream_self() == here);
        CHECK(address == &errno);
        EQUAL(errno, error);
    }
}

void migrate(void*) {
    omp_set_num_threads(3);
    for (int i = 0; i < 10; ++i) {
        CHECK(weft_unit_migrate_to_stream(weft_unit_self(), weft_stream_at(static_cast<std::size_t>(i % 2))) !=
              WEFT_NO_MEMORY);
        stay_in_region(i + 1);
        EQUAL(omp_get_max_threads(), 3);
        yield();
    }
}

// Its regions begin on one stream and on the other, never in between.
void in_a_unit_that_migrates() {
    if (weft_stream_at(1) == nullptr) return;
    weft_unit* unit = nullptr;
    CHECK(weft_ult_spawn(nullptr, migrate, nullptr, nullptr, &unit) == WEFT_OK);
    CHECK(weft_unit_join_free(unit) == WEFT_OK);
}

// A member that has entered another domain meets the rest of its team there.
struct Meeting {
    std::atomic<int> came{0};
    int threads;
};
void meet_in_arena(void* raw) {
    auto& meeting = *static_cast<Meeting*>(raw);
    ++meeting.came;
#pragma omp barrier
    EQUAL(meeting.came % meeting.threads, 0);
    EQUAL(omp_get_num_threads(), meeting.threads);
#pragma omp barrier
}

void members_in_arenas() {
    weft_arena* arena = nullptr;
    CHECK(weft_arena_create(2, &arena) == WEFT_OK);
    for (const int threads : {2, 8}) {
        Meeting meeting{0, threads};
#pragma omp parallel num_threads(threads)
        for (int i = 0; i < 20; ++i) CHECK(weft_arena_execute(arena, meet_in_arena, &meeting) == WEFT_OK);
        EQUAL(meeting.came, 20 * threads);
    }
    CHECK(weft_arena_free(arena) == WEFT_OK);
}

// A region in what a scheduler of the program picks, or runs.
std::atomic<int> own_regions{0};
void region_of_own() {
    int threads = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp single
        threads = omp_get_num_threads();
    }
    if (threads == 1) ++own_regions;
}
weft_unit* pick(void* raw, weft_sched*) {
    region_of_own();
    weft_unit* unit = nullptr;
    CHECK(weft_pool_pop(static_cast<weft_pool*>(raw), &unit) == WEFT_OK);
    return unit;
}

void in_a_pushed_scheduler() {
    weft_pool* pool = nullptr;
    weft_pool* main = nullptr;
    weft_sched* sched = nullptr;
    weft_unit* units[6];
    weft_unit* of_sched = nullptr;
    weft_sched_ops ops{};
    ops.size = sizeof ops;
    ops.pick = pick;
    CHECK(weft_pool_create(WEFT_POOL_SHARED, &pool) == WEFT_OK);
    CHECK(weft_sched_create_user(&ops, pool, &pool, 1, &sched) == WEFT_OK);
    CHECK(weft_stream_pool_get(weft_stream_at(0), &main) == WEFT_OK);
    own_regions = 0;
    for (weft_unit*& unit : units) CHECK(weft_ult_spawn(pool, unit_body, nullptr, nullptr, &unit) == WEFT_OK);
    CHECK(weft_sched_push(sched, main, nullptr, &of_sched) == WEFT_OK);
    for (weft_unit* unit : units) CHECK(weft_unit_join_free(unit) == WEFT_OK);
    weft_status status = WEFT_OK;
    while ((status = weft_unit_join_free(of_sched)) == WEFT_WRONG_STATE) yield();   // it runs the caller
    CHECK(status == WEFT_OK);
    CHECK(own_regions > 0);
    CHECK(weft_pool_free(pool) == WEFT_OK);
}

// Many units, one after the other: the members of one unit serve the next.
void team_pools_come_from_a_pool() {
    std::uint64_t before = 0, after = 0;
    for (int i = 0; i < 500; ++i) {
        weft_unit* unit = nullptr;
        CHECK(weft_ult_spawn(
                  nullptr, [](void*) { one_region(2, false); }, nullptr, nullptr, &unit) == WEFT_OK);
        CHECK(weft_unit_join_free(unit) == WEFT_OK);
        if (i == 0) CHECK(weft_counter_read("/openmp/count/members", &before) == WEFT_OK);
    }
    CHECK(weft_counter_read("/openmp/count/members", &after) == WEFT_OK);
    EQUAL(after, before);
}

// Even where all of the units live on, between two of their regions.
void waiting_units_hold_no_members() {
    constexpr int count = 200;
    static std::atomic<int> met{0};
    static std::atomic<bool> over{false};
    met = 0;
    over = false;
    weft_unit* units[count];
    std::uint64_t before = 0, after = 0;
    CHECK(weft_counter_read("/openmp/count/members", &before) == WEFT_OK);
    for (int i = 0; i < count; ++i) {
        CHECK(weft_ult_spawn(
                  nullptr,
                  [](void*) {
                      one_region(2, false);
                      ++met;
                      while (!over) yield();
                      is_alone();
                  },
                  nullptr, nullptr, &units[i]) == WEFT_OK);
        while (met != i + 1) yield();   // one at a time is in a region
    }
    CHECK(weft_counter_read("/openmp/count/members", &after) == WEFT_OK);
    CHECK(after - before <= 2);
    over = true;
    for (weft_unit* unit : units) CHECK(weft_unit_join_free(unit) == WEFT_OK);
}

void spawn_all(std::vector<weft_unit*>& units, void (*body)(void*)) {
    for (weft_unit*& unit : units) CHECK(weft_ult_spawn(nullptr, body, nullptr, nullptr, &unit) == WEFT_OK);
    for (weft_unit* unit : units) CHECK(weft_unit_join_free(unit) == WEFT_OK);
}

// Streams begin regions faster than harts reach their members, and each new member takes a system
// thread.
void units_at_once_share_few_members() {
    std::vector<weft_unit*> units(1000 + 50 * weft_hart_limit());
    std::uint64_t before = 0, after = 0;
    CHECK(weft_counter_read("/openmp/count/members", &before) == WEFT_OK);
    spawn_all(units, [](void*) { one_region(2, false); });
    CHECK(weft_counter_read("/openmp/count/members", &after) == WEFT_OK);
    CHECK(after - before < units.size() / 4);
}

// Members that yield until other units' regions have begun are ready all the time, and those
// regions begin.
void units_at_once_may_wait_for_each_other() {
    static std::atomic<std::size_t> begun{0};
    static std::size_t all = 0;
    begun = 0;
    all = 20 + 8 * weft_hart_limit();
    std::vector<weft_unit*> units(all);
    spawn_all(units, [](void*) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0) ++begun;
            while (begun != all) yield();
        }
    });
    EQUAL(begun, all);
}

// Members use what lies on thread 0's stack.
void a_unit_ends_after_its_region(weft_kind kind) {
    static std::atomic<bool> in{false}, asked{false}, refused{false};
    static std::atomic<int> ran{0}, done{0};
    in = asked = refused = false;
    ran = done = 0;
    weft_unit_options options{};
    options.size = sizeof options;
    options.kind = kind;
    const auto body = [](void*) {
#pragma omp parallel num_threads(3)
        {
            in = true;
            if (omp_get_thread_num() != 0) {
                while (!asked) yield();
                for (int i = 0; i < 20; ++i) yield();   // thread 0 waits at the region's end
            }
#pragma omp critical(in_units)
            yield();
            if (omp_get_thread_num() == 0 && weft_unit_exit() == WEFT_WRONG_STATE) refused = true;
            ++ran;
        }
        ++done;
        yield();
        ++done;
    };
    weft_unit* unit = nullptr;
    CHECK(weft_ult_spawn(nullptr, body, nullptr, &options, &unit) == WEFT_OK);
    while (!in) yield();
    CHECK(weft_unit_cancel(unit) == WEFT_OK);
    asked = true;
    EQUAL(weft_unit_join_free(unit), WEFT_NOT_RETURNED);
    EQUAL(weft_unit_free(unit), WEFT_OK);
    EQUAL(ran, 3);
    EQUAL(done, 1);
    CHECK(refused);
}

void everything() {
    meet_openmp(2, true);
    in_every_kind();
    in_tasklets();
    in_members_of_spmd();
    in_bodies_of_algorithms();
    in_an_arena();
    in_guests();
    in_a_unit_that_migrates();
    members_in_arenas();
    in_a_pushed_scheduler();
    if ((weft_features() & WEFT_FEATURE_CANCEL) != 0) {
        for (const weft_kind kind : ult_kinds) a_unit_ends_after_its_region(kind);
    }
    team_pools_come_from_a_pool();
    waiting_units_hold_no_members();
    units_at_once_share_few_members();
    units_at_once_may_wait_for_each_other();
    meet_openmp(1, true);
}

void with(std::size_t streams, weft_pool_kind pool, bool roams) {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = streams;
    settings.pool = pool;
    settings.roaming_primary = roams;
    omp_set_num_threads(5);
    CHECK(weft_init(&settings) == WEFT_OK);
    if (!roams) EQUAL(omp_get_max_threads(), 5);
    everything();
    // the last weft_finalize belongs to stream 0
    if (roams) CHECK(weft_stream_stop(weft_stream_at(1), false) == WEFT_OK);
    while (weft_stream_self() != weft_stream_at(0)) yield();
    EQUAL(weft_finalize(), WEFT_OK);   // members of teams still exist, and have nothing to do
    is_alone();
}

// Only units whose members end with them: the next runtime begins anew all the same. With one hart,
// the members' domain is to give that hart back while the runtime ends, and any OS thread that
// carries it can return it.
void in_hosted_units_alone(int rounds) {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 1;
    for (int i = 0; i < rounds; ++i) {
        CHECK(weft_init(&settings) == WEFT_OK);
        weft_unit_options options{};
        options.size = sizeof options;
        options.kind = WEFT_KIND_HOSTED;
        weft_unit* unit = nullptr;
        CHECK(weft_ult_spawn(
                  nullptr, [](void*) { one_region(3, true); }, nullptr, &options, &unit) == WEFT_OK);
        CHECK(weft_unit_join_free(unit) == WEFT_OK);
        CHECK(weft_finalize() != WEFT_WRONG_CONTEXT);
    }
}

// There are two harts. The primary unit spins on one of them; the other is the members', on the OS
// thread that waits at its region's barrier. What a member of that region waits for there runs all
// the same, although a member of another region does it.
void yielding_members_on_a_guests_thread() {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 1;
    settings.harts = 2;
    settings.rescue = WEFT_RESCUE_IGNORE;
    CHECK(weft_init(&settings) == WEFT_OK);
    std::atomic<bool> begun{false}, set{false};
    weft_event both{};
    std::thread waits([&] {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1) {
            begun = true;
            while (!set) yield();
        }
    });
    std::thread sets([&] {
        while (!begun) std::this_thread::yield();
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1) {
            set = true;
        } else {
            CHECK(weft_event_set(&both, nullptr) == WEFT_OK);
            // the primary unit is to have this hart next
            while (!set && __atomic_load_n(weft_domain_lacked(nullptr), __ATOMIC_SEQ_CST) == 0)
                std::this_thread::yield();
        }
    });
    const auto spin_until = [](const std::atomic<bool>& flag) {
        while (!flag) {
            if (weft_hart_limit() == 1) yield();
            else std::this_thread::yield();
        }
    };
    spin_until(begun);   // no other OS thread is started for the member
    CHECK(weft_event_wait(&both, nullptr) == WEFT_OK);
    spin_until(set);
    std::thread* const threads[] = {&waits, &sets};
    const auto join = [](void* raw) {
        for (int i = 0; i < 2; ++i) static_cast<std::thread* const*>(raw)[i]->join();
    };
    CHECK(weft_blocking(join, const_cast<std::thread**>(threads)) == WEFT_OK);
    EQUAL(weft_finalize(), WEFT_OK);
}

}   // namespace

// Before anything else, so that no hart is with members yet.
void many_at_once() {
    CHECK(weft_init(nullptr) == WEFT_OK);
    one_region(1, false);   // the counter exists from the first region on
    units_at_once_share_few_members();
    units_at_once_may_wait_for_each_other();
    EQUAL(weft_finalize(), WEFT_OK);
}

int main(int argc, char** argv) {
    const bool all = argc < 2;
    if (argc > 1 && std::strcmp(argv[1], "at_once") == 0) return many_at_once(), verdict();
    if (argc > 1 && std::strcmp(argv[1], "guests") == 0) return yielding_members_on_a_guests_thread(), verdict();
    in_hosted_units_alone(argc > 1 && std::strcmp(argv[1], "rounds") == 0 ? 100 : 3);
    if (all || std::strcmp(argv[1], "one") == 0) with(1, WEFT_POOL_PRIVATE, false);
    if (all || std::strcmp(argv[1], "shared") == 0) with(1, WEFT_POOL_SHARED, false);
    if (all || std::strcmp(argv[1], "two") == 0) with(2, WEFT_POOL_DEQUE, false);
    if (all || std::strcmp(argv[1], "four") == 0) with(4, WEFT_POOL_DEQUE, false);
    if (all || std::strcmp(argv[1], "roams") == 0) with(2, WEFT_POOL_DEQUE, true);
    one_region(2, false);
    return verdict();
}
