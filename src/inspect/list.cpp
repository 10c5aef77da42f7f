// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be observed of the whole runtime: its counters and its live units.
#include "inspect/list.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/handles.hpp"
#include "base/text.hpp"
#include "carrier/neighbours.hpp"
#include "hart/quota.hpp"
#include "inspect/deadlock.hpp"
#include "os/error_text.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "share/carriers.hpp"
#include "share/rescue.hpp"
#include "trace/added.hpp"
#include "unit/names.hpp"

namespace weft {
namespace {

using trace::Count;
using trace::counts;

Count nth(std::size_t index) { return static_cast<Count>(index); }

// Values that no stream keeps: the state of a moment.
struct Gauge {
    const char* path;
    std::uint64_t (*read)(const Process& of);
};

constexpr Gauge gauges[] = {
    {"/stacks/count/live", [](const Process& of) -> std::uint64_t { return of.stacks.live(); }},
    {"/stacks/count/created", [](const Process& of) -> std::uint64_t { return of.stacks.created(); }},
    {"/stacks/count/guarded-by-canary",
     [](const Process& of) -> std::uint64_t { return of.stacks.guarded_by_canary(); }},
    {"/stacks/count/unguarded", [](const Process& of) -> std::uint64_t { return of.stacks.unguarded(); }},
    {"/stacks/bytes/idle", [](const Process& of) -> std::uint64_t { return of.stacks.idle_bytes(); }},
    {"/descriptors/bytes", [](const Process& of) -> std::uint64_t { return of.descriptors.resident_bytes(); }},
    {"/units/count/deadlocks", [](const Process& of) -> std::uint64_t { return of.quiet.reports.load(); }},
    {"/hosts/count/live", [](const Process& of) -> std::uint64_t { return of.hosts.live(); }},
    {"/hosts/count/in-use", [](const Process& of) -> std::uint64_t { return of.hosts.in_use(); }},
    {"/hosts/count/started", [](const Process& of) -> std::uint64_t { return of.hosts.started(); }},
    {"/hosts/count/refused", [](const Process& of) -> std::uint64_t { return of.hosts.refused(); }},
    {"/hosts/switch-by-instruction",
     [](const Process&) -> std::uint64_t { return arch::sets_thread_pointer_by_instruction.load(); }},
    {"/hosts/count/used-up", [](const Process& of) -> std::uint64_t { return of.hosts.used_up(); }},
    {"/streams/count/live", [](const Process& of) -> std::uint64_t { return of.stream_count; }},
    {"/harts/count/limit", [](const Process&) -> std::uint64_t { return hart::limit(); }},
    {"/harts/count/granted", [](const Process& of) -> std::uint64_t { return of.base.granted(); }},
    {"/harts/count/oversubscribed",
     [](const Process& of) -> std::uint64_t {
         const std::size_t granted = of.base.granted(), limit = hart::limit();
         return granted > limit ? granted - limit : 0;
     }},
    // Each grant of a hart: to the streams, a domain or a guest. A hart that a guest takes up again
    // after it has left it reclaimable is not counted.
    {"/harts/count/lent", [](const Process& of) -> std::uint64_t { return of.base.grants(); }},
    // Because of neighbours: withheld now, and how often withholding has begun.
    {"/harts/count/withheld", [](const Process& of) -> std::uint64_t { return of.neighbours.withheld.load(); }},
    {"/harts/count/withholdings", [](const Process& of) -> std::uint64_t { return of.neighbours.withholdings.load(); }},
    // OS threads beside the streams: those that take harts to domains, and those that rescue. They
    // stay until the runtime ends, except where hosted units need the room.
    {"/harts/count/carriers",
     [](const Process& of) -> std::uint64_t { return of.carriers.started.load() + of.rescue.carriers.started.load(); }},
    // How often the kernel refused one. Where none can be had a guest's OS thread carries what it
    // can.
    {"/harts/count/carriers-refused",
     [](const Process& of) -> std::uint64_t { return of.carriers.refused.load() + of.rescue.carriers.refused.load(); }},
    {"/rescue/count/looks", [](const Process& of) -> std::uint64_t { return of.rescue.looks.load(); }},
    {"/rescue/count/emergencies", [](const Process& of) -> std::uint64_t { return of.rescue.emergencies.load(); }},
    {"/rescue/count/running", [](const Process& of) -> std::uint64_t { return of.rescue.running.load(); }},
    {"/rescue/count/refused", [](const Process& of) -> std::uint64_t { return of.rescue.refused.load(); }},
};

// For example "/units{stream#2}/count/run" for stream 2.
Text<128> path_of(Count which, std::size_t rank) {
    const char* const path = trace::path(which);
    const char* const rest = std::strchr(path + 1, '/');
    Text<128> text;
    text.put("%.*s{stream#%zu}%s", static_cast<int>(rest - path), path, rank, rest);
    return text;
}

// Takes "{stream#N}" out of `name`; false when there is none, or no counter has a name of that
// length.
bool split(const char* name, Text<128>& path, std::size_t& rank) {
    static constexpr std::string_view mark = "{stream#";
    const char* const begin = std::strstr(name, mark.data());
    const char* const end = begin == nullptr ? nullptr : std::strchr(begin, '}');
    if (end == nullptr || std::strlen(name) >= 128) return false;
    const char* const digits = begin + mark.size();
    char* stop;
    rank = std::strtoul(digits, &stop, 10);
    if (stop == digits || stop != end) return false;
    path.put("%.*s%s", static_cast<int>(begin - name), name, end + 1);
    return true;
}

// The names that begin like `name` up to its last slash, or all.
Text<os::error_text_bytes> near(const char* name) {
    const char* const slash = *name == '\0' ? nullptr : std::strchr(name + 1, '/');
    const std::string_view start =
        slash == nullptr ? std::string_view(name) : std::string_view(name, static_cast<std::size_t>(slash - name));
    Text<os::error_text_bytes> list, all;
    auto offer = [&](const char* path) {
        if (std::string_view(path).substr(0, start.size()) == start) list.put("%s%s", list.empty() ? "" : ", ", path);
        all.put("%s%s", all.empty() ? "" : ", ", path);
    };
    for (std::size_t i = 0; i < counts; ++i) offer(trace::path(nth(i)));
    for (const Gauge& gauge : gauges) offer(gauge.path);
    for (const trace::Added* one = trace::added(); one != nullptr; one = one->next) offer(one->name);
    return list.empty() || start.size() < 2 ? all : list;
}

struct Visit {
    const Pool* pool;   // null: any
    void (*visit)(const weft_unit_info* info, void* argument);
    void* argument;
};

// A snapshot of a descriptor that may change meanwhile: the values shown are those of some moment.
// Therefore it is hidden from the thread sanitizer, and copied by hand.
[[gnu::no_sanitize_thread]] bool snapshot(const Unit& unit, const Pool* pool, weft_unit_info& info,
                                          char (&name)[sizeof unit.name]) {
    const State now = unit.life.now(), state = shown(now);
    if (state == State::free || (pool != nullptr && unit.pool != pool)) return false;
    info.size = sizeof info;
    info.unit = to_handle(&unit);
    info.id = unit.id;
    info.kind = static_cast<weft_kind>(unit.kind);
    info.state = static_cast<weft_unit_state>(state);
    for (std::size_t i = 0; i < sizeof name; ++i) name[i] = unit.name[i];
    name[sizeof name - 1] = '\0';
    info.name = name;
    info.spawn_site = unit.spawned_at();
    info.waits_for = now == State::suspended ? name_of(Waits::suspend)
                     : now != State::waiting ? ""
                                             : name_of(unit.waits);
    info.waits_object = state == State::suspended ? unit.waits_object : nullptr;
    info.waits_until_ns = state == State::suspended ? unit.waits_until_ns : 0;
    // A unit that is ready again has a context to continue from; a unit of kind Full has its stack
    // from the beginning.
    info.started = state != State::ready || unit.context != nullptr;
    info.pool = handles::shown<weft_pool>(unit.pool);
    return true;
}

void visit_one(void* object, void* raw) {
    const auto& to = *static_cast<Visit*>(raw);
    weft_unit_info info;
    char name[sizeof(Unit::name)];
    if (snapshot(*static_cast<const Unit*>(object), to.pool, info, name)) to.visit(&info, to.argument);
}

}   // namespace

void look_at_unit(const Unit& unit, weft_unit_info& info) {
    char name[sizeof unit.name];
    info = {};
    snapshot(unit, nullptr, info, name);
    info.name = unit.name;
}

bool is_own_counter(const char* name) {
    for (std::size_t i = 0; i < counts; ++i) {
        if (std::strcmp(name, trace::path(nth(i))) == 0) return true;
    }
    return std::any_of(std::begin(gauges), std::end(gauges),
                       [name](const Gauge& gauge) { return std::strcmp(name, gauge.path) == 0; });
}

weft_status read_counter(Process& of, const char* name, std::uint64_t* value) {
    std::lock_guard guard(of.lock);
    // Nothing is allocated: the report of `weft run` reads some counters where a process ends from
    // a signal handler that interrupted malloc.
    Text<128> of_one;
    std::size_t rank = 0;
    const bool one_stream = std::strchr(name, '{') != nullptr && split(name, of_one, rank);
    const char* const path = one_stream ? of_one.c_str() : name;
    if (one_stream && (rank >= of.ranks_used || of.streams[rank] == nullptr)) {
        return fail(WEFT_INVALID, "'%.100s': there is no stream %zu", name, rank);
    }
    for (std::size_t i = 0; i < counts; ++i) {
        if (std::strcmp(path, trace::path(nth(i))) != 0) continue;
        *value = one_stream ? of.streams[rank]->counted(nth(i)) : sum(of, nth(i));
        return WEFT_OK;
    }
    for (const Gauge& gauge : gauges) {
        if (one_stream || std::strcmp(path, gauge.path) != 0) continue;
        *value = gauge.read(of);
        return WEFT_OK;
    }
    return fail(WEFT_INVALID, "there is no counter '%.100s'; near are: %s", name, near(path).c_str());
}

void print_counters(const Process& of, std::FILE* file) {
    std::lock_guard guard(of.lock);
    for (std::size_t i = 0; i < counts; ++i) {
        std::fprintf(file, "%s\t%llu\n", trace::path(nth(i)), static_cast<unsigned long long>(sum(of, nth(i))));
    }
    for (const Gauge& gauge : gauges) {
        std::fprintf(file, "%s\t%llu\n", gauge.path, static_cast<unsigned long long>(gauge.read(of)));
    }
    for (const trace::Added* one = trace::added(); one != nullptr; one = one->next) {
        std::fprintf(file, "%s\t%llu\n", one->name, static_cast<unsigned long long>(one->read(one->argument)));
    }
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        if (of.streams[rank] == nullptr) continue;
        for (std::size_t i = 0; i < counts; ++i) {
            std::fprintf(file, "%s\t%llu\n", path_of(nth(i), rank).c_str(),
                         static_cast<unsigned long long>(of.streams[rank]->counted(nth(i))));
        }
    }
}

