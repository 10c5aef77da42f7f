// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "libraries.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../../common/binding.hpp"
#include "../../common/held.hpp"

extern "C" {
// The exported functions themselves (guard.cpp), whatever the loader binds those names to.
[[gnu::visibility("hidden")]] int weft_generic_exec_blas(long count, void* queue);
[[gnu::visibility("hidden")]] void weft_generic_goto_set_num_threads(int count);
}

namespace weft_openblas {

namespace {

using weft_bridge::base_of;
using weft_bridge::bind;
using weft_bridge::function_of;
using weft_bridge::handle_of;
using weft_bridge::Held;
using weft_bridge::Loaded;

constexpr int most_guarded = 256;   // at once: further libraries run unguarded
Library libraries[most_guarded];
pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

// ---- the entries of each OpenBLAS ---------------------------------------------------------------

template <int number>
int exec_entry(long count, void* queue) {
    return exec_guarded(libraries[number], count, queue);
}
template <int number>
void set_threads_entry(int count) {
    set_threads_guarded(libraries[number], count);
}

template <int... numbers>
constexpr std::array<Exec, most_guarded> exec_table(std::integer_sequence<int, numbers...>) {
    return {exec_entry<numbers>...};
}
template <int... numbers>
constexpr std::array<SetThreads, most_guarded> threads_table(std::integer_sequence<int, numbers...>) {
    return {set_threads_entry<numbers>...};
}

constexpr auto exec_entries = exec_table(std::make_integer_sequence<int, most_guarded>());
constexpr auto threads_entries = threads_table(std::make_integer_sequence<int, most_guarded>());

// ---- what is loaded -----------------------------------------------------------------------------

// A library some of whose calls still go to the generic functions.
struct Caller {
    Loaded object;
    std::string path;
    std::vector<void**> exec_slots, threads_slots;
    Target exec;
    ThreadsTarget threads;
};

struct View {
    std::vector<Caller> callers;
    std::vector<const void*> bases;   // of all objects
};

// All objects with calls that go to the generic functions.
View look() {
    View view;
    weft_bridge::each_loaded([&view](const Loaded& object) {
        view.bases.push_back(reinterpret_cast<const void*>(object.first));
        Caller caller{object, object.path, {}, {}, {}, {}};
        weft_bridge::each_slot(object, [&caller](const char* name, const ElfW(Sym) & symbol, void** slot) {
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC && ELF64_ST_TYPE(symbol.st_info) != STT_NOTYPE) return;
            if (std::strcmp(name, "exec_blas") == 0) {
                if (*slot == reinterpret_cast<void*>(&weft_generic_exec_blas)) caller.exec_slots.push_back(slot);
            } else if (std::strcmp(name, "goto_set_num_threads") == 0) {
                if (*slot == reinterpret_cast<void*>(&weft_generic_goto_set_num_threads))
                    caller.threads_slots.push_back(slot);
            }
        });
        const bool own = object.holds(reinterpret_cast<const void*>(&weft_generic_exec_blas));
        if (!own && !(caller.exec_slots.empty() && caller.threads_slots.empty()))
            view.callers.push_back(std::move(caller));
        return false;
    });
    return view;
}

void open_to_all(Library& library) {
    library.held.store(false, std::memory_order_relaxed);   // relaxed: no caller is inside
    library.waiting.store(0, std::memory_order_relaxed);
    weft_semaphore_init(&library.free, 1);
}

// In the child of a fork no caller is inside.
void forget() {
    finding = PTHREAD_MUTEX_INITIALIZER;
    for (Library& library : libraries) open_to_all(library);
}

// The record of the guarded OpenBLAS at `base`. `fresh`: this OpenBLAS has not been seen before,
// and the one that lay there is gone. Null: there are too many.
Library* record_of(const View& view, const void* base, bool fresh) {
    Library* unused = nullptr;
    for (Library& library : libraries) {
        if (library.base == base && !fresh) return &library;
        const bool gone = library.base == base || library.base == nullptr ||
                          std::find(view.bases.begin(), view.bases.end(), library.base) == view.bases.end();
        if (gone && (unused == nullptr || library.base == base)) unused = &library;
    }
    if (unused == nullptr) return nullptr;
    static const int at_fork = pthread_atfork(nullptr, nullptr, forget);
    static_cast<void>(at_fork);
    open_to_all(*unused);
    unused->base = base;
    unused->exec = nullptr;
    return unused;
}

// Finds out what the calls of a library mean. The handle keeps the library loaded meanwhile.
void find_targets(const View& view, void* handle, Caller& caller) {
    caller.exec.exec = function_of<Exec>(handle, "exec_blas");
    caller.threads.set_threads = function_of<SetThreads>(handle, "goto_set_num_threads");
    const void* const base = base_of(reinterpret_cast<const void*>(caller.exec.exec));
    if (base == nullptr) return;
    const bool fresh = reinterpret_cast<const void*>(caller.object.first) == base && !caller.exec_slots.empty();
    Library* library = record_of(view, base, fresh);
    // Where an OpenBLAS whose own calls never get here has been replaced by another one, its
    // functions lie elsewhere.
    if (library != nullptr && library->exec != nullptr && library->exec != caller.exec.exec)
        library = record_of(view, base, true);
    if (library == nullptr) return;
    library->set_threads = caller.threads.set_threads;
    library->exec = caller.exec.exec;
    caller.exec.library = caller.threads.library = library;
}

// Makes later calls of the library go directly to their targets.
void redirect(const Caller& caller) {
    const Library* const library = caller.exec.library;
    const long number = library == nullptr ? 0 : library - libraries;
    void* const exec =
        library == nullptr ? reinterpret_cast<void*>(caller.exec.exec) : reinterpret_cast<void*>(exec_entries[number]);
    void* const threads = library == nullptr ? reinterpret_cast<void*>(caller.threads.set_threads)
                                             : reinterpret_cast<void*>(threads_entries[number]);
    for (void** const slot : caller.exec_slots) {
        if (caller.exec.exec != nullptr) bind(caller.object, slot, exec);
    }
    for (void** const slot : caller.threads_slots) {
        if (caller.threads.set_threads != nullptr) bind(caller.object, slot, threads);
    }
}

void learn(const View& view, Caller& caller) {
    void* const handle = handle_of(caller.path);
    if (handle == nullptr) return;
    find_targets(view, handle, caller);
    redirect(caller);
    dlclose(handle);
}

View learn_all() {
    View view = look();
    for (Caller& caller : view.callers) {
        // an OpenBLAS itself comes before libraries that only set its number of threads
        if (!caller.exec_slots.empty()) learn(view, caller);
    }
    for (Caller& caller : view.callers) {
        if (caller.exec_slots.empty()) learn(view, caller);
    }
    return view;
}

// ---- calls that pass no table -------------------------------------------------------------------

// Callers that have the generic function's address from elsewhere (dlsym), or whose table cannot be
// written. An entry holds until an object is loaded or unloaded.
struct Known {
    const void* return_address;
    Target target;
};
std::vector<Known> known;
weft_bridge::LoaderCounts known_since;

const Target* find_known(const void* return_address) {
    if (const auto counts = weft_bridge::loader_counts(); counts != known_since) {
        known.clear();
        known_since = counts;
    }
    for (const Known& one : known) {
        if (one.return_address == return_address) return &one.target;
    }
    return nullptr;
}

// What the calling object would find by itself; for the program, if the calling code lies in no
// object.
Target target_by_name(const View& view, const void* return_address) {
    std::string path;
    base_of(return_address, &path);
    void* const handle = handle_of(path);
    Caller caller{};
    if (handle == nullptr) return {};
    find_targets(view, handle, caller);
    dlclose(handle);
    return caller.exec;
}

}   // namespace

