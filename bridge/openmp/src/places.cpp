// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places: the sets of CPUs that OMP_PLACES or GOMP_CPU_AFFINITY names, and the routines about them.
// Which thread is in which place, and running it there: bind.cpp.
#include <sched.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/embed/hosted.h>

#include "bind.hpp"
#include "export.hpp"
#include "fatal.hpp"
#include "places.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

using Place = std::vector<int>;

std::vector<int> allowed() {
    cpu_set_t set;
    std::vector<int> cpus;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
}

// The grammar of the two variables (OpenMP 5.1, 6.5). Nothing is returned for a text that does not
// follow it.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::optional<std::vector<Place>> places() {
        std::vector<Place> all;
        do {
            const bool excluded = accept('!');
            auto place = accept('{') ? list() : one();
            if (!place) return std::nullopt;
            long count = 1, stride = 1;
            if (accept(':')) {
                if (!number(count) || count < 1 || count > most) return std::nullopt;
                if (accept(':') && (!number(stride) || std::abs(stride) > most)) return std::nullopt;
            }
            if (excluded) {
                if (count != 1) return std::nullopt;
                if (std::erase(all, *place) == 0) {
                    complain("Trying to remove a non-existing place from list of places");
                    return std::nullopt;
                }
                continue;
            }
            for (long i = 0; i < count; ++i) {
                Place shifted;
                for (const int cpu : *place) {
                    if (!add(shifted, cpu, i, stride)) return std::nullopt;
                }
                all.push_back(std::move(shifted));
            }
        } while (accept(','));
        return done() ? std::optional(all) : std::nullopt;
    }

    // GOMP_CPU_AFFINITY: "0 3 1-2 4-15:2", each CPU a place. No blanks before - and :.
    std::optional<std::vector<Place>> cpus() {
        std::vector<Place> all;
        do {
            long first, last, stride = 1;
            if (!number(first) || first < 0 || first > most) return std::nullopt;
            last = first;
            if (at('-')) {
                text_.remove_prefix(1);
                if (!number(last) || last < first || last > most) return std::nullopt;
                if (at(':')) {
                    text_.remove_prefix(1);
                    if (!number(stride) || stride < 1 || stride > most) return std::nullopt;
                }
            }
            if (!text_.empty() && !blank() && !at(',')) return std::nullopt;
            for (long cpu = first; cpu <= last; cpu += stride) all.push_back({static_cast<int>(cpu)});
        } while (accept(',') || !done());
        return all;
    }

    // What follows the opening parenthesis.
    std::optional<long> in_parentheses() {
        long count;
        return number(count) && count > 0 && accept(')') && done() ? std::optional(count) : std::nullopt;
    }

private:
    std::optional<Place> one() {
        long cpu;
        Place place;
        if (!number(cpu) || !add(place, cpu, 0, 1)) return std::nullopt;
        return place;
    }
    std::optional<Place> list() {
        Place place;
        do {
            const bool excluded = accept('!');
            long first, count = 1, stride = 1;
            if (!number(first)) return std::nullopt;
            if (accept(':')) {
                if (!number(count) || count < 1 || count > most) return std::nullopt;
                if (accept(':') && (!number(stride) || std::abs(stride) > most)) return std::nullopt;
            }
            for (long i = 0; i < count; ++i) {
                if (excluded ? !remove(place, first + i * stride) : !add(place, first, i, stride)) return std::nullopt;
            }
        } while (accept(','));
        return accept('}') ? std::optional(place) : std::nullopt;
    }

    // In order, each CPU once. False: no CPU can have that number, which is reported in libgomp's
    // words.
    static bool add(Place& place, long first, long steps, long stride) {
        const long cpu = first + steps * stride;
        if (cpu < 0 || cpu > most) {
            if (steps == 0) complain("Logical CPU number %lu out of range", static_cast<unsigned long>(cpu));
            else complain("Logical CPU number %ld+%ld out of range", cpu - stride, stride);
            return false;
        }
        const auto at = std::lower_bound(place.begin(), place.end(), cpu);
        if (at == place.end() || *at != cpu) place.insert(at, static_cast<int>(cpu));
        return true;
    }

    static bool remove(Place& place, long cpu) {
        if (std::erase(place, cpu) != 0) return true;
        complain("Logical CPU %ld to be removed is not in the set", cpu);
        return false;
    }

    static constexpr long most = 1 << 20;   // of a CPU's number, or of a number of CPUs

    bool at(char wanted) const { return !text_.empty() && text_.front() == wanted; }
    bool blank() const { return !text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0; }
    void skip() {
        while (blank()) text_.remove_prefix(1);
    }
    bool done() {
        skip();
        return text_.empty();
    }
    bool accept(char wanted) {
        skip();
        if (!at(wanted)) return false;
        text_.remove_prefix(1);
        return true;
    }
    bool number(long& value) {
        skip();
        if (text_.size() > 1 && at('+') && text_[1] != '-') text_.remove_prefix(1);
        const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        if (error != std::errc()) return false;
        text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
        return true;
    }

    std::string_view text_;
};