void print_counters_at_end(Process& of) {
    const char* where = of.settings.counters;
    if (where == nullptr) return;
    of.settings.counters = nullptr;   // at exit or at the last finalize, whichever comes first
    if (std::strcmp(where, "stderr") == 0) return print_counters(of, stderr);
    std::FILE* file = std::fopen(where, "we");
    if (file == nullptr) {
        std::fprintf(stderr, "weft: the counters cannot be written to '%s' (WEFT_COUNTERS)\n", where);
        return;
    }
    print_counters(of, file);
    std::fclose(file);
}

void each_unit(Process& of, void (*visit)(const weft_unit_info* info, void* argument), void* argument,
               const Pool* pool) {
    Visit to{pool, visit, argument};
    each_descriptor(of, visit_one, &to);
}

void print_units(Process& of, std::FILE* file) {
    each_unit(
        of,
        [](const weft_unit_info* info, void* raw) {
            auto* to = static_cast<std::FILE*>(raw);
            std::fprintf(to, "%llu\t%s\t%s\t'%s'", static_cast<unsigned long long>(info->id),
                         name_of(static_cast<State>(info->state)), name_of(static_cast<Kind>(info->kind)), info->name);
            if (info->waits_for[0] != '\0') std::fprintf(to, "\twaits for %s %p", info->waits_for, info->waits_object);
            if (info->waits_until_ns != 0)
                std::fprintf(to, " until %llu ns", static_cast<unsigned long long>(info->waits_until_ns));
            std::fprintf(to, "\tspawned at %p\n", info->spawn_site);
        },
        file);
}

}   // namespace weft
