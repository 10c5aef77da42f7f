// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The objects that are loaded into this process, and where the loader has bound each object's
// calls. So it does not matter how a library was loaded (RTLD_DEEPBIND, another link-map namespace,
// the order of loading).
#pragma once

#include <cstdint>
#include <cstring>

#include "../../bridge/common/loaded.hpp"
#include "memory.hpp"

namespace weft_report {

inline bool begins(const char* text, const char* with) { return std::strncmp(text, with, std::strlen(with)) == 0; }

struct Object {
    weft_bridge::Loaded loaded;
    String path;   // with links resolved
    String name;   // the loader's name for it; empty: the program
    const char* soname = "";
    bool is_ours = false;   // libweft.so, objects that need it, and objects that are preloaded with it

    bool holds(std::uintptr_t address) const { return loaded.holds(reinterpret_cast<const void*>(address)); }
    // Whether need(SONAME) is true for a library that the object names as needed.
    template <class Need>
    bool any_needed(Need need) const {
        bool any = false;
        weft_bridge::each_needed(loaded, [&](const char* needed) { any = any || need(needed); });
        return any;
    }
};

List<Object> loaded_objects();

// The program's path; "a program" if it cannot be read.
String program_path();

// Calls slot(name of a symbol, whether the object itself defines that name, the value that the
// loader has put there).
template <class Slot>
void each_slot(const Object& object, Slot slot) {
    weft_bridge::each_slot(object.loaded, [&slot](const char* name, const ElfW(Sym) & symbol, void* const* place) {
        std::uintptr_t value;
        std::memcpy(&value, place, sizeof value);   // the slot need not be aligned
        slot(name, symbol.st_shndx != SHN_UNDEF, value);
    });
}

// The OpenMP runtimes that a file contains, recognised by the symbols that it defines or, if those
// were stripped, by words of their messages.
struct Runtimes {
    bool gnu = false, llvm = false;
};
Runtimes runtimes_in(const String& path);

}   // namespace weft_report