// The number in the kernel's file about a CPU; -1: none.
int topology(int cpu, const char* what) {
    char path[128];
    std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
    int value = -1;
    if (std::FILE* const file = std::fopen(path, "r")) {
        if (std::fscanf(file, "%d", &value) != 1) value = -1;
        std::fclose(file);
    }
    return value;
}

// threads, cores or sockets; "(n)" limits them to the first n.
std::optional<std::vector<Place>> by_topology(std::string_view text) {
    std::size_t most = ~std::size_t{0};
    if (const std::size_t open = text.find('('); open != std::string_view::npos) {
        const auto count = Reader(text.substr(open + 1)).in_parentheses();
        if (!count) return std::nullopt;
        most = static_cast<std::size_t>(*count);
        text = text.substr(0, open);
    }
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
    const auto is = [text](const char* word) {
        return text.size() == std::strlen(word) && strncasecmp(text.data(), word, text.size()) == 0;
    };
    const bool threads = is("threads"), cores = is("cores"),
               sockets = is("sockets") || is("numa_domains") || is("ll_caches");
    if (!threads && !cores && !sockets) return std::nullopt;
    std::vector<std::pair<std::pair<int, int>, Place>> groups;
    for (const int cpu : allowed()) {
        const std::pair<int, int> key = threads ? std::pair(cpu, 0)
                                        : cores
                                            ? std::pair(topology(cpu, "physical_package_id"), topology(cpu, "core_id"))
                                            : std::pair(topology(cpu, "physical_package_id"), 0);
        const auto found =
            std::find_if(groups.begin(), groups.end(), [&key](const auto& group) { return group.first == key; });
        if (found != groups.end()) found->second.push_back(cpu);
        else groups.push_back({key, {cpu}});
    }
    std::vector<Place> all;
    for (auto& group : groups) {
        if (all.size() < most) all.push_back(std::move(group.second));
    }
    return all;
}

// What is left of the places where the process may not use all CPUs.
std::optional<std::vector<Place>> usable(std::optional<std::vector<Place>> read) {
    if (!read) return read;
    const std::vector<int> may = allowed();
    const std::size_t named = read->size();
    for (Place& place : *read)
        std::erase_if(place, [&may](int cpu) { return !std::binary_search(may.begin(), may.end(), cpu); });
    std::erase_if(*read, [](const Place& place) { return place.empty(); });
    if (read->empty()) {
        complain("None of the places contain usable logical CPUs");
        return std::nullopt;
    }
    if (read->size() != named)
        complain("Number of places reduced from %zu to %zu because some places didn't contain any usable logical CPUs",
                 named, read->size());
    return read;
}

const std::vector<Place>& places() { return environment().places; }

std::string ranges(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(cpus[i]);
        if (last != i) text += '-' + std::to_string(cpus[last]);
        i = last + 1;
    }
    return text;
}

std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

// For a hosted unit the number that it keeps, whichever OS thread carries it.
long thread_id() {
    const auto hosted = static_cast<long>(weft_hosted_thread_id());
    return hosted != 0 ? hosted : syscall(SYS_gettid);
}

}   // namespace

