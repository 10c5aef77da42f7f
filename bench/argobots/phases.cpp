// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Creating, joining and freeing N units, measured separately as in Figures 3 to 8 of Argobots'
// paper (Seo et al., TPDS 2018), from 64 units to 262,144, on one stream: first hand-made threads
// from malloc and a switch, then the library with one optimization after another. The units run
// when they are joined.
//
//   argobots_phases [--rounds=7] [--most=18] [--step=NAME]
//
// Prints JSON, a line per sample: ns per unit. --most: the binary logarithm of the largest number
// of units. The steps are shuffled anew in each round.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>
#include <climits>
#include <random>

#include "raw.hpp"
#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

constexpr std::size_t stack_bytes = 16384;
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t least_units = 64;

// ---- hand-made threads --------------------------------------------------------------------------

// A thread with only what it needs to run once on its own stack.
struct HandThread {
    void* context;
    void (*body)(void*);
    void* argument;
    char* stack;
    bool done;
};

HandThread* running = nullptr;
void* creator = nullptr;   // the context that runs the thread

// How a thread ends: with its context saved as if it were to resume later, or not saved.
enum class End : bool { saved, unsaved };

template <End end>
void hand_main() {
    HandThread& self = *running;
    self.body(self.argument);
    self.done = true;
    if constexpr (end == End::unsaved) bench_enter(creator);
    bench_switch(&self.context, creator);
}

// The source of stacks: the heap, or the kernel, with an inaccessible page below.
struct Heap {
    static char* take() { return static_cast<char*>(std::malloc(stack_bytes)); }
    static void give(char* stack) { std::free(stack); }
};

struct Kernel {
    static char* take() {
        void* const stack = mmap(nullptr, stack_bytes + page_bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED || mprotect(stack, page_bytes, PROT_NONE) != 0) {
            std::perror("bench: a stack");
            std::exit(1);
        }
        return static_cast<char*>(stack) + page_bytes;
    }
    static void give(char* stack) { munmap(stack - page_bytes, stack_bytes + page_bytes); }
};

template <class Stacks, End end>
struct ByHand {
    using Handle = HandThread*;
    static void create(std::vector<Handle>& threads) {
        for (auto& thread : threads) {
            thread = static_cast<HandThread*>(std::malloc(sizeof(HandThread)));
            *thread = {nullptr, bench::nothing, nullptr, Stacks::take(), false};
            const auto top = reinterpret_cast<std::uintptr_t>(thread->stack + stack_bytes) & ~std::uintptr_t{63};
            thread->context = bench::prepare_stack(reinterpret_cast<void*>(top), hand_main<end>);
        }
    }
    static void join(std::vector<Handle>& threads) {
        for (auto* thread : threads) {
            running = thread;
            while (!thread->done) bench_switch(&creator, thread->context);
        }
    }
    static void free(std::vector<Handle>& threads) {
        for (auto* thread : threads) {
            Stacks::give(thread->stack);
            std::free(thread);
        }
    }
};

// ---- the library --------------------------------------------------------------------------------

struct OneByOne {
    using Handle = weft_unit*;
    static void create(std::vector<Handle>& units) {
        for (auto& unit : units) bench::must(weft_ult_spawn(nullptr, bench::nothing, nullptr, nullptr, &unit));
    }
    static void join(std::vector<Handle>& units) {
        for (auto* unit : units) bench::must(weft_unit_join(unit));
    }
    static void free(std::vector<Handle>& units) {
        for (auto* unit : units) bench::must(weft_unit_join_free(unit));
    }
};

struct Many {
    using Handle = weft_unit*;
    static void create(std::vector<Handle>& units) {
        bench::must(weft_unit_spawn_many(nullptr, units.size(), bench::nothing, nullptr, nullptr, units.data()));
    }
    static void join(std::vector<Handle>& units) { bench::must(weft_unit_join_many(units.data(), units.size())); }
    static void free(std::vector<Handle>& units) { bench::must(weft_unit_join_free_many(units.data(), units.size())); }
};

// ---- the steps ----------------------------------------------------------------------------------

struct Times {
    std::vector<double> create, join, free;
};

template <class Way>
void pass(std::vector<typename Way::Handle>& handles, Times* times) {
    const std::uint64_t start = bench::now_ns();
    Way::create(handles);
    const std::uint64_t created = bench::now_ns();
    Way::join(handles);
    const std::uint64_t joined = bench::now_ns();
    Way::free(handles);
    const std::uint64_t freed = bench::now_ns();
    if (times == nullptr) return;
    const auto count = static_cast<double>(handles.size());
    times->create.push_back(static_cast<double>(created - start) / count);
    times->join.push_back(static_cast<double>(joined - created) / count);
    times->free.push_back(static_cast<double>(freed - joined) / count);
}

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// A sample of each phase for each number of units: the median of some passes, after a first one
// that is not counted.
template <class Way>
void measure(const std::string& step, std::size_t most_units) {
    for (std::size_t count = least_units; count <= most_units; count *= 4) {
        std::vector<typename Way::Handle> handles(count);
        Times times;
        pass<Way>(handles, nullptr);
        for (std::size_t done = 0; done < std::clamp<std::size_t>(16384 / count, 1, 64); ++done)
            pass<Way>(handles, &times);
        const std::string number = std::to_string(count);
        bench::print_sample("create/" + number + ":" + step, median(times.create));
        bench::print_sample("join/" + number + ":" + step, median(times.join));
        bench::print_sample("free/" + number + ":" + step, median(times.free));
    }
}

