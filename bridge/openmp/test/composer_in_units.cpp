// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs composed at random (composed.h) whose parts are called by whatever Weft and Argobots
// run: units of each kind, bodies of algorithms, contexts of domains, guests, schedulers,
// callbacks, the child of a fork, and these within each other. Each caller that is a unit of its
// own finds what a new thread would find, and what it sets stays its own. Each sum is the one that
// a walk over the same program computes.
//
//     composer_in_units [SECONDS [SEED [CALLER]]]
//
// Prints the seed of a program that is wrong, dies or takes too long. Programs run in turns of 64,
// each turn in a runtime of its own; a seed always gives the same programs. CALLER, an index into
// `callers`, is then the only caller.
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#ifdef WITH_ARGOBOTS
#include <abt.h>
#endif
#include <weft/weft.h>
#include <weft/weft.hpp>

#include "composed.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
// A sanitizer reports a bad access better than a handler of ours could.
extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr int programs_of_turn = 64;
constexpr std::size_t stack_bytes = sanitized ? 2 << 20 : 512 << 10;

int threads_at_first;   // omp_get_max_threads in a new thread

struct Part {
    std::uint64_t seed;
    int depth;
    long* sum;
};

void run_part(const Part& part) { alone(part.seed, part.depth, part.sum); }

// Called by a unit that has not used OpenMP yet.
void be_a_thread(const Part& part) {
    EQUAL(omp_get_level(), 0);
    EQUAL(omp_get_thread_num(), 0);
    EQUAL(omp_get_num_threads(), 1);
    CHECK(!omp_in_parallel());
    EQUAL(omp_get_max_threads(), threads_at_first);
    const int mine = 1 + static_cast<int>(part.seed >> 8 & 7);
    omp_sched_t schedule{};
    int chunk = 0;
    omp_set_num_threads(mine);
    omp_set_schedule(omp_sched_guided, mine + 100);
    omp_set_max_active_levels(200);
    run_part(part);
    EQUAL(omp_get_level(), 0);
    EQUAL(omp_get_thread_num(), 0);
    EQUAL(omp_get_num_threads(), 1);
    EQUAL(omp_get_max_threads(), mine);
    omp_get_schedule(&schedule, &chunk);
    EQUAL(schedule, omp_sched_guided);
    EQUAL(chunk, mine + 100);
}
void be_a_thread(void* part) { be_a_thread(*static_cast<const Part*>(part)); }

// Called by code that may be in the middle of a thread's, or of a scheduler's, code.
void be_a_body(const Part& part) {
    omp_set_max_active_levels(200);
    run_part(part);
}
void be_a_body(void* part) { be_a_body(*static_cast<const Part*>(part)); }

using Parts = std::vector<Part>;

bool in_program() { return weft_domain_self() == nullptr; }   // and not in a library's domain

// ---- the callers --------------------------------------------------------------------------------

std::vector<weft_unit*> spawn_ults(const Parts& parts, std::uint64_t seed, bool child_first, weft_kind kind) {
    std::vector<weft_unit*> units;
    for (const Part& part : parts) {
        weft_unit_options options{};
        options.size = sizeof options;
        options.kind = kind;
        options.child_first = child_first;
        options.stack_bytes =
            kind == WEFT_KIND_SC || kind == WEFT_KIND_AUTO || kind == WEFT_KIND_DEFAULT ? 0 : stack_bytes;
        if (!child_first && in_program() && seed % 3 == 0) options.stream = weft_stream_at(seed / 3 % 2);
        weft_unit* unit = nullptr;
        weft_status status = weft_ult_spawn(nullptr, be_a_thread, const_cast<Part*>(&part), &options, &unit);
        if (status == WEFT_UNSUPPORTED || status == WEFT_WRONG_CONTEXT)
            status = weft_ult_spawn(nullptr, be_a_thread, const_cast<Part*>(&part), nullptr, &unit);
        EQUAL(status, WEFT_OK);
        units.push_back(unit);
    }
    return units;
}

void free_units(std::vector<weft_unit*>& units) {
    for (weft_unit* const unit : units) EQUAL(weft_unit_join_free(unit), WEFT_OK);
}