std::optional<std::string> affinity_field(std::string_view name) {
    const Thread& me = this_thread();
    const auto is = [name](char letter, const char* word) {
        return (name.size() == 1 && name[0] == letter) || name == word;
    };
    if (is('t', "team_num")) return std::to_string(me.team->league.number);
    if (is('T', "num_teams")) return std::to_string(me.team->league.teams);
    if (is('L', "nesting_level")) return std::to_string(me.team->level);
    if (is('n', "thread_num")) return std::to_string(me.slot->number);
    if (is('N', "num_threads")) return std::to_string(me.team->size);
    if (is('a', "ancestor_tnum"))
        return std::to_string(me.team->outer_slot == nullptr ? -1 : static_cast<int>(me.team->outer_slot->number));
    if (is('H', "host")) return host_name();
    if (is('P', "process_id")) return std::to_string(getpid());
    if (is('i', "native_thread_id")) return std::to_string(thread_id());
    if (is('A', "thread_affinity")) return ranges(allowed());
    return std::nullopt;
}

const std::vector<Place>& bound_places() { return places(); }

std::optional<std::vector<Place>> read_places(std::string_view text) {
    auto read = by_topology(text);
    return usable(read ? std::move(read) : Reader(text).places());
}
std::optional<std::vector<Place>> read_cpus(std::string_view text) { return usable(Reader(text).cpus()); }

std::string places_text() {
    std::string text;
    for (const Place& place : places()) {
        text += text.empty() ? "{" : ",{";
        for (std::size_t first = 0, last; first < place.size(); first = last) {
            for (last = first + 1; last < place.size() && place[last] == place[last - 1] + 1;) ++last;
            text += (first == 0 ? "" : ",") + std::to_string(place[first]);
            if (last - first > 1) text += ":" + std::to_string(last - first);
        }
        text += "}";
    }
    return text;
}

}   // namespace weft_openmp

using namespace weft_openmp;   // NOLINT: entry points

namespace {

const Place* place(int number) {
    return number < 0 || static_cast<std::size_t>(number) >= places().size()
               ? nullptr
               : &places()[static_cast<std::size_t>(number)];
}

template <class Number>
void copy_cpus(int number, Number* ids) {
    if (const Place* const found = place(number)) std::copy(found->begin(), found->end(), ids);
}
template <class Number>
void copy_numbers(Number* numbers) {
    const Slot& slot = *this_thread().slot;
    for (unsigned i = 0; i < slot.places; ++i) numbers[i] = static_cast<Number>(slot.first_place + i);
}

}   // namespace

OPENMP_API int omp_get_num_places() { return static_cast<int>(places().size()); }
OPENMP_API int omp_get_num_places_() { return omp_get_num_places(); }
OPENMP_API int omp_get_place_num_procs(int number) {
    return place(number) == nullptr ? 0 : static_cast<int>(place(number)->size());
}
OPENMP_API int omp_get_place_num_procs_(const std::int32_t* number) { return omp_get_place_num_procs(*number); }
OPENMP_API int omp_get_place_num_procs_8_(const std::int64_t* number) {
    return omp_get_place_num_procs(static_cast<int>(*number));
}
OPENMP_API void omp_get_place_proc_ids(int number, int* ids) { copy_cpus(number, ids); }
OPENMP_API void omp_get_place_proc_ids_(const std::int32_t* number, std::int32_t* ids) { copy_cpus(*number, ids); }
OPENMP_API void omp_get_place_proc_ids_8_(const std::int64_t* number, std::int64_t* ids) {
    copy_cpus(static_cast<int>(*number), ids);
}
OPENMP_API int omp_get_place_num() { return this_thread().slot->place; }
OPENMP_API int omp_get_place_num_() { return omp_get_place_num(); }
OPENMP_API int omp_get_partition_num_places() { return static_cast<int>(this_thread().slot->places); }
OPENMP_API int omp_get_partition_num_places_() { return omp_get_partition_num_places(); }
OPENMP_API void omp_get_partition_place_nums(int* numbers) { copy_numbers(numbers); }
OPENMP_API void omp_get_partition_place_nums_(std::int32_t* numbers) { copy_numbers(numbers); }
OPENMP_API void omp_get_partition_place_nums_8_(std::int64_t* numbers) { copy_numbers(numbers); }
