// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "others.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../../common/held.hpp"
#include "../../common/loaded.hpp"
#include "export.hpp"

OPENMP_API void* ompt_start_tool(unsigned version, const char* runtime_version);

namespace weft_openmp {

namespace {

using weft_bridge::Held;
using weft_bridge::Loaded;

// ---- the runtimes that are asked ----------------------------------------------------------------

struct Found {
    OtherRuntime functions;
    const void* first = nullptr;         // its first address
    std::atomic<bool> has_ours{false};   // it has got the setting that ours got before it began
};

constexpr int most_others = 8;
Found found[most_others];
std::atomic<int> count_found{0};
// the holder calls nothing that waits, except for the loader's list
pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { finding = PTHREAD_MUTEX_INITIALIZER; });

bool is_own(const Loaded& object) { return object.holds(reinterpret_cast<const void*>(&is_own)); }

bool is_runtime(const Loaded& object) {
    return !is_own(object) && weft_bridge::address_in(object, "__kmpc_fork_call") != nullptr &&
           weft_bridge::address_in(object, "omp_get_level") != nullptr;
}

template <class Function>
void fill(const Loaded& object, Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(weft_bridge::address_in(object, name));
}

template <class Visit>
void each_found(Visit visit) {
    const int count = count_found.load(std::memory_order_acquire);   // acquire: pairs with add
    for (int i = 0; i < count; ++i) visit(found[i]);
}

// Called under `finding`. Whether the object is new.
bool add(const Loaded& object) {
    const void* const first = reinterpret_cast<const void*>(object.first);
    const int count = count_found.load(std::memory_order_relaxed);   // relaxed: under the mutex
    for (int i = 0; i < count; ++i) {
        if (found[i].first == first) return false;
    }
    if (count == most_others) return false;
#define FILL(result, name, arguments) fill(object, found[count].functions.name, #name);
    OPENMP_OF_OTHERS(FILL)
#undef FILL
    found[count].first = first;
    count_found.store(count + 1, std::memory_order_release);   // release: pairs with each_found
    return true;
}

// From now on questions go to those loaded runtimes, too, for which which(object) holds. They stay
// loaded, since they are called without a check.
template <class Which>
void begin_to_ask(Which which) {
    std::vector<std::string> to_keep;
    {
        const Held lock{finding};
        weft_bridge::each_loaded([&](const Loaded& object) {
            if (is_runtime(object) && which(object) && add(object) && object.path[0] != '\0')
                to_keep.emplace_back(object.path);
            return false;
        });
    }
    for (const std::string& path : to_keep) static_cast<void>(dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD));
    others_work.store(true, std::memory_order_relaxed);   // relaxed: as in others()
}

// Whether a runtime that begins later notifies us (ompt_start_tool below). It does not where the
// program has a tool of its own in front of us, or wants none. Then each question checks whether
// anything has been loaded.
bool are_told() {
    static const bool told = [] {
        const char* const tool = std::getenv("OMP_TOOL");
        void* const program = dlopen(nullptr, RTLD_LAZY);
        return (tool == nullptr || std::strcmp(tool, "disabled") != 0) &&
               dlsym(program, "ompt_start_tool") == reinterpret_cast<void*>(&ompt_start_tool);
    }();
    return told;
}

void look_if_not_told() {
    if (are_told()) return;
    static std::atomic<unsigned long long> seen{0};
    const auto counts = weft_bridge::loader_counts();
    if (seen.exchange(counts.added, std::memory_order_relaxed) == counts.added) return;   // relaxed: a hint
    begin_to_ask([](const Loaded&) { return true; });
}

}   // namespace

// A runtime that has been loaded before us may be at work already.
[[gnu::constructor]] static void find_earlier() {
    bool behind = false, any = false;
    weft_bridge::each_loaded([&](const Loaded& object) {
        if (is_own(object)) behind = any;
        any = any || is_runtime(object);
        return false;
    });
    if (behind || !are_told()) begin_to_ask([](const Loaded&) { return true; });
}

namespace {

int level_in(const Found& runtime) { return runtime.functions.omp_get_level(); }

// ---- what is known of a caller ------------------------------------------------------------------

// An object as it was loaded, in copies: it may be unloaded meanwhile.
struct Object {
    std::string path, soname;
    std::vector<std::string> needed;
    const void* first = nullptr;
    bool own = false, runtime = false, has_openmp = false;

