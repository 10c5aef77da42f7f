// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "affinity.hpp"

#include <sched.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "environment.hpp"

namespace weft::argobots {
namespace {

// The text, from left to right.
class Reader {
public:
    explicit Reader(const char* text) : at_(text) {}

    bool take(char wanted) {
        skip();
        if (*at_ != wanted) return false;
        ++at_;
        return true;
    }
    bool at_end() {
        skip();
        return *at_ == '\0';
    }
    bool number(long& value) {
        skip();
        char* end = nullptr;
        errno = 0;
        value = std::strtol(at_, &end, 10);
        if (end == at_ || errno != 0) return false;
        at_ = end;
        return true;
    }

private:
    void skip() {
        while (*at_ == ' ' || *at_ == '\t') ++at_;
    }

    const char* at_;
};

// ":count" or ":count:stride", or nothing, which means 1 and 1.
struct Row {
    long count = 1;
    long stride = 1;
    bool read(Reader& from) {
        if (!from.take(':')) return true;
        if (!from.number(count) || count < 1 || count > Cpus::limit) return false;
        return !from.take(':') || (from.number(stride) && stride > -Cpus::limit && stride < Cpus::limit);
    }
};

bool add(Cpus& to, long cpu) {
    if (cpu < 0 || cpu >= Cpus::limit) return false;
    to.add(cpu);
    return true;
}

// The text in braces, after the opening brace.
bool read_cpus(Reader& from, Cpus& to) {
    do {
        long first = 0;
        Row row;
        if (!from.number(first) || !row.read(from)) return false;
        for (long i = 0; i < row.count; ++i) {
            if (!add(to, first + i * row.stride)) return false;
        }
    } while (from.take(','));
    return from.take('}');
}

bool moved(const Cpus& from, long by, Cpus& to) {
    to.clear();
    for (long cpu = 0; cpu < Cpus::limit; ++cpu) {
        if (from.has(cpu) && !add(to, cpu + by)) return false;
    }
    return true;
}

// Room for the text of a set of some 800 CPUs, no two of them neighbours.
constexpr std::size_t list_bytes = 4096;

// Writes "0-3,8", the form that Weft accepts. False: there is no room.
bool write_list(const Cpus& cpus, char (&to)[list_bytes]) {
    std::size_t used = 0;
    for (long cpu = 0; cpu < Cpus::limit; ++cpu) {
        if (!cpus.has(cpu)) continue;
        const long first = cpu;
        while (cpu + 1 < Cpus::limit && cpus.has(cpu + 1)) ++cpu;
        used += static_cast<std::size_t>(
            std::snprintf(to + used, list_bytes - used, used == 0 ? "%ld-%ld" : ",%ld-%ld", first, cpu));
        if (used >= list_bytes) return false;
    }
    return true;
}

bool read_list(const char* text, Cpus& cpus) {
    Reader from(text);
    do {
        long first = 0;
        if (!from.number(first)) return false;
        long last = first;
        if (from.take('-') && !from.number(last)) return false;
        for (long cpu = first; cpu <= last; ++cpu) {
            if (!add(cpus, cpu)) return false;
        }
    } while (from.take(','));
    return true;
}

Cpus process_cpus;   // the process's CPUs at the start

// The kernel ignores CPUs that the process may not use, as long as there are others; so does this
// function.
int bind(Xstream& xstream, const Cpus& asked) {
    Cpus cpus;
    for (long cpu = 0; cpu < Cpus::limit; ++cpu) {
        if (asked.has(cpu) && process_cpus.has(cpu)) cpus.add(cpu);
    }
    if (cpus.count() == 0) return ABT_ERR_CPUID;
    char text[list_bytes];
    if (!write_list(cpus, text)) return ABT_ERR_SYS;
    const weft_status status = weft_stream_bind_cpus(xstream.now(), text);
    return status == WEFT_INVALID ? ABT_ERR_CPUID : from_weft(status);
}

// The CPUs that the stream's OS thread may run on. For a stream that was never bound: all CPUs of
// the process, unless the program has bound the thread itself.
int binding_of(const Xstream& xstream, Cpus& cpus) {
    char text[list_bytes];
    return weft_stream_binding_get(xstream.now(), text, sizeof text) == WEFT_OK && read_list(text, cpus) ? ABT_SUCCESS
                                                                                                         : ABT_ERR_SYS;
}

// A stream that has ended has no OS thread to bind.
int can_be_bound(ABT_xstream xstream) {
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    return to_xstream(xstream)->now() == nullptr ? ABT_ERR_INV_XSTREAM : ABT_SUCCESS;
}

}   // namespace

std::size_t Cpus::count() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : words_) sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
}

