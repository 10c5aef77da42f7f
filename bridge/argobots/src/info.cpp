// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "info.hpp"

#include <cstring>
#include <new>

#include "environment.hpp"
#include "init.hpp"
#include "pool.hpp"
#include "sched.hpp"
#include "thread.hpp"
#include "xstream.hpp"

namespace weft::argobots {
namespace {

template <class T>
int answer(void* place, T value) {
    std::memcpy(place, &value, sizeof value);
    return ABT_SUCCESS;
}

int answer_bool(void* place, bool value) { return answer(place, to_bool(value)); }

bool has_feature(unsigned which) { return (weft_features() & which) != 0; }

// As reported by ABT_info_query_config: 0 nothing, 1 a canary, 2 a page, 3 a page or an error.
int overflow_check() {
    weft_settings settings{};
    settings.size = sizeof settings;
    weft_settings_get(&settings);
    if (settings.guard == WEFT_GUARD_NONE) return 0;
    if (settings.guard == WEFT_GUARD_CANARY) return 1;
    return environment().overflow_check == OverflowCheck::mprotect_strict ? 3 : 2;
}

// ---- words --------------------------------------------------------------------------------------

const char* word(ABT_sched_predef predef) {
    switch (predef) {
    case ABT_SCHED_DEFAULT:
    case ABT_SCHED_BASIC: return "basic";
    case ABT_SCHED_PRIO: return "prio";
    case ABT_SCHED_RANDWS: return "randws";
    case ABT_SCHED_BASIC_WAIT: return "basic_wait";
    }
    return "?";
}

const char* word(ABT_pool_kind kind) {
    switch (kind) {
    case ABT_POOL_FIFO: return "fifo";
    case ABT_POOL_FIFO_WAIT: return "fifo_wait";
    case ABT_POOL_RANDWS: return "randws";
    }
    return "?";
}

const char* word(ABT_pool_access access) {
    switch (access) {
    case ABT_POOL_ACCESS_PRIV: return "PRIV";
    case ABT_POOL_ACCESS_SPSC: return "SPSC";
    case ABT_POOL_ACCESS_MPSC: return "MPSC";
    case ABT_POOL_ACCESS_SPMC: return "SPMC";
    case ABT_POOL_ACCESS_MPMC: return "MPMC";
    }
    return "?";
}

const char* word(Sched::Use use) {
    switch (use) {
    case Sched::Use::none: return "not used";
    case Sched::Use::main: return "main";
    case Sched::Use::stacked: return "stacked";
    }
    return "?";
}

const char* word(weft_unit_state state) {
    switch (state) {
    case WEFT_UNIT_READY: return "READY";
    case WEFT_UNIT_RUNNING: return "RUNNING";
    case WEFT_UNIT_SUSPENDED: return "BLOCKED";
    case WEFT_UNIT_DONE: return "TERMINATED";
    }
    return "?";
}

const char* word(weft_kind kind) {
    constexpr const char* words[] = {"as the settings say", "full", "lsa", "tasklet", "roc", "ss", "sc", "auto"};
    return static_cast<std::size_t>(kind) < sizeof words / sizeof *words ? words[kind] : "?";
}

const char* word(LargePages pages) {
    constexpr const char* words[] = {"malloc", "mmap_rp", "mmap_hp_rp", "mmap_hp_thp", "thp"};
    return words[static_cast<std::size_t>(pages)];
}

const char* word(bool value) { return value ? "on" : "off"; }

// ---- printing -----------------------------------------------------------------------------------

void print(std::FILE* file, const Sched& sched, int indent) {
    std::fprintf(file, "%*sscheduler %p: %s, %s, %s, %d pools\n", indent, "", static_cast<const void*>(&sched),
                 sched.custom ? "the program's own" : word(sched.predef), word(sched.use.load()),
                 sched.automatic ? "freed automatically" : "freed by the program", sched.count);
}

void print(std::FILE* file, const Pool& pool, int indent) {
    const char* kind = pool.make == Pool::Make::old ? "the program's own (old definition)" : "the program's own";
    std::fprintf(file, "%*spool %d (%p): %s, %s, %d schedulers, %zu ready, %zu not in it\n", indent, "", pool.id,
                 static_cast<void*>(pool.handle), pool.built_in() ? word(pool.kind) : kind, word(pool.access),
                 pool.scheds.load(), pool.size(), count_blocked(pool));
}

// A copy of a stream's data, since the list of streams is locked while the data is read.
struct XstreamLook {
    const Xstream* xstream;
    const Sched* sched;
    int rank;
    bool primary;
    bool terminated;