void by_ults(const Parts& parts, std::uint64_t seed) {
    constexpr weft_kind kinds_of_ult[] = {WEFT_KIND_FULL, WEFT_KIND_LSA,  WEFT_KIND_ROC,    WEFT_KIND_SS,
                                          WEFT_KIND_SC,   WEFT_KIND_AUTO, WEFT_KIND_DEFAULT};
    auto units = spawn_ults(parts, seed, false, kinds_of_ult[seed % 7]);
    free_units(units);
}

void by_children_first(const Parts& parts, std::uint64_t seed) {
    constexpr weft_kind kinds_of_child[] = {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_HOSTED};
    auto units = spawn_ults(parts, seed, true, kinds_of_child[seed % 4]);
    free_units(units);
}

void by_hosted(const Parts& parts, std::uint64_t seed) {
    auto units = spawn_ults(parts, seed, false, WEFT_KIND_HOSTED);
    free_units(units);
}

void by_tasklets(const Parts& parts, std::uint64_t) {
    std::vector<weft_unit*> units;
    for (const Part& part : parts) {
        weft_unit* unit = nullptr;
        EQUAL(weft_tasklet_spawn(nullptr, be_a_thread, const_cast<Part*>(&part), nullptr, &unit), WEFT_OK);
        units.push_back(unit);
    }
    free_units(units);
}

void by_members(const Parts& parts, std::uint64_t) {
    CHECK(weft_spmd(
              parts.size(), [](void* raw) { be_a_thread((*static_cast<const Parts*>(raw))[weft_spmd_member()]); },
              const_cast<Parts*>(&parts)) == WEFT_OK);
}

// A library that the program has of its own: a domain whose contexts run in the order in which they
// become ready.
class Library {
public:
    Library(const Parts& parts, std::uint64_t seed) {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) { static_cast<Library*>(self)->enter(); };
        ops.unblock = [](void* self, weft_unit* context) {
            auto& of = *static_cast<Library*>(self);
            const std::lock_guard guard(of.lock_);
            of.ready_.push_back(context);
        };
        if (seed % 2 == 0) ops.block = [](void*, weft_unit*) {};
        EQUAL(weft_domain_register(&ops, this, &domain_), WEFT_OK);
        for (const Part& part : parts) {
            contexts_.push_back(nullptr);
            EQUAL(weft_context_create(nullptr, stack_bytes, &contexts_.back()), WEFT_OK);
            const std::lock_guard guard(lock_);
            fresh_.push_back({contexts_.back(), &part});
        }
        EQUAL(weft_domain_request(domain_, static_cast<std::ptrdiff_t>(seed / 2 % 2)), WEFT_OK);
    }
    Library(const Library&) = delete;
    ~Library() {
        for (weft_unit* const context : contexts_) EQUAL(weft_unit_join_free(context), WEFT_OK);
        EQUAL(weft_domain_unregister(domain_), WEFT_OK);
    }

private:
    void enter() {
        const std::lock_guard guard(lock_);
        const bool wanted = __atomic_load_n(weft_domain_wanted(domain_), __ATOMIC_RELAXED) != 0;
        if (!ready_.empty() && (!wanted || ++turns_ % 2 != 0)) {
            EQUAL(weft_context_resume(ready_.front()), WEFT_OK);
            ready_.pop_front();
        } else if (!fresh_.empty()) {
            EQUAL(weft_context_run(fresh_.front().context, be_a_thread, const_cast<Part*>(fresh_.front().part)),
                  WEFT_OK);
            fresh_.pop_front();
        } else {
            EQUAL(weft_domain_yield(), WEFT_OK);
        }
    }

    struct Fresh {
        weft_unit* context;
        const Part* part;
    };
    weft_domain* domain_ = nullptr;
    std::mutex lock_;   // guards what follows; its holder never switches
    std::deque<weft_unit*> ready_;
    std::deque<Fresh> fresh_;
    unsigned turns_ = 0;
    std::vector<weft_unit*> contexts_;
};
void by_contexts(const Parts& parts, std::uint64_t seed) { Library library(parts, seed); }

void by_algorithms(const Parts& parts, std::uint64_t seed) {
    if (seed % 3 == 0) {
        weft::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) { be_a_body(parts[i]); });
    } else if (seed % 3 == 1) {
        weft::task_group group;
        for (const Part& part : parts) group.run([&part] { be_a_body(part); });
        group.wait();
    } else {
        weft::invoke([&] { be_a_body(parts[0]); },
                     [&] {
                         for (std::size_t i = 1; i < parts.size(); ++i) be_a_body(parts[i]);
                     });
    }
}