struct Step {
    const char* name;
    enum { heap, heap_unsaved, kernel, library } threads = library;
    bool huge_pages = true;
    std::size_t idle_memory_bytes = std::size_t{1} << 36;
    weft_guard guard = WEFT_GUARD_AUTO;
    weft_pool_kind pool = WEFT_POOL_PRIVATE;
    weft_kind kind = WEFT_KIND_FULL;
    bool many = false;
};

constexpr Step steps[] = {
    {.name = "malloc", .threads = Step::heap},
    {.name = "malloc.unsaved", .threads = Step::heap_unsaved},   // beside the previous step
    {.name = "mmap", .threads = Step::kernel},
    {.name = "weft",
     .huge_pages = false,
     .idle_memory_bytes = 1,
     .guard = WEFT_GUARD_MPROTECT,
     .pool = WEFT_POOL_SHARED},
    {.name = "weft.cached", .huge_pages = false, .guard = WEFT_GUARD_MPROTECT, .pool = WEFT_POOL_SHARED},
    {.name = "weft.huge", .guard = WEFT_GUARD_MPROTECT, .pool = WEFT_POOL_SHARED},
    {.name = "weft.huge.canary", .guard = WEFT_GUARD_CANARY, .pool = WEFT_POOL_SHARED},   // beside the previous step
    {.name = "weft.full"},
    {.name = "weft.lsa", .kind = WEFT_KIND_LSA},
    {.name = "weft.roc", .kind = WEFT_KIND_ROC},
    {.name = "weft.ss", .kind = WEFT_KIND_SS},
    {.name = "weft.sc", .kind = WEFT_KIND_SC},
    {.name = "weft.rtc", .kind = WEFT_KIND_RTC},
    {.name = "weft.auto", .kind = WEFT_KIND_AUTO},
    {.name = "weft.full.many", .many = true},
    {.name = "weft.lsa.many", .kind = WEFT_KIND_LSA, .many = true},
    {.name = "weft.roc.many", .kind = WEFT_KIND_ROC, .many = true},
    {.name = "weft.ss.many", .kind = WEFT_KIND_SS, .many = true},
    {.name = "weft.sc.many", .kind = WEFT_KIND_SC, .many = true},
    {.name = "weft.rtc.many", .kind = WEFT_KIND_RTC, .many = true},
    {.name = "weft.auto.many", .kind = WEFT_KIND_AUTO, .many = true},
};

void run(const Step& step, std::size_t most_units) {
    if (step.threads == Step::heap) return measure<ByHand<Heap, End::saved>>(step.name, most_units);
    if (step.threads == Step::heap_unsaved) return measure<ByHand<Heap, End::unsaved>>(step.name, most_units);
    // Each stack is two mappings, and the kernel has 65,530 of them.
    if (step.threads == Step::kernel)
        return measure<ByHand<Kernel, End::saved>>(step.name, std::min<std::size_t>(most_units, 16384));
    if (prctl(PR_SET_THP_DISABLE, !step.huge_pages, 0, 0, 0) != 0) {
        std::perror("bench: huge pages");
        std::exit(1);
    }
    weft_settings settings = {};
    settings.size = sizeof settings;
    settings.streams = 1;
    settings.stack_bytes = stack_bytes;
    settings.idle_memory_bytes = step.idle_memory_bytes;
    settings.guard = step.guard;
    settings.pool = step.pool;
    settings.kind = step.kind;
    bench::must(weft_init(&settings));
    bench::on_ult(nullptr,
                  [&] { step.many ? measure<Many>(step.name, most_units) : measure<OneByOne>(step.name, most_units); });
    bench::must(weft_finalize());
}

}   // namespace

int main(int argc, char** argv) {
    const auto rounds = std::stoul(bench::take_flag(argc, argv, "rounds", "7"));
    const auto most = std::stoul(bench::take_flag(argc, argv, "most", "18"));
    const std::string only = bench::take_flag(argc, argv, "step", "");
    bench::refuse_others(argc, argv);
    bench::pin(bench::usable_cpus().back());
    // Otherwise malloc's cost depends on how much memory it happens to return to the kernel after
    // each pass.
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    std::vector<const Step*> order;
    for (const Step& step : steps) {
        if (only.empty() || only == step.name) order.push_back(&step);
    }
    std::mt19937 draw(1);
    for (std::size_t round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), draw);
        for (const Step* step : order) run(*step, std::size_t{1} << most);
    }
    return 0;
}