    // Requires the lock of the list.
    static XstreamLook at(const Xstream& xstream) {
        const weft_stream* stream = xstream.now();
        bool ended = stream == nullptr;
        if (!ended && !xstream.freeing) weft_stream_ended_get(stream, &ended);
        return {&xstream, xstream.sched, xstream.rank, xstream.primary, ended};
    }
    void print(std::FILE* file) const {
        std::fprintf(file, "execution stream %d (%p): %s%s\n", rank, static_cast<const void*>(xstream),
                     primary ? "primary, " : "", terminated ? "TERMINATED" : "RUNNING");
        argobots::print(file, *sched, 2);
        for (int i = 0; i < sched->count; ++i) argobots::print(file, *sched->pools[i], 4);
    }
};

void print_unit(std::FILE* file, const weft_unit* unit) {
    weft_unit_state state{};
    weft_unit_state_get(unit, &state);
    weft_kind kind{};
    weft_unit_kind_get(unit, &kind);
    bool detached = false, migratable = false;
    weft_unit_detached_get(unit, &detached);
    weft_unit_migratable_get(unit, &migratable);
    void* argument = nullptr;
    weft_unit_argument_get(unit, &argument);
    std::uint64_t id = 0;
    weft_unit_id_get(unit, &id);
    const void* function = nullptr;
    weft_unit_spawn_site_get(unit, &function);
    const Pool* pool = pool_of(pool_of_unit(unit));
    std::fprintf(file, "%s %llu (%p): %s%s, kind %s, %s, %s, ", is_tasklet(unit) ? "tasklet" : "ULT",
                 static_cast<unsigned long long>(id - 1), static_cast<const void*>(unit),
                 is_primary(unit) ? "primary, " : "", word(state), word(kind), detached ? "unnamed" : "named",
                 migratable ? "migratable" : "not migratable");
    if (pool != nullptr) std::fprintf(file, "pool %d, ", pool->id);
    if (!is_tasklet(unit)) std::fprintf(file, "stack of %zu bytes, ", stack_bytes_of(unit));
    std::fprintf(file, "function %p, argument %p\n", function, argument);
}

// ---- the stacks of a pool -----------------------------------------------------------------------

// Handles that are collected first, since nothing can be printed while the pool is traversed.
class Handles {
public:
    Handles() = default;
    Handles(const Handles&) = delete;
    ~Handles() { delete[] all_; }

    void add(ABT_thread thread) {
        if (count_ == room_ && !grow()) {
            lost_ = true;
            return;
        }
        all_[count_++] = thread;
    }
    const ABT_thread* begin() const { return all_; }
    const ABT_thread* end() const { return all_ + count_; }
    bool lost() const { return lost_; }

private:
    bool grow() {
        const std::size_t more = room_ == 0 ? 64 : 2 * room_;
        auto* all = new (std::nothrow) ABT_thread[more];
        if (all == nullptr) return false;
        for (std::size_t i = 0; i < count_; ++i) all[i] = all_[i];
        delete[] all_;
        all_ = all;
        room_ = more;
        return true;
    }

    ABT_thread* all_ = nullptr;
    std::size_t count_ = 0, room_ = 0;
    bool lost_ = false;
};

int print_stack(std::FILE* file, const weft_unit* unit) {
    const weft_status status = weft_unit_dump(unit, file);
    if (status == WEFT_OK && environment().print_raw_stack) print_raw_stack(file, unit);
    return from_weft(status);
}

}   // namespace
}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_info_query_config(ABT_info_query_kind query_kind, void* val) {
    const Environment& from = environment();
    switch (query_kind) {
    // The library's capabilities.
    case ABT_INFO_QUERY_KIND_ENABLED_DEBUG:
    case ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO:
    case ABT_INFO_QUERY_KIND_ENABLED_LOG:
    case ABT_INFO_QUERY_KIND_ENABLED_VALGRIND:
    case ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER:
    case ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER:
    case ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION: return answer_bool(val, false);
    case ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR:
    case ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED:
    case ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD:
    case ABT_INFO_QUERY_KIND_ENABLED_SCHED_SLEEP:
    case ABT_INFO_QUERY_KIND_ENABLED_AFFINITY:
    case ABT_INFO_QUERY_KIND_FCONTEXT:
    case ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND: return answer_bool(val, true);
    case ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL:
    case ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL: return answer_bool(val, has_feature(WEFT_FEATURE_CANCEL));
    case ABT_INFO_QUERY_KIND_ENABLED_MIGRATION: return answer_bool(val, has_feature(WEFT_FEATURE_MIGRATION));
    case ABT_INFO_QUERY_KIND_ENABLED_TOOL: return answer_bool(val, has_feature(WEFT_FEATURE_OBSERVERS));
    case ABT_INFO_QUERY_KIND_WAIT_POLICY: return answer(val, int{0});
    default: break;
    }
    if (query_kind < ABT_INFO_QUERY_KIND_ENABLED_DEBUG || query_kind > ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC)
        return ABT_ERR_INV_QUERY_KIND;
    // Settings of the environment.
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    switch (query_kind) {
    case ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU: return answer_bool(val, from.preserve_fpu);
    case ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG: return answer_bool(val, from.print_config);
    case ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS: return answer(val, from.max_num_xstreams());
    case ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE: return answer(val, from.thread_stack_bytes);
    case ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE: return answer(val, from.sched_stack_bytes);
    case ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ: return answer(val, std::uint64_t{from.sched_event_freq});
    case ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC: return answer(val, from.sched_sleep_ns);
    case ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK: return answer(val, overflow_check());
    default: return answer_bool(val, from.kind != WEFT_KIND_FULL);   // lazy stacks
    }
}