void by_an_arena(const Parts& parts, std::uint64_t seed) {
    struct Call {
        const Parts& parts;
        std::uint64_t seed;
    } call{parts, seed / 2};
    weft_arena* arena = nullptr;
    EQUAL(weft_arena_create(1 + seed % 2, &arena), WEFT_OK);
    EQUAL(weft_arena_execute(
              arena,
              [](void* raw) {
                  const auto& that = *static_cast<const Call*>(raw);
                  by_algorithms(that.parts, that.seed);
              },
              &call),
          WEFT_OK);
    EQUAL(weft_arena_free(arena), WEFT_OK);
}

void wait_for(const std::atomic<bool>& over) {
    while (!over) {
        if (weft_unit_yield() != WEFT_OK) std::this_thread::yield();
    }
}

// An OS thread, outside and inside, and what it spawns there.
void by_guests(const Parts& parts, std::uint64_t seed) {
    std::atomic<bool> over{false};
    std::thread guest([&] {
        be_a_thread(parts[0]);
        if (seed % 2 == 0) EQUAL(weft_guest_enter(), WEFT_OK);
        for (std::size_t i = 1; i < parts.size(); ++i) {
            if (seed % 2 == 0 && i == 2) by_ults({parts[i]}, seed);
            else be_a_body(parts[i]);
        }
        if (seed % 2 == 0) EQUAL(weft_guest_leave(), WEFT_OK);
        over = true;
    });
    wait_for(over);
    guest.join();
}

void by_a_blocking_call(const Parts& parts, std::uint64_t) {
    for (const Part& part : parts) {
        const weft_status status = weft_blocking(be_a_body, const_cast<Part*>(&part));
        if (status != WEFT_OK) be_a_body(part);
    }
}

// On the stack of its stream, where it is no unit: sometimes in the middle of a region of its own.
void call_on_stream_stack(void* raw) {
    const auto call = [raw] { EQUAL(weft_on_stream_stack(be_a_body, raw), WEFT_OK); };
    if (static_cast<const Part*>(raw)->seed % 2 == 0) return call();
#pragma omp parallel num_threads(2)
    {
        if (static_cast<const Part*>(raw)->seed % 4 / 2 == static_cast<unsigned>(omp_get_thread_num())) call();
        EQUAL(omp_get_num_threads(), 2);
    }
}
void on_stream_stack(const Parts& parts, std::uint64_t) {
    std::vector<weft_unit*> units;
    for (const Part& part : parts) {
        units.push_back(nullptr);
        EQUAL(weft_ult_spawn(nullptr, call_on_stream_stack, const_cast<Part*>(&part), nullptr, &units.back()), WEFT_OK);
    }
    free_units(units);
}

// One unit that is revived again and again.
void by_a_revived_unit(const Parts& parts, std::uint64_t seed) {
    const Parts first{parts[0]};
    auto units = spawn_ults(first, seed, false, seed % 2 == 0 ? WEFT_KIND_LSA : WEFT_KIND_HOSTED);
    for (std::size_t i = 1; i < parts.size(); ++i) {
        EQUAL(weft_unit_join(units[0]), WEFT_OK);
        EQUAL(weft_unit_revive(units[0], nullptr, be_a_thread, const_cast<Part*>(&parts[i])), WEFT_OK);
    }
    free_units(units);
}

// A callback that may switch: the destructor of a value, at the end of its unit.
void by_destructors(const Parts& parts, std::uint64_t) {
    weft_key* key = nullptr;
    EQUAL(weft_key_create(be_a_body, &key), WEFT_OK);
    struct Call {
        const Part& part;
        weft_key* key;
    };
    std::vector<weft_unit*> units;
    std::vector<Call> calls;
    calls.reserve(parts.size());
    for (const Part& part : parts) {
        calls.push_back({part, key});
        weft_unit* unit = nullptr;
        EQUAL(weft_ult_spawn(
                  nullptr,
                  [](void* raw) {
                      const auto& call = *static_cast<const Call*>(raw);
                      if (call.part.seed % 2 == 0) EQUAL(omp_get_level(), 0);
                      EQUAL(weft_local_set(call.key, const_cast<Part*>(&call.part)), WEFT_OK);
                  },
                  &calls.back(), nullptr, &unit),
              WEFT_OK);
        units.push_back(unit);
    }
    free_units(units);
    EQUAL(weft_key_free(key), WEFT_OK);
}

