// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The environment variables OMP_ and GOMP_, as libgomp 12 reads them. A value that is not
// understood is reported and ignored.
#include <pthread.h>
#include <sched.h>
#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include "../../common/variables.hpp"
#include "bind.hpp"
#include "fatal.hpp"
#include "icv.hpp"
#include "places.hpp"
#include "wait.hpp"

namespace weft_openmp {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr const char* blank = " \t\n\r\f\v";
    const std::size_t first = text.find_first_not_of(blank);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

bool same(std::string_view text, const char* word) {
    return text.size() == std::strlen(word) && strncasecmp(text.data(), word, text.size()) == 0;
}

void invalid(const char* name, std::string_view value) {
    complain("Invalid value for environment variable %s: \"%.*s\" is passed over", name, static_cast<int>(value.size()),
             value.data());
}

template <class Number = long>
std::optional<Number> number(std::string_view text, Number least = 0, Number most = INT_MAX) {
    text = trimmed(text);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
    return value;
}

std::optional<bool> boolean(std::string_view text) {
    if (same(text, "true")) return true;
    if (same(text, "false")) return false;
    return std::nullopt;
}

// Calls read(value) with the variable's value, if it is set. The value is illegal if read returns
// false, or if it is blank. Returns whether the variable is set, and legal.
template <class Read>
bool with(const char* name, Read read) {
    const char* const value = std::getenv(name);
    if (value == nullptr) return false;
    const bool legal = !trimmed(value).empty() && read(trimmed(value));
    if (!legal) invalid(name, value);
    return legal;
}

template <class Value>
void number_of(const char* name, Value& to, long least = 0) {
    with(name, [&](std::string_view text) {
        const auto value = number(text, least);
        if (value) to = static_cast<Value>(*value);
        return value.has_value();
    });
}

void boolean_of(const char* name, bool& to) {
    with(name, [&](std::string_view text) {
        const auto value = boolean(text);
        if (value) to = *value;
        return value.has_value();
    });
}

// Calls part(text) for each part between commas. False: a part was not understood.
template <class Part>
bool parts(std::string_view text, Part part) {
    for (;;) {
        const std::size_t comma = text.find(',');
        if (!part(trimmed(text.substr(0, comma)))) return false;
        if (comma == std::string_view::npos) return true;
        text.remove_prefix(comma + 1);
    }
}

bool read_schedule(std::string_view text, Icv& icv) {
    std::string_view modifier;
    if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        modifier = trimmed(text.substr(0, colon));
        if (!same(modifier, "monotonic") && !same(modifier, "nonmonotonic")) return false;
        text = trimmed(text.substr(colon + 1));
    }
    const std::size_t comma = text.find(',');
    const std::string_view kind = trimmed(text.substr(0, comma));
    Schedule schedule;
    if (same(kind, "static")) schedule = Schedule::is_static;
    else if (same(kind, "dynamic")) schedule = Schedule::dynamic;
    else if (same(kind, "guided")) schedule = Schedule::guided;
    else if (same(kind, "auto")) schedule = Schedule::automatic;
    else return false;
    int chunk = schedule == Schedule::is_static ? 0 : 1;
    if (comma != std::string_view::npos) {
        const auto value = number(text.substr(comma + 1));
        if (!value) return false;
        chunk = static_cast<int>(*value);
        if (chunk == 0 && schedule != Schedule::is_static) chunk = 1;
    }
    icv.schedule = schedule;
    icv.chunk = chunk;
    icv.monotonic = modifier.empty() ? schedule == Schedule::is_static : same(modifier, "monotonic");
    return true;
}

bool read_bytes(std::string_view text, std::size_t& bytes) {
    std::size_t unit = 1024;
    switch (text.empty() ? '\0' : text.back() | 0x20) {
    case 'b': unit = 1; break;
    case 'k': unit = 1024; break;
    case 'm': unit = 1024 * 1024; break;
    case 'g': unit = 1024 * 1024 * 1024; break;
    default: text = std::string_view(text.data(), text.size() + 1); break;
    }
    text.remove_suffix(1);
    const auto value = number<long>(text, 0, LONG_MAX);
    if (!value || static_cast<std::size_t>(*value) > SIZE_MAX / unit) return false;
    bytes = static_cast<std::size_t>(*value) * unit;
    return true;
}