    bool is_called(const std::string& name) const {
        const std::size_t slash = path.rfind('/');
        return soname == name || path == name ||
               (slash != std::string::npos && path.compare(slash + 1, std::string::npos, name) == 0);
    }
};

struct Process {
    std::vector<Object> objects;   // in the order in which they were loaded
    std::size_t caller = ~std::size_t{0};
    bool weak = false;                // the caller's reference to omp_in_parallel is weak
    bool llvm = false, gnu = false;   // whose regions the caller has
};

Process look_at(const void* caller) {
    Process process;
    weft_bridge::each_loaded([&process, caller](const Loaded& loaded) {
        Object object;
        object.path = loaded.path;
        if (const char* const name = weft_bridge::soname_of(loaded)) object.soname = name;
        weft_bridge::each_needed(loaded, [&object](const char* name) { object.needed.emplace_back(name); });
        object.first = reinterpret_cast<const void*>(loaded.first);
        object.own = is_own(loaded);
        object.runtime = is_runtime(loaded);
        object.has_openmp = !object.own && weft_bridge::address_in(loaded, "omp_in_parallel") != nullptr;
        if (loaded.holds(caller)) {
            process.caller = process.objects.size();
            weft_bridge::each_slot(loaded, [&process](const char* name, const ElfW(Sym) & symbol, void**) {
                if (symbol.st_shndx != SHN_UNDEF) return;
                if (std::strcmp(name, "omp_in_parallel") == 0) process.weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
                if (std::strncmp(name, "__kmpc_", 7) == 0) process.llvm = true;
                if (std::strncmp(name, "GOMP_", 5) == 0) process.gnu = true;
            });
        }
        process.objects.push_back(std::move(object));
        return false;
    });
    return process;
}

// The objects that `start` brings with it when it is loaded: itself and all that it needs.
std::vector<bool> closure(const std::vector<Object>& objects, std::size_t start) {
    std::vector<bool> in(objects.size());
    std::vector<std::size_t> open{start};
    in[start] = true;
    while (!open.empty()) {
        const Object& object = objects[open.back()];
        open.pop_back();
        for (const std::string& name : object.needed) {
            for (std::size_t i = 0; i < objects.size(); ++i) {
                if (in[i] || !objects[i].is_called(name)) continue;
                in[i] = true;
                open.push_back(i);
            }
        }
    }
    return in;
}

// The objects in which an object's references are looked up: the program with what it needs, what
// the user preloads, and what the object was loaded with. Objects that were opened with RTLD_GLOBAL
// are missing, since the loader does not report them.
std::vector<bool> scope(const std::vector<Object>& objects, std::size_t of) {
    std::vector<bool> in = closure(objects, 0);
    const auto join = [&in](const std::vector<bool>& more) {
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = in[i] || more[i];
    };
    for (std::size_t i = 0; i <= of; ++i) {
        const std::vector<bool> brought = closure(objects, i);
        if (!brought[of]) continue;
        join(brought);
        break;
    }
    const char* const preload = std::getenv("LD_PRELOAD");
    const std::string preloaded = preload == nullptr ? "" : preload;
    for (std::size_t i = 1; i < objects.size(); ++i) {
        if (!objects[i].own && !objects[i].path.empty() && preloaded.find(objects[i].path) != std::string::npos)
            join(closure(objects, i));
    }
    return in;
}

struct Facts {
    const void* caller = nullptr;
    bool lacks_in_parallel = false;
    bool gnu = false, llvm = false;   // whose regions it has, and so whose locks and events
    bool asks_another = false;        // another runtime is asked about its next region
    const void* runtime = nullptr;    // the first address of that runtime; null: not known
};

Facts facts_of(const void* caller) {
    Facts facts;
    facts.caller = caller;
    const Process process = look_at(caller);
    if (process.caller == ~std::size_t{0}) return facts;
    const std::vector<bool> in = scope(process.objects, process.caller);
    // ours is in the scope where an object needs it by name: without us that would be libgomp
    bool ours = false, openmp = false;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!in[i]) continue;
        const Object& object = process.objects[i];
        ours |= object.own;
        openmp |= object.own || object.has_openmp;
        if (object.runtime && facts.runtime == nullptr) facts.runtime = object.first;
    }
    facts.lacks_in_parallel = process.weak && !openmp;
    facts.gnu = process.gnu;
    facts.llvm = process.llvm;
    // A caller without regions asks on behalf of others: of code whose runtime it has been linked
    // with.
    facts.asks_another = process.llvm || (!process.gnu && !ours && facts.runtime != nullptr);
    return facts;
}

// By return address. Valid as long as nothing is loaded or unloaded.
Facts known_facts_of(const void* caller) {
    if (caller == nullptr) return {};
    static Facts known[64];
    static weft_bridge::LoaderCounts since;
    Facts& place = known[(reinterpret_cast<std::uintptr_t>(caller) >> 2) % 64];
    const auto counts = weft_bridge::loader_counts();
    {
        const Held lock{finding};
        if (counts != since) {
            std::fill(std::begin(known), std::end(known), Facts{});
            since = counts;
        }
        if (place.caller == caller) return place;
    }
    const Facts facts = facts_of(caller);
    const Held lock{finding};
    if (counts == since) place = facts;
    return facts;
}

