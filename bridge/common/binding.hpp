// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// To which function the loader has bound the calls of an object, and binding them to another. For
// libraries that stand in front of others: the loader has bound the calls to a function of ours,
// and we write into the caller's own table (its global offset table) what later calls are to reach.
// That lies in the caller's memory, and goes with it.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "loaded.hpp"

namespace weft_bridge {

// The start of the object that has something at that address, and its path; null: there is none.
// dladdr would also search for a name among all of the object's symbols.
inline const void* base_of(const void* address, std::string* path = nullptr) {
    const void* base = nullptr;
    each_loaded([&](const Loaded& object) {
        if (!object.holds(address)) return false;
        base = reinterpret_cast<const void*>(object.first);
        if (path != nullptr) *path = object.path;
        return true;
    });
    return base;
}

// Whether it is in the library that this is compiled into.
inline bool is_own(const void* address) {
    static const void* const own = base_of(reinterpret_cast<const void*>(&base_of));
    return base_of(address) == own;
}

// The function of that name in `handle`, or in what it has loaded; not one of our own, which stands
// in front of it.
template <class Function>
Function function_of(void* handle, const char* name) {
    const auto found = reinterpret_cast<Function>(dlsym(handle, name));
    if (found == nullptr || !is_own(reinterpret_cast<const void*>(found))) return found;
    // a program's handle stands for all objects that it was started with
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// A handle of the object, if it is still there; to be closed. By its name, since it may have been
// opened for itself alone; the empty name is the program's.
inline void* handle_of(const std::string& path) {
    return dlopen(path.empty() ? nullptr : path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

// Writes into one of the loader's tables. False: the system does not allow that.
inline bool bind(const Loaded& object, void** slot, void* value) {
    const auto at = reinterpret_cast<std::uintptr_t>(slot), page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    void* const first = reinterpret_cast<void*>(at & ~(page - 1));
    const bool sealed = at >= (object.sealed & ~(page - 1)) && at < (object.sealed_end & ~(page - 1));
    if (sealed && mprotect(first, page, PROT_READ | PROT_WRITE) != 0) return false;
    // relaxed: a caller that reads the old value gets to us once more, and what our entry reads was
    // there before the slot was written under a lock that such a caller takes
    __atomic_store_n(slot, value, __ATOMIC_RELAXED);
    if (sealed) mprotect(first, page, PROT_READ);
    return true;
}

}   // namespace weft_bridge
