// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which libtbb a call means. A process may have several: the system's, and those of Python
// packages, which are opened for their packages alone. The library that calls tells, since each is
// linked with one.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../../common/binding.hpp"
#include "../../common/held.hpp"
#include "entries.hpp"
#include "server.hpp"

namespace weft_tbb {

namespace {

using weft_bridge::Held;
using weft_bridge::Loaded;

pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

// An object whose calls of libtbb, or some of them, still come to the generic functions.
struct Caller {
    Loaded object;
    std::string path;
    std::vector<std::pair<Function, void**>> slots;
    Call real[functions] = {};   // what it means; null: it has none of that name
    int library = -1;            // the entries for that; -1: none, and it is called directly
};

struct View {
    std::vector<Caller> callers;
    std::vector<const void*> bases;   // of all objects
};

// Whether that libtbb's workers are another library's: the program's user has asked for Intel's
// thread composability manager, or there is a libirml.so.1, for which libtbb looks before it finds
// us: among what is loaded, and beside itself. Its threads then stay as they are, too.
bool is_served_by_others(const void* base) {
    if (is_managed()) return true;
    bool found = false;
    std::string path;
    weft_bridge::each_loaded([&](const Loaded& object) {
        const char* const soname = weft_bridge::soname_of(object);
        found |= soname != nullptr && std::strcmp(soname, "libirml.so.1") == 0;
        if (reinterpret_cast<const void*>(object.first) == base) path = object.path;
        return false;
    });
    const std::size_t folder = path.rfind('/');
    return found ||
           (folder != std::string::npos && access((path.substr(0, folder) + "/libirml.so.1").c_str(), F_OK) == 0);
}

void* address_of(Call call) { return reinterpret_cast<void*>(call); }

View look() {
    View view;
    weft_bridge::each_loaded([&view](const Loaded& object) {
        view.bases.push_back(reinterpret_cast<const void*>(object.first));
        Caller caller;
        weft_bridge::each_slot(object, [&caller](const char* name, const ElfW(Sym)&, void** slot) {
            if (std::strncmp(name, "_ZN3tbb6detail2r1", 17) != 0) return;
            for (unsigned function = 0; function < functions; ++function) {
                if (*slot == address_of(generic(Function{function})) && std::strcmp(name, name_of[function]) == 0)
                    caller.slots.emplace_back(Function{function}, slot);
            }
        });
        if (caller.slots.empty() || object.holds(address_of(generic(wait)))) return false;
        caller.object = object;
        caller.path = object.path;
        view.callers.push_back(std::move(caller));
        return false;
    });
    return view;
}

// The number of the libtbb at `base`; -1: there are too many. A record whose library is gone serves
// another one.
int number_of(const View& view, const void* base) {
    int unused = -1;
    for (int i = 0; i < most_libraries; ++i) {
        if (libraries[i].base == base) return i;
        const bool gone = std::find(view.bases.begin(), view.bases.end(), libraries[i].base) == view.bases.end();
        if (unused < 0 && (libraries[i].base == nullptr || gone)) unused = i;
    }
    return unused;
}

// Finds what the object, or the library of that handle, means by the functions.
void find_target(const View& view, void* handle, Caller& caller) {
    for (unsigned function = 0; function < functions; ++function)
        caller.real[function] = weft_bridge::function_of<Call>(handle, name_of[function]);
    if (caller.real[wait] == nullptr) return;
    const void* const base = weft_bridge::base_of(address_of(caller.real[wait]));
    if (is_served_by_others(base)) return;
    caller.library = number_of(view, base);
    if (caller.library < 0) return;
    Library& library = libraries[caller.library];
    library.base = base;
    for (unsigned function = 0; function < functions; ++function)
        library.real[function].store(caller.real[function], std::memory_order_relaxed);
}

Call call_of(const Caller& caller, Function function) {
    return caller.library < 0 || caller.real[function] == nullptr ? caller.real[function]
                                                                  : entry(caller.library, function);
}

void learn(const View& view, Caller& caller) {
    void* const handle = weft_bridge::handle_of(caller.path);
    if (handle == nullptr) return;
    find_target(view, handle, caller);
    for (const auto& [function, slot] : caller.slots) {
        const Call call = call_of(caller, function);
        if (call != nullptr) weft_bridge::bind(caller.object, slot, address_of(call));
    }
    dlclose(handle);
}

// What the calling object would find by itself: for callers that have the address from elsewhere
// (dlsym), and for code that lies in no object.
Call target_by_name(const View& view, Function function, const void* return_address) {
    std::string path;
    weft_bridge::base_of(return_address, &path);
    Caller caller;
    if (void* const handle = weft_bridge::handle_of(path)) {
        find_target(view, handle, caller);
        dlclose(handle);
    }
    return call_of(caller, function);
}

[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { finding = PTHREAD_MUTEX_INITIALIZER; });

}   // namespace

Call target_of(Function function, const void* return_address) {
    const Held lock(finding);
    View view = look();
    for (Caller& caller : view.callers) learn(view, caller);
    const Caller* found = nullptr;
    for (const Caller& caller : view.callers) {
        if (caller.object.holds(return_address)) found = &caller;
    }
    // the caller ended with a jump to here, and what called it is seen instead
    if (found == nullptr && view.callers.size() == 1) found = &view.callers[0];
    Call call = found == nullptr ? target_by_name(view, function, return_address) : call_of(*found, function);
    if (call != nullptr) return call;
    std::fprintf(stderr, "weft: no libtbb has %s, which %p calls; run the program with `weft run --tbb=native`\n",
                 name_of[function], return_address);
    std::abort();
}

}   // namespace weft_tbb