int ABT_info_print_config(FILE* fp) {
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    const Environment& from = environment();
    std::fprintf(fp, "Argobots %s by Weft %d.%d.%d\n", ABT_VERSION, weft_version() / 10000, weft_version() / 100 % 100,
                 weft_version() % 100);
    std::fprintf(fp, "  execution streams: %d now, %u expected at most\n", count_xstreams(), from.max_num_xstreams());
    std::fprintf(fp, "  stack of a ULT: %zu bytes, kind %s\n", from.thread_stack_bytes, word(from.kind));
    std::fprintf(fp, "  stack of a scheduler: %zu bytes\n", from.sched_stack_bytes);
    constexpr const char* checks[] = {"none", "canary", "mprotect", "mprotect_strict"};
    std::fprintf(fp, "  stack overflow check: %s\n", checks[overflow_check()]);
    std::fprintf(fp, "  stacks kept by a stream: %zu%s\n", from.mem_max_num_stacks,
                 from.mem_max_num_stacks_set ? "" : " (not asked for)");
    std::fprintf(fp, "  large pages: %s\n", word(from.lp_alloc));
    std::fprintf(fp, "  key table: %zu entries at first\n", from.key_table_size);
    std::fprintf(fp, "  events are looked for every %u units; schedulers sleep when idle\n", from.sched_event_freq);
    std::fprintf(fp, "  affinity: %s\n", from.affinity == nullptr ? "none" : from.affinity);
    std::fprintf(fp, "  cancellation %s, migration %s, tools %s, floating-point modes %s, raw stacks %s\n",
                 word(has_feature(WEFT_FEATURE_CANCEL)), word(has_feature(WEFT_FEATURE_MIGRATION)),
                 word(has_feature(WEFT_FEATURE_OBSERVERS)), from.preserve_fpu ? "kept" : "not kept",
                 word(from.print_raw_stack));
    std::fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_all_xstreams(FILE* fp) {
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    const auto room = static_cast<std::size_t>(count_xstreams()) + 8;   // streams may be created meanwhile
    auto* looks = new (std::nothrow) XstreamLook[room];
    if (looks == nullptr) return ABT_ERR_MEM;
    std::size_t count = 0;
    each_xstream([&](const Xstream& xstream) {
        if (count < room) looks[count++] = XstreamLook::at(xstream);
    });
    std::fprintf(fp, "%zu execution streams\n", count);
    for (std::size_t i = 0; i < count; ++i) looks[i].print(fp);
    delete[] looks;
    std::fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_xstream(FILE* fp, ABT_xstream xstream) {
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    XstreamLook look{};
    {
        const ListGuard guard;
        look = XstreamLook::at(*to_xstream(xstream));
    }
    look.print(fp);
    std::fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_sched(FILE* fp, ABT_sched sched) {
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    print(fp, *to_sched(sched), 0);
    for (int i = 0; i < to_sched(sched)->count; ++i) print(fp, *to_sched(sched)->pools[i], 2);
    std::fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_pool(FILE* fp, ABT_pool pool) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    print(fp, *pool_of(pool), 0);
    std::fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_thread(FILE* fp, ABT_thread thread) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    print_unit(fp, to_unit(thread));
    std::fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_thread_attr(FILE* fp, ABT_thread_attr attr) {
    if (is_null(attr)) return ABT_ERR_INV_THREAD_ATTR;
    const ThreadAttr& of = *to_attr(attr);
    std::fprintf(fp, "attribute %p: kind %s, stack %p of %zu bytes, %s, callback %p, its argument %p\n",
                 static_cast<const void*>(&of), word(of.kind), of.stack, of.stack_bytes,
                 of.migratable ? "migratable" : "not migratable", reinterpret_cast<void*>(of.on_migration),
                 of.on_migration_argument);
    std::fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_task(FILE* fp, ABT_task task) {
    if (is_null(task)) return ABT_ERR_INV_TASK;
    return ABT_info_print_thread(fp, task);
}

int ABT_info_print_thread_stack(FILE* fp, ABT_thread thread) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    const int error = print_stack(fp, to_unit(thread));
    std::fflush(fp);
    return error;
}

int ABT_info_print_thread_stacks_in_pool(FILE* fp, ABT_pool pool) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    Handles handles;
    const int error = ABT_pool_print_all_threads(
        pool, &handles, [](void* to, ABT_thread thread) { static_cast<Handles*>(to)->add(thread); });
    if (error != ABT_SUCCESS) return error;
    std::fprintf(fp, "stacks of pool %d (%p)\n", pool_of(pool)->id, static_cast<void*>(to_weft(pool)));
    for (const ABT_thread thread : handles) {
        if (const int failed = print_stack(fp, to_unit(thread)); failed != ABT_SUCCESS) return failed;
    }
    std::fflush(fp);
    return handles.lost() ? ABT_ERR_MEM : ABT_SUCCESS;
}

}   // extern "C"
