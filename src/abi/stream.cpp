// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/stream.h"
#include "carrier/streams.hpp"
#include "process/registry.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>

#include "abi/convert.hpp"
#include "carrier/level.hpp"
#include "core/plan.hpp"
#include "core/spawn.hpp"
#include "hart/topology.hpp"

using namespace weft;

namespace {

// The scheduler that the options name, or one made here if they name none. `owned` receives a pool
// made for it.
weft_status choose_sched(Process& of, const weft_stream_options& options, Sched** sched, Pool** owned) {
    if (options.sched != nullptr) {
        *sched = to_sched(options.sched, "weft_stream_create");
        return WEFT_OK;
    }
    Pool* main = to_pool(options.pool, "weft_stream_create");
    if (main == nullptr) *owned = main = make_owned_pool(of, default_pool_kind(of));
    if (main == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a pool");
    *sched = default_sched(of, *main);
    if (*sched == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a scheduler");
    // It steals from the streams that existed before, which do not steal from it: units that it
    // adopted would be its own alone, and stay behind when it ends.
    (*sched)->adopts = false;
    return WEFT_OK;
}

void return_pool(Process& of, Pool* owned) {
    if (owned == nullptr) return;
    std::lock_guard guard(of.lock);
    owned->orphan = true;
}

// The kind of a stream's ULTs that do not name one.
weft_status default_kind(const Process& of, const weft_kind& given, Kind& kind) {
    const int asked = number_of(given);
    if (asked != WEFT_KIND_DEFAULT && !is_kind(asked)) return no_such_kind(asked);
    kind = asked == WEFT_KIND_DEFAULT ? of.default_kind : static_cast<Kind>(asked);
    return WEFT_OK;
}

weft_status check(const weft_stream* stream) { return stream == nullptr ? is_null("stream") : WEFT_OK; }

// For requests that only a stream of the program can serve.
weft_status check_own(const weft_stream* stream, const char* call = __builtin_FUNCTION()) {
    return stream == nullptr ? is_null("stream") : is_the_programs(*to_stream(stream, call));
}

// A set that is not within the process's own is refused here: the kernel would silently take the
// common part.
weft_status bind(weft_stream* stream, const os::CpuSet& cpus, const char* what) {
    const os::CpuSet own = to_stream(stream)->of->cpus;
    if (cpus.empty() || !cpus.within(own)) {
        char text[os::error_text_bytes];
        own.write(text, sizeof text);
        return fail(WEFT_INVALID, "the CPUs of %.100s are not all the process's own, which are %s", what, text);
    }
    return bind_stream(*to_stream(stream), cpus, what);
}

}   // namespace

extern "C" {

weft_status weft_stream_create(const weft_stream_options* options, weft_stream** stream) noexcept {
    if (stream == nullptr) return is_null("stream");
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();
    weft_stream_options given{};
    if (options != nullptr && (options->size < sizeof(std::size_t) || options->size > 4096)) {
        return fail(WEFT_INVALID, "weft_stream_options.size is %zu; set it to sizeof(weft_stream_options)",
                    options->size);
    }
    if (options != nullptr) std::memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
    Kind kind = Kind::lsa;
    if (weft_status status = default_kind(*of, given.kind, kind); status != WEFT_OK) return status;
    Sched* sched = nullptr;
    Pool* owned = nullptr;
    weft_status status = choose_sched(*of, given, &sched, &owned);
    Stream* made = nullptr;
    if (status == WEFT_OK) status = start_stream(*of, *sched, owned, given.name, &made, kind, given.data);
    if (status != WEFT_OK) {
        if (given.sched == nullptr && sched != nullptr) dismiss(*of, *sched);
        return_pool(*of, owned);
        return status;
    }
    *stream = to_handle(made);
    return WEFT_OK;
}

weft_status weft_stream_kind_set(weft_stream* stream, weft_kind kind) noexcept {
    if (weft_status status = check(stream); status != WEFT_OK) return status;
    Stream& of = *to_stream(stream);
    if (&of != current_or_null()) return fail(WEFT_WRONG_CONTEXT, "only a unit of stream %zu sets its kind", of.rank);
    Kind chosen = Kind::lsa;
    if (weft_status status = default_kind(*of.of, kind, chosen); status != WEFT_OK) return status;
    set_default_kind(of, chosen);
    return WEFT_OK;
}

weft_status weft_stream_join_free(weft_stream* stream) noexcept {
    if (weft_status status = check(stream); status != WEFT_OK) return status;
    if (process_or_null() == nullptr) return not_initialized();   // it has gone with its runtime
    return free_stream(*to_stream(stream));
}

weft_status weft_stream_free(weft_stream* stream) noexcept {
    if (weft_status status = check(stream); status != WEFT_OK) return status;
    if (process_or_null() == nullptr) return not_initialized();   // it has gone with its runtime
    Stream& of = *to_stream(stream);
    if (!of.ending.join_state.done())
        return fail(WEFT_BUSY,
                    "stream %zu has not ended; weft_stream_stop asks it to, weft_stream_join_free waits for it",
                    of.rank);
    return free_stream(of);
}

weft_status weft_stream_stop(weft_stream* stream, bool at_once) noexcept {
    if (weft_status status = check_own(stream); status != WEFT_OK) return status;
    Stream* of = to_stream(stream);
    if (of->rank == 0) return fail(WEFT_WRONG_CONTEXT, "stream 0 ends with weft_finalize");
    unask(*of, attention::pause);
    ask(*of, attention::stop | attention::abandon.only_if(at_once));
    return WEFT_OK;
}

weft_status weft_stream_ended_get(const weft_stream* stream, bool* ended) noexcept {
    if (stream == nullptr || ended == nullptr) return is_null(stream == nullptr ? "stream" : "ended");
    *ended = to_stream(stream)->ending.join_state.done();
    return WEFT_OK;
}

weft_status weft_stream_data_set(weft_stream* stream, void* data) noexcept {
    if (weft_status status = check(stream); status != WEFT_OK) return status;
    to_stream(stream)->data = data;
    return WEFT_OK;
}

weft_status weft_stream_data_get(const weft_stream* stream, void** data) noexcept {
    if (stream == nullptr || data == nullptr) return is_null(stream == nullptr ? "stream" : "data");
    *data = to_stream(stream)->data;
    return WEFT_OK;
}

weft_status weft_stream_suspend(weft_stream* stream) noexcept {
    if (weft_status status = check_own(stream); status != WEFT_OK) return status;
    Stream* of = to_stream(stream);
    if (of->rank == 0) return fail(WEFT_WRONG_CONTEXT, "stream 0 runs the primary unit and cannot be suspended");
    if (of == current_or_null()) return fail(WEFT_WRONG_CONTEXT, "a stream cannot suspend itself; ask from another");
    if (of->asked().has(attention::pause)) return fail(WEFT_WRONG_STATE, "stream %zu is suspended already", of->rank);
    ask(*of, attention::pause);
    return WEFT_OK;
}

weft_status weft_stream_resume(weft_stream* stream) noexcept {
    if (weft_status status = check_own(stream); status != WEFT_OK) return status;
    Stream* of = to_stream(stream);
    if (!of->asked().has(attention::pause)) return fail(WEFT_WRONG_STATE, "stream %zu is not suspended", of->rank);
    unask(*of, attention::pause);
    return WEFT_OK;
}

weft_stream* weft_stream_self(void) noexcept { return to_handle(current_or_null()); }

weft_status weft_stream_rank_get(const weft_stream* stream, size_t* rank) noexcept {
    if (stream == nullptr || rank == nullptr) return is_null(stream == nullptr ? "stream" : "rank");
    *rank = to_stream(stream)->rank;
    return WEFT_OK;
}

weft_stream* weft_stream_at(size_t rank) noexcept {
    Process* of = process_or_null();
    if (of == nullptr || rank >= Process::most_ranks) return nullptr;
    std::lock_guard guard(of->lock);
    Stream* const stream = of->streams[rank];
    // a stream that carries harts to domains is not the program's
    return stream == nullptr || stream->role.hidden ? nullptr : to_handle(stream);
}

size_t weft_stream_count(void) noexcept {
    Process* of = process_or_null();
    if (of == nullptr) return 0;
    std::lock_guard guard(of->lock);
    return of->stream_count;
}

weft_status weft_stream_sched_set(weft_stream* stream, weft_sched* sched) noexcept {
    if (stream == nullptr || sched == nullptr) return is_null(stream == nullptr ? "stream" : "sched");
    if (weft_status status = check_own(stream); status != WEFT_OK) return status;
    return set_main(*to_stream(stream), *to_sched(sched));
}

weft_status weft_stream_sched_get(const weft_stream* stream, weft_sched** sched) noexcept {
    if (stream == nullptr || sched == nullptr) return is_null(stream == nullptr ? "stream" : "sched");
    std::lock_guard guard(to_stream(stream)->of->replacing);
    *sched = to_handle(to_stream(stream)->levels.main);
    return WEFT_OK;
}

weft_status weft_stream_pool_get(const weft_stream* stream, weft_pool** pool) noexcept {
    if (stream == nullptr || pool == nullptr) return is_null(stream == nullptr ? "stream" : "pool");
    *pool = to_handle(&main_pool_of(*to_stream(stream)));
    return WEFT_OK;
}

weft_status weft_stream_name_get(const weft_stream* stream, const char** name) noexcept {
    if (stream == nullptr || name == nullptr) return is_null(stream == nullptr ? "stream" : "name");
    *name = to_stream(stream)->name;
    return WEFT_OK;
}

weft_status weft_stream_depth_get(const weft_stream* stream, size_t* depth) noexcept {
    if (stream == nullptr || depth == nullptr) return is_null(stream == nullptr ? "stream" : "depth");
    const Stream* of = to_stream(stream);
    if (of != current_or_null())
        return fail(WEFT_WRONG_CONTEXT, "how deep schedulers stand on stream %zu is known there alone", of->rank);
    *depth = of->levels.depth;
    return WEFT_OK;
}

weft_status weft_stream_bind_hart(weft_stream* stream, size_t hart) noexcept {
    if (weft_status status = check_own(stream); status != WEFT_OK) return status;
    const os::CpuSet own = to_stream(stream)->of->cpus;
    const std::size_t cpu = own.at(hart);
    if (cpu == os::CpuSet::limit)
        return fail(WEFT_INVALID, "there is no hart %zu; the process has %zu", hart, own.count());
    os::CpuSet cpus;
    cpus.add(cpu);
    char what[32];
    std::snprintf(what, sizeof what, "hart %zu", hart);
    return bind(stream, cpus, what);
}

weft_status weft_stream_bind_cpus(weft_stream* stream, const char* cpus) noexcept {
    if (stream == nullptr || cpus == nullptr) return is_null(stream == nullptr ? "stream" : "cpus");
    if (weft_status status = check_own(stream); status != WEFT_OK) return status;
    os::CpuSet set;
    if (!set.parse(cpus)) return fail(WEFT_INVALID, "'%.100s' is not a list of CPUs; write it like 0-3,8", cpus);
    return bind(stream, set, cpus);
}

weft_status weft_stream_bind_numa(weft_stream* stream, unsigned node) noexcept {
    if (weft_status status = check_own(stream); status != WEFT_OK) return status;
    os::CpuSet cpus;
    switch (hart::numa_cpus(node, cpus)) {
    case hart::Answer::ok: break;
    case hart::Answer::no_such: return fail(WEFT_INVALID, "there is no NUMA node %u with CPUs of this process", node);
    case hart::Answer::unsupported:
        return fail(WEFT_UNSUPPORTED, "NUMA nodes are known only with hwloc; install libhwloc15");
    case hart::Answer::no_memory: return fail(WEFT_NO_MEMORY, "no memory for the topology");
    }
    char what[32];
    std::snprintf(what, sizeof what, "NUMA node %u", node);
    return bind(stream, cpus, what);
}

weft_status weft_stream_unbind(weft_stream* stream) noexcept {
    if (weft_status status = check_own(stream); status != WEFT_OK) return status;
    return bind_stream(*to_stream(stream), to_stream(stream)->of->cpus, "all CPUs");
}

weft_status weft_stream_binding_get(const weft_stream* stream, char* buffer, size_t bytes) noexcept {
    if (stream == nullptr || buffer == nullptr) return is_null(stream == nullptr ? "stream" : "buffer");
    const Stream* of = to_stream(stream);
    await_thread(*const_cast<Stream*>(of));
    os::CpuSet cpus;
    if (!os::affinity_get(of->carrier.thread_id.load(), cpus))
        return fail(WEFT_SYSTEM, "the kernel does not tell the CPUs of stream %zu", of->rank);
    if (cpus.write(buffer, bytes) < bytes) return WEFT_OK;
    char text[os::error_text_bytes];
    cpus.write(text, sizeof text);
    return fail(WEFT_INVALID, "%zu bytes are too few for '%s'", bytes, text);
}

}   // extern "C"