bool read_bind(std::string_view text, std::vector<Bind>& to) {
    std::vector<Bind> list;
    const bool understood = parts(text, [&](std::string_view part) {
        if (same(part, "false")) list.push_back(Bind::no);
        else if (same(part, "true")) list.push_back(Bind::yes);
        else if (same(part, "master") || same(part, "primary")) list.push_back(Bind::primary);
        else if (same(part, "close")) list.push_back(Bind::close);
        else if (same(part, "spread")) list.push_back(Bind::spread);
        else return false;
        return true;
    });
    // Each of these two stands alone in its list.
    if (!understood || (list.size() > 1 && std::any_of(list.begin(), list.end(), [](Bind bind) {
                            return bind == Bind::no || bind == Bind::yes;
                        })))
        return false;
    to = std::move(list);
    return true;
}

bool read_allocator(std::string_view text, std::uintptr_t& to) {
    constexpr const char* names[] = {"omp_default_mem_alloc", "omp_large_cap_mem_alloc", "omp_const_mem_alloc",
                                     "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc",   "omp_cgroup_mem_alloc",
                                     "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};
    for (std::uintptr_t i = 0; i < std::size(names); ++i) {
        if (!same(text, names[i])) continue;
        to = i + 1;
        return true;
    }
    return false;
}

// One of Weft's variables. A value that is not legal is reported under Weft's name, not libgomp's,
// and ignored.
int word_of(const weft_bridge::Variable& variable) {
    const char* const value = std::getenv(variable.name);
    const int word = weft_bridge::word_of(variable, value);
    char legal[128];
    if (word == weft_bridge::illegal) {
        std::fprintf(stderr, "weft: %s is '%s', which is ignored; legal are: %s\n", variable.name, value,
                     weft_bridge::legal_words(variable, legal, sizeof legal));
    }
    return word;
}

}   // namespace

unsigned processors() {
    cpu_set_t set;
    if (binding) set = unbound_cpus();
    else if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<unsigned>(CPU_COUNT(&set));
}

namespace {

void read_all(Environment& said) {
    Icv icv;
    icv.threads = processors();
    said.spins = SpinBudget::usual;
    with("OMP_NUM_THREADS", [&](std::string_view text) {
        std::vector<unsigned> list;
        const bool understood = parts(text, [&](std::string_view part) {
            const auto value = number(part, 1);
            if (value) list.push_back(static_cast<unsigned>(*value));
            return value.has_value();
        });
        if (!understood) return false;
        icv.threads = list[0];
        if (list.size() > 1) said.threads = std::move(list);
        return true;
    });
    with("OMP_PROC_BIND", [&](std::string_view text) { return read_bind(text, said.bind); });
    boolean_of("OMP_DYNAMIC", icv.dynamic);
    number_of("OMP_DEFAULT_DEVICE", icv.device);
    bool nested = false, nested_said = false;
    with("OMP_NESTED", [&](std::string_view text) {
        const auto value = boolean(text);
        nested_said = value.has_value();
        nested = value.value_or(false);
        return nested_said;
    });
    // A list of several values allows nested regions (OpenMP 5.0, 6.5).
    if (nested || (!nested_said && (said.threads.size() > 1 || said.bind.size() > 1)))
        icv.max_active_levels = supported_active_levels;
    with("OMP_MAX_ACTIVE_LEVELS", [&](std::string_view text) {
        const auto value = number<long>(text, 0, LONG_MAX);
        if (value) icv.max_active_levels = static_cast<std::uint8_t>(std::min<long>(*value, supported_active_levels));
        return value.has_value();
    });
    with("OMP_THREAD_LIMIT", [&](std::string_view text) {
        const auto value = number<long>(text, 1, LONG_MAX);
        if (value && *value <= INT_MAX) icv.thread_limit = static_cast<unsigned>(*value);   // larger is no limit
        return value.has_value();
    });
    with("OMP_SCHEDULE", [&](std::string_view text) { return read_schedule(text, icv); });
    with("OMP_ALLOCATOR", [&](std::string_view text) { return read_allocator(text, icv.allocator); });
    boolean_of("OMP_CANCELLATION", said.cancellation);
    boolean_of("OMP_DISPLAY_AFFINITY", said.display_affinity);
    number_of("OMP_MAX_TASK_PRIORITY", said.max_task_priority);
    number_of("OMP_NUM_TEAMS", said.teams, 1);
    number_of("OMP_TEAMS_THREAD_LIMIT", said.teams_thread_limit, 1);
    said.affinity_format = "level %L thread %i affinity %A";
    if (const char* const format = std::getenv("OMP_AFFINITY_FORMAT")) said.affinity_format = format;
    const auto least_stack = static_cast<std::size_t>(PTHREAD_STACK_MIN);
    const auto bytes = [&](std::string_view text) { return read_bytes(text, said.stack_bytes); };
    if ((with("OMP_STACKSIZE", bytes) || with("GOMP_STACKSIZE", bytes)) && said.stack_bytes < least_stack)
        complain("Stack size less than minimum of %zuk", least_stack / 1024);
    with("OMP_WAIT_POLICY", [&](std::string_view text) {
        if (!same(text, "active") && !same(text, "passive")) return false;
        said.wait_policy_said = true;
        said.wait_actively = same(text, "active");
        said.spins = said.wait_actively ? SpinBudget::longest : 0;
        return true;
    });
    with("GOMP_SPINCOUNT", [&](std::string_view text) {
        if (same(text, "infinite") || same(text, "infinity")) {
            said.spins = ~std::uint64_t{0};
            return true;
        }
        std::uint64_t unit = 1;
        switch (text.back() | 0x20) {
        case 'k': unit = 1000; break;
        case 'm': unit = 1'000'000; break;
        case 'g': unit = 1'000'000'000; break;
        case 't': unit = 1'000'000'000'000; break;
        default: break;
        }
        if (unit != 1) text.remove_suffix(1);
        const auto value = number<std::uint64_t>(text, 0, ~std::uint64_t{0} / unit);
        if (value) said.spins = *value * unit;
        return value.has_value();
    });
    SpinBudget::most = std::min(said.spins, SpinBudget::longest);
    // in the table's order
    constexpr weft_kind task_kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA,  WEFT_KIND_ROC,   WEFT_KIND_SS,
                                        WEFT_KIND_SC,   WEFT_KIND_AUTO, WEFT_KIND_HOSTED};
    // the last is `member`
    if (const int kind = word_of(weft_bridge::omp_task_kind);
        kind >= 0 && kind < static_cast<int>(std::size(task_kinds))) {
        said.task_kind = task_kinds[kind];
        tasks_are_units = true;
    }
    said.follows_load = word_of(weft_bridge::omp_max_threads) == 1;
    with("OMP_TARGET_OFFLOAD", [&](std::string_view text) {
        for (const char* const word : {"DEFAULT", "MANDATORY", "DISABLED"}) {
            if (!same(text, word)) continue;
            said.offload = word;
            said.offload_is_mandatory = same("MANDATORY", word);
            return true;
        }
        return false;
    });
    with("OMP_DISPLAY_ENV", [&](std::string_view text) {
        const auto value = boolean(text);
        said.display = same(text, "verbose")   ? Environment::verbose
                       : value.value_or(false) ? Environment::shown
                                               : Environment::silent;
        return value.has_value() || said.display == Environment::verbose;
    });
    const auto places_by = [&said](auto read) {
        return [&said, read](std::string_view text) {
            auto places = read(text);
            if (places) said.places = std::move(*places);
            return places.has_value();
        };
    };
    const bool placed = with("OMP_PLACES", places_by(read_places)) || with("GOMP_CPU_AFFINITY", places_by(read_cpus));
    if (!said.bind.empty()) icv.bind = said.bind[0];
    else if (placed) icv.bind = Bind::yes;
    if (icv.bind == Bind::no) said.places.clear();
    else if (!placed) said.places = read_places("threads").value_or(std::vector<std::vector<int>>());
    said.initial = interned(icv);
}