// The caller's runtime among those that are asked, or the first of them where the caller's is not
// known. Null: none is asked.
Found* runtime_of(const Facts& facts) {
    Found* first = nullptr;
    Found* own = nullptr;
    each_found([&](Found& runtime) {
        if (first == nullptr) first = &runtime;
        if (runtime.first == facts.runtime) own = &runtime;
    });
    return own != nullptr ? own : first;
}

// The caller's runtime, which is begun if it has not begun.
Found* begin_runtime_of(const Facts& facts) {
    Found* const runtime = runtime_of(facts);
    if (runtime != nullptr && (facts.runtime == nullptr || runtime->first == facts.runtime)) return runtime;
    begin_to_ask([&facts](const Loaded& object) {
        return facts.runtime == nullptr || reinterpret_cast<const void*>(object.first) == facts.runtime;
    });
    return runtime_of(facts);
}

// A runtime that has begun after a setter was called does not know of the call. Where it still has
// its first value, the first question outside of all regions passes the setting on.
void hand_on_to(Found& runtime) {
    // relaxed: a hint
    if (runtime.has_ours.load(std::memory_order_relaxed) || runtime.has_ours.exchange(true)) return;
    const unsigned threads = this_thread().icv().threads, at_first = environment().initial->threads;
    const OtherRuntime& other = runtime.functions;
    if (threads == at_first || other.omp_get_max_threads == nullptr || other.omp_set_num_threads == nullptr) return;
    if (other.omp_get_max_threads() == static_cast<int>(at_first)) other.omp_set_num_threads(static_cast<int>(threads));
}

}   // namespace

int levels_of_others() {
    int levels = 0;
    each_found([&levels](const Found& runtime) { levels += level_in(runtime); });
    return levels;
}

const OtherRuntime* other_around(const void* caller) {
    look_if_not_told();
    const Thread& me = this_thread();
    // What a member of ours begins is within our region; thread 0 may have been in another
    // runtime's region before.
    const int before = me.team->level == 0 || me.slot->number != 0 ? 0 : me.team->levels_of_others;
    int levels = 0, around = 0;
    const Found* innermost = nullptr;
    each_found([&](const Found& runtime) {
        const int level = level_in(runtime);
        levels += level;
        if (level == 0) return;
        innermost = &runtime;
        ++around;
    });
    if (levels <= before) return nullptr;
    if (around == 1) return &innermost->functions;
    // Regions of several runtimes are nested: take the caller's own runtime, whose region is the
    // innermost if the caller has just begun one.
    const Facts facts = known_facts_of(caller);
    each_found([&](const Found& runtime) {
        if (runtime.first == facts.runtime && level_in(runtime) != 0) innermost = &runtime;
    });
    return &innermost->functions;
}

const OtherRuntime* other_of_settings(const void* caller) {
    look_if_not_told();
    const Facts facts = known_facts_of(caller);
    if (!facts.asks_another) return facts.gnu ? nullptr : other_around(caller);
    Found* const runtime = runtime_of(facts);
    if (runtime == nullptr) return nullptr;
    if (this_thread().team->level == 0 && level_in(*runtime) == 0) hand_on_to(*runtime);
    return &runtime->functions;
}

const OtherRuntime* other_of_code(const void* caller) {
    const Facts facts = known_facts_of(caller);
    Found* const runtime = facts.llvm ? begin_runtime_of(facts) : nullptr;
    return runtime == nullptr ? nullptr : &runtime->functions;
}

bool set_in_others(const void* caller, void (*set)(const OtherRuntime& runtime, const void* value), const void* value) {
    if (other_around(caller) == nullptr && this_thread().team->level == 0) {
        if (const Facts facts = known_facts_of(caller); facts.llvm) begin_runtime_of(facts);
        each_found([&](const Found& runtime) { set(runtime.functions, value); });
        return true;
    }
    const OtherRuntime* const other = caller == nullptr ? nullptr : other_of_settings(caller);
    if (other != nullptr) set(*other, value);
    return other == nullptr;
}

void use_thread_up() {
    struct Destroyed {
        bool there = false;
        ~Destroyed() { there = false; }
    };
    thread_local Destroyed object;   // such a pthread gets no second unit (weft/embed/hosted.h)
    object.there = true;
}

bool lacks_in_parallel_without_us(const void* caller) { return known_facts_of(caller).lacks_in_parallel; }

}   // namespace weft_openmp

using namespace weft_openmp;   // NOLINT: an entry point

// An OpenMP runtime calls this when it begins, to ask for a tool that wants to observe it (OpenMP
// 5.1, 4.2.1). We only learn that it begins, and from where; the next library in line may have the
// tool.
OPENMP_API void* ompt_start_tool(unsigned version, const char* runtime_version) {
    const void* const caller = __builtin_return_address(0);
    begin_to_ask([caller](const Loaded& object) { return object.holds(caller); });
    using Start = void* (*)(unsigned, const char*);
    const auto next = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "ompt_start_tool"));
    return next == nullptr ? nullptr : next(version, runtime_version);
}