// A caller that may not suspend has a small stack, and asks for little.
void small_region(void*) {
    int came = 0;
#pragma omp parallel num_threads(1) reduction(+ : came)
    {
        EQUAL(omp_get_num_threads(), 1);
#pragma omp critical(small)
        ++came;
    }
    EQUAL(came, 1);
}

// Callbacks that may not switch: at a migration, at a unit's end.
void by_callbacks(const Parts& parts, std::uint64_t seed) {
    weft_unit_options options{};
    options.size = sizeof options;
    options.kind = WEFT_KIND_FULL;
    options.stack_bytes = stack_bytes;
    if ((weft_features() & WEFT_FEATURE_MIGRATION) != 0)
        options.on_migration = [](weft_unit*, void*) { small_region(nullptr); };
    options.release = small_region;
    std::vector<weft_unit*> units;
    for (const Part& part : parts) {
        options.data = const_cast<Part*>(&part);
        units.push_back(nullptr);
        EQUAL(weft_ult_spawn(nullptr, be_a_thread, options.data, &options, &units.back()), WEFT_OK);
        if (in_program()) weft_unit_migrate_to_stream(units.back(), weft_stream_at(seed % 2));
    }
    free_units(units);
}

// For a callback on a stream.
struct Post {
    const Part& part;
    std::atomic<bool> over{false};
};
void by_posts(const Parts& parts, std::uint64_t) {
    for (const Part& part : parts) {
        Post post{part};
        const weft_status status = weft_stream_post(
            weft_stream_at(0),
            [](void* raw) {
                auto& that = *static_cast<Post*>(raw);
                be_a_body(that.part);
                that.over = true;
            },
            &post);
        if (status != WEFT_OK) be_a_body(part);
        else wait_for(post.over);
    }
}

// A scheduler that the program has of its own, which runs as a unit: between two of its units it
// calls, and may suspend.
struct Run {
    const Parts& parts;
    weft_pool* pool = nullptr;
    std::size_t next = 0;
};
void run(void* raw, weft_sched* sched) {
    auto& self = *static_cast<Run*>(raw);
    while (!weft_sched_check_stop(sched)) {
        weft_unit* unit = nullptr;
        EQUAL(weft_pool_pop(self.pool, &unit), WEFT_OK);
        if (unit != nullptr) weft_sched_run_unit(sched, unit);
        else weft_sched_wait(sched);
        if (self.next < self.parts.size()) be_a_body(self.parts[self.next++]);
    }
    while (self.next < self.parts.size()) be_a_body(self.parts[self.next++]);
}

// A scheduler that picks, and may not suspend.
weft_unit* pick(void* raw, weft_sched*) {
    int threads = 0;
#pragma omp parallel num_threads(4)
    threads += omp_get_num_threads();
    EQUAL(threads, 1);
    weft_unit* unit = nullptr;
    EQUAL(weft_pool_pop(static_cast<Run*>(raw)->pool, &unit), WEFT_OK);
    return unit;
}

void by_schedulers_of(const Parts& parts, void (*runs)(void*, weft_sched*), weft_unit* (*picks)(void*, weft_sched*),
                      void (*body)(void*)) {
    Run self{parts};
    weft_sched_ops ops{};
    ops.size = sizeof ops;
    ops.run = runs;
    ops.pick = picks;
    weft_sched* sched = nullptr;
    weft_unit* of_sched = nullptr;
    weft_pool* main = nullptr;
    EQUAL(weft_pool_create(WEFT_POOL_SHARED, &self.pool), WEFT_OK);
    EQUAL(weft_sched_create_user(&ops, &self, &self.pool, 1, &sched), WEFT_OK);
    std::vector<weft_unit*> units;
    weft_unit_options options{};
    options.size = sizeof options;
    options.kind = WEFT_KIND_LSA;
    options.stack_bytes = stack_bytes;
    for (const Part& part : parts) {
        units.push_back(nullptr);
        EQUAL(weft_ult_spawn(self.pool, body, const_cast<Part*>(&part), &options, &units.back()), WEFT_OK);
    }
    EQUAL(weft_stream_pool_get(weft_stream_at(0), &main), WEFT_OK);
    EQUAL(weft_sched_push(sched, main, nullptr, &of_sched), WEFT_OK);
    free_units(units);
    weft_status status = WEFT_OK;
    // the scheduler runs the caller: the unit that it has waited for left for the caller
    while ((status = weft_unit_join_free(of_sched)) == WEFT_WRONG_STATE) weft_unit_yield();
    EQUAL(status, WEFT_OK);
    EQUAL(weft_pool_free(self.pool), WEFT_OK);
}