struct Hash {
    std::size_t operator()(const Icv& icv) const {
        std::size_t hash = icv.threads;
        for (const std::size_t part :
             {std::size_t{icv.thread_limit}, static_cast<std::size_t>(icv.chunk), static_cast<std::size_t>(icv.device),
              static_cast<std::size_t>(icv.allocator), static_cast<std::size_t>(icv.schedule),
              std::size_t{icv.monotonic}, std::size_t{icv.dynamic}, std::size_t{icv.max_active_levels},
              static_cast<std::size_t>(icv.bind)}) {
            hash = hash * 0x9e3779b97f4a7c15U + part;
        }
        return hash;
    }
};

constinit SpinLock interning;
// in the child of a fork, where the thread that may have held it is gone
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { interning.unlock(); });

}   // namespace

const Icv* interned(const Icv& values) {
    // A hash table by hand: this is called while the library is loaded, and the C++ library's table
    // would load that library, too.
    struct Set {
        const Icv values;
        Set* const next;
    };
    static Set* sets[64];
    interning.lock();
    Set*& first = sets[Hash{}(values) % std::size(sets)];
    Set* set = first;
    while (set != nullptr && !(set->values == values)) set = set->next;
    if (set == nullptr) set = first = new Set{values, first};
    interning.unlock();
    return &set->values;   // never freed
}

const Icv* limited(const Icv* icv, unsigned thread_limit) {
    if (thread_limit == 0) return icv;
    Icv values = *icv;
    values.thread_limit = thread_limit;
    return interned(values);
}

Environment& environment() {
    static Environment* const said = [] {
        auto* const made = new Environment;
        read_all(*made);
        return made;
    }();
    return *said;
}

}   // namespace weft_openmp