std::size_t read_places(const char* text, std::size_t number, Cpus& place) {
    Reader from(text);
    std::size_t count = 0;
    Cpus read, here;
    do {
        const bool braces = from.take('{');
        long cpu = 0;
        Row row;
        read.clear();
        const bool good = braces ? read_cpus(from, read) : from.number(cpu) && add(read, cpu);
        if (!good || !row.read(from)) return 0;
        for (long i = 0; i < row.count; ++i) {
            if (!moved(read, i * row.stride, here)) return 0;
            if (count++ == number) place = here;
        }
    } while (from.take(','));
    return from.at_end() ? count : 0;
}

void note_process_cpus() {
    cpu_set_t set;
    process_cpus.clear();
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) process_cpus.add(cpu);
    }
}

void bind_as_asked(Xstream& xstream) {
    const char* text = environment().affinity;
    if (text == nullptr) return;
    Cpus place;
    const std::size_t count = read_places(text, 0, place);
    if (count == 0) {
        if (xstream.primary)
            std::fprintf(
                stderr, "ABT_SET_AFFINITY: '%.200s' is no list of places, such as {0},{1,2}: nothing is bound\n", text);
        return;
    }
    const std::size_t number = static_cast<std::size_t>(xstream.rank) % count;
    read_places(text, number, place);
    if (bind(xstream, place) == ABT_SUCCESS) return;
    std::fprintf(stderr, "ABT_SET_AFFINITY: execution stream %d cannot be bound to place %zu of '%.200s': %s\n",
                 xstream.rank, number, text, weft_error_text());
}

}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_xstream_set_cpubind(ABT_xstream xstream, int cpuid) { return ABT_xstream_set_affinity(xstream, 1, &cpuid); }

int ABT_xstream_get_cpubind(ABT_xstream xstream, int* cpuid) {
    int count = 0;
    return ABT_xstream_get_affinity(xstream, 1, cpuid, &count);
}

int ABT_xstream_set_affinity(ABT_xstream xstream, int num_cpuids, int* cpuids) {
    if (const int error = can_be_bound(xstream); error != ABT_SUCCESS) return error;
    if (num_cpuids < 0) return ABT_ERR_INV_ARG;
    Xstream& of = *to_xstream(xstream);
    if (num_cpuids == 0) return from_weft(weft_stream_unbind(of.now()));
    Cpus cpus;
    for (int i = 0; i < num_cpuids; ++i) {
        if (cpuids[i] >= CPU_SETSIZE || !add(cpus, cpuids[i])) return ABT_ERR_CPUID;   // no kernel has such a CPU
    }
    return bind(of, cpus);
}

int ABT_xstream_get_affinity(ABT_xstream xstream, int max_cpuids, int* cpuids, int* num_cpuids) {
    if (const int error = can_be_bound(xstream); error != ABT_SUCCESS) return error;
    if (max_cpuids < 0) return ABT_ERR_INV_ARG;
    Cpus cpus;
    if (const int error = binding_of(*to_xstream(xstream), cpus); error != ABT_SUCCESS) return error;
    int told = 0;
    for (long cpu = 0; cpu < Cpus::limit && cpuids != nullptr && told < max_cpuids; ++cpu) {
        if (cpus.has(cpu)) cpuids[told++] = static_cast<int>(cpu);
    }
    if (num_cpuids != nullptr) *num_cpuids = static_cast<int>(cpus.count());
    return ABT_SUCCESS;
}

}   // extern "C"