void by_schedulers(const Parts& parts, std::uint64_t) { by_schedulers_of(parts, run, nullptr, small_region); }
void by_pickers(const Parts& parts, std::uint64_t) { by_schedulers_of(parts, nullptr, pick, be_a_thread); }

// The child has the unit that forked, and what that spawns.
void by_a_fork(const Parts& parts, std::uint64_t seed) {
    for (const Part& part : parts) be_a_body(part);
    if (sanitized || seed % 4 != 0) return;   // neither sanitizer always lets the child start threads
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        kinds_of_others = 0;   // streams that the program has made, and their work, do not exist in the child
        long sum = 0;
        const Parts few{{parts[0].seed, 1, &sum}};
        const long expected = alone(few[0].seed, 1, nullptr);
        be_a_body(few[0]);
        const bool inside = weft_unit_self() != nullptr;   // else there is no runtime
        if (inside) by_ults(few, seed / 4);
        if (inside) by_hosted(few, seed / 4);
        EQUAL(sum, (inside ? 3 : 1) * expected);
        _exit(verdict());
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (weft_unit_yield() != WEFT_OK) std::this_thread::yield();
    }
    EQUAL(status, 0);
}

#ifdef WITH_ARGOBOTS
ABT_xstream other_xstream;

void by_argobots(const Parts& parts, std::uint64_t seed) {
    ABT_pool pool;
    EQUAL(ABT_xstream_get_main_pools(other_xstream, 1, &pool), ABT_SUCCESS);
    std::vector<ABT_thread> threads(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
        EQUAL(ABT_thread_create(pool, be_a_thread, const_cast<Part*>(&parts[i]), ABT_THREAD_ATTR_NULL, &threads[i]),
              ABT_SUCCESS);
    for (ABT_thread& thread : threads) {
        if (seed % 2 == 0) {
            EQUAL(ABT_thread_join(thread), ABT_SUCCESS);
            EQUAL(ABT_thread_revive(pool, small_region, nullptr, &thread), ABT_SUCCESS);
        }
        EQUAL(ABT_thread_free(&thread), ABT_SUCCESS);
    }
}

void by_argobots_tasks(const Parts& parts, std::uint64_t) {
    ABT_pool pool;
    EQUAL(ABT_xstream_get_main_pools(other_xstream, 1, &pool), ABT_SUCCESS);
    std::vector<ABT_task> tasks(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
        EQUAL(ABT_task_create(pool, be_a_thread, const_cast<Part*>(&parts[i]), &tasks[i]), ABT_SUCCESS);
    for (ABT_task& task : tasks) EQUAL(ABT_task_free(&task), ABT_SUCCESS);
}

// A stream that ends and begins anew.
void by_a_revived_xstream(const Parts& parts, std::uint64_t) {
    ABT_xstream xstream;
    EQUAL(ABT_xstream_create(ABT_SCHED_NULL, &xstream), ABT_SUCCESS);
    for (const Part& part : parts) {
        ABT_pool pool;
        ABT_thread thread;
        EQUAL(ABT_xstream_get_main_pools(xstream, 1, &pool), ABT_SUCCESS);
        EQUAL(ABT_thread_create(pool, be_a_thread, const_cast<Part*>(&part), ABT_THREAD_ATTR_NULL, &thread),
              ABT_SUCCESS);
        EQUAL(ABT_thread_free(&thread), ABT_SUCCESS);
        EQUAL(ABT_xstream_join(xstream), ABT_SUCCESS);
        EQUAL(ABT_xstream_revive(xstream), ABT_SUCCESS);
    }
    EQUAL(ABT_xstream_join(xstream), ABT_SUCCESS);
    EQUAL(ABT_xstream_free(&xstream), ABT_SUCCESS);
}
#endif

struct Caller {
    void (*call)(const Parts& parts, std::uint64_t seed);
    bool of_one = false;
};
const Caller callers[] = {
    {by_ults},
    {by_ults},
    {by_ults},
    {by_children_first},
    {by_hosted},
    {by_tasklets, true},
    {by_members},
    {by_algorithms},
    {by_algorithms},
    {by_an_arena},
    {by_guests},
    {by_a_blocking_call},
    {on_stream_stack, true},
    {by_a_revived_unit},
    {by_destructors},
    {by_callbacks},
    {by_posts, true},
    {by_schedulers},
    {by_pickers},
    {by_a_fork},
    {by_contexts},
#ifdef WITH_ARGOBOTS
    {by_argobots},
    {by_argobots_tasks, true},
    {by_a_revived_xstream},
#endif
};
constexpr int caller_count = static_cast<int>(std::size(callers));
int only = -1;   // the only caller, if not -1

long by_some_caller(std::uint64_t seed, int depth, long* sum) {
    std::uint64_t state = seed;
    const Caller& caller = callers[only >= 0 ? only : below(&state, caller_count)];
    const int count = 1 + below(&state, 3);
    Parts parts;
    long total = 0;
    for (int i = 0; i < count; ++i) {
        parts.push_back({child(seed, i) | (caller.of_one ? OF_ONE : 0), depth, sum});
        if (sum == nullptr) total += alone(parts.back().seed, depth, nullptr);
    }
    if (sum != nullptr) caller.call(parts, next(&state) >> 1);
    return total;
}

// Called anywhere: units move, wait, block in the kernel. A caller that may not wait returns at
// once.
void wait_somehow(std::uint64_t seed) {
    std::uint64_t state = seed;
    if ((seed & OF_ONE) != 0) return;
    const int what = below(&state, 512);
    if (what < 128) weft_unit_yield();
    else if (what < 136 && in_program())
        weft_unit_migrate_to_stream(weft_unit_self(), weft_stream_at(below(&state, 2)));
    else if (what < 140) weft_sleep_for(20'000);
    else if (what == 140) usleep(static_cast<useconds_t>(below(&state, 2000)));
    else if (what == 141 && below(&state, 8) == 0) usleep(15'000);   // until the stream is rescued
}

// ---- turns --------------------------------------------------------------------------------------

std::uint64_t running;   // the seed, for the signal handler

void tell_seed() {
    char text[64];
    const int length = std::snprintf(text, sizeof text, "seed %#llx\n", static_cast<unsigned long long>(running));
    static_cast<void>(!write(2, text, static_cast<std::size_t>(length)));
}

// Where the program was that got the signal, as an address in a library's file, and what it wanted.
void tell_place(const siginfo_t& what, const ucontext_t& where) {
#ifdef __x86_64__
    const auto at = static_cast<std::uintptr_t>(where.uc_mcontext.gregs[REG_RIP]);
#else
    const auto at = static_cast<std::uintptr_t>(where.uc_mcontext.pc);
#endif
    Dl_info about{};
    if (dladdr(reinterpret_cast<const void*>(at), &about) == 0) return;
    char text[512];
    const int length = std::snprintf(text, sizeof text, "%s + %#tx, address %p\n", about.dli_fname,
                                     at - reinterpret_cast<std::uintptr_t>(about.dli_fbase), what.si_addr);
    static_cast<void>(!write(2, text, std::min(static_cast<std::size_t>(length), sizeof text)));
}

void tell(int signal, siginfo_t* what, void* where) {
    char text[32];
    const int length = std::snprintf(text, sizeof text, "signal %d: ", signal);
    static_cast<void>(!write(2, text, static_cast<std::size_t>(length)));
    tell_seed();
    if (signal == SIGSEGV) tell_place(*what, *static_cast<const ucontext_t*>(where));
    void* frames[64];
    // the dump does not have what runs here
    if (signal != SIGSEGV) backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
    if (signal == SIGALRM) weft_dump(stderr);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

struct Program {
    std::uint64_t seed;
    long sum = 0;
};

void one_program(std::uint64_t seed) {
    running = seed;
    alarm(sanitized ? 400 : 100);
    long sum = 0, expected = 0;
    Parts parts;
    for (int i = 0; i < 3; ++i) parts.push_back({child(seed, i), 3, &sum});
    for (const Part& part : parts) expected += by_some_caller(part.seed, part.depth, nullptr);
    std::vector<weft_unit*> units;
    for (Part& part : parts) {
        units.push_back(nullptr);
        EQUAL(weft_ult_spawn(
                  nullptr,
                  [](void* raw) {
                      const auto& that = *static_cast<const Part*>(raw);
                      by_some_caller(that.seed, that.depth, that.sum);
                  },
                  &part, nullptr, &units.back()),
              WEFT_OK);
    }
    // And in the primary unit itself.
    const std::uint64_t own = child(seed, 3);
    expected += by_some_caller(own, 2, nullptr);
    by_some_caller(own, 2, &sum);
    free_units(units);
    EQUAL(sum, expected);
    if (wrong_count != 0) std::fprintf(stderr, "seed %#llx\n", static_cast<unsigned long long>(seed));
}

// Moves a primary unit that has roamed to stream 0, the only one where it may end what it has
// begun.
void go_home() {
    while (weft_stream_self() != weft_stream_at(0)) {
        weft_unit_migrate_to_stream(weft_unit_self(), weft_stream_at(0));
        weft_sleep_for(100'000);   // a yield might leave it where it is
    }
}
template <class Status, class Wrong>
Status ended_at_home(Status (*end)(), Wrong elsewhere) {
    for (;;) {
        go_home();
        const Status status = end();   // which may switch before it checks
        if (status != elsewhere) return status;
    }
}

// Runs programs from this seed on, in a runtime that follows from the seed.
long one_turn(std::uint64_t seed, double end, double (*now)()) {
    std::uint64_t state = seed / programs_of_turn;
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.stack_bytes = stack_bytes;
    settings.scheduler_stack_bytes = 4 * stack_bytes;
    settings.streams = 1U << below(&state, 3);
    constexpr weft_pool_kind pools[] = {WEFT_POOL_DEFAULT, WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_DEFAULT};
    settings.pool = pools[below(&state, 4)];
    settings.rescue = below(&state, 4) == 0 ? WEFT_RESCUE_ALL : WEFT_RESCUE_DEFAULT;
    // else only chance would bring it home
    settings.roaming_primary = below(&state, 4) == 0 && (weft_features() & WEFT_FEATURE_MIGRATION) != 0;
    EQUAL(weft_init(&settings), WEFT_OK);
#ifdef WITH_ARGOBOTS
    EQUAL(ABT_init(0, nullptr), ABT_SUCCESS);
    EQUAL(ABT_xstream_create(ABT_SCHED_NULL, &other_xstream), ABT_SUCCESS);
#endif
    long programs = 0;
    do {
        one_program(seed++);
        ++programs;
    } while (seed % programs_of_turn != 0 && now() < end && wrong_count == 0);
#ifdef WITH_ARGOBOTS
    go_home();
    EQUAL(ABT_xstream_join(other_xstream), ABT_SUCCESS);
    EQUAL(ABT_xstream_free(&other_xstream), ABT_SUCCESS);
    EQUAL(ended_at_home(ABT_finalize, ABT_ERR_INV_XSTREAM), ABT_SUCCESS);
#endif
    const weft_status status = ended_at_home(weft_finalize, WEFT_WRONG_CONTEXT);
    CHECK(status == WEFT_OK || status == WEFT_BUSY);   // members of the teams are left behind
    return programs;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}   // namespace

int main(int count, char** arguments) {
    const double end = now() + (count > 1 ? std::atof(arguments[1]) : 3);
    std::uint64_t seed =
        count > 2 ? std::strtoull(arguments[2], nullptr, 0) : static_cast<std::uint64_t>(time(nullptr)) << 20;
    if (count > 3) only = std::atoi(arguments[3]);
    std::printf("seed %#llx\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    struct sigaction how {};
    how.sa_sigaction = tell;
    how.sa_flags = SA_SIGINFO;
    for (const int signal : {SIGABRT, SIGALRM}) sigaction(signal, &how, nullptr);
    if constexpr (sanitized) __sanitizer_set_death_callback(tell_seed);
    else sigaction(SIGSEGV, &how, nullptr);
    threads_at_first = omp_get_max_threads();
    cancels = omp_get_cancellation();
    kinds = 18;
    kinds_of_others = 5;
    by_others = by_some_caller;
    pause_here = wait_somehow;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    long programs = 0;
    while (now() < end && wrong_count == 0) {
        const long ran = one_turn(seed, end, now);
        programs += ran;
        seed += static_cast<std::uint64_t>(ran);
    }
    std::printf("%ld programs\n", programs);
    return verdict();
}