Target exec_of(const void* return_address) {
    const Held lock{finding};
    if (const Target* const target = find_known(return_address)) return *target;
    const View view = learn_all();
    const Caller* only = nullptr;
    int count = 0;
    for (const Caller& caller : view.callers) {
        if (caller.exec_slots.empty()) continue;
        if (caller.object.holds(return_address)) return caller.exec;
        only = &caller;
        ++count;
    }
    if (count == 1) return only->exec;   // the caller ended with a jump to here, and what called it is seen instead
    const Target target = target_by_name(view, return_address);
    known.push_back({return_address, target});
    return target;
}

void each_threads_target(const void* return_address, void (*visit)(const ThreadsTarget& target, int count), int count) {
    std::vector<ThreadsTarget> targets;
    {
        const Held lock{finding};
        const View view = learn_all();
        for (const Caller& caller : view.callers) {
            if (caller.threads_slots.empty() || caller.threads.set_threads == nullptr) continue;
            if (caller.object.holds(return_address)) {
                targets = {caller.threads};
                break;
            }
            targets.push_back(caller.threads);
        }
        if (targets.empty()) {
            const Target target = target_by_name(view, return_address);
            if (target.library != nullptr) targets.push_back({target.library, target.library->set_threads});
        }
    }
    for (const ThreadsTarget& target : targets) visit(target, count);
}

}   // namespace weft_openblas
