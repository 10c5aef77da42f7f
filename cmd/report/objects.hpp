// What is loaded into this process, and where the loader has bound each object's calls: so it does not matter how a library was loaded
// (RTLD_DEEPBIND, another namespace of names, what was loaded first).
#pragma once

#include <cstdint>
#include <cstring>
#include <link.h>

#include "memory.hpp"

namespace weft_report {

inline bool begins(const char* text, const char* with) { return std::strncmp(text, with, std::strlen(with)) == 0; }

// Pointers into the object's own memory.
struct Object {
    String path;                                   // links followed
    String name;                                   // as the loader has it; empty: the program
    std::uintptr_t base = 0, first = 0, end = 0;   // where it lies
    const ElfW(Dyn)* dynamic = nullptr;
    const char* strings = nullptr;
    const ElfW(Sym)* symbols = nullptr;
    const char* soname = "";
    bool is_ours = false;                          // libweft.so, what needs it, and what is preloaded with it

    bool holds(std::uintptr_t address) const { return address >= first && address < end; }
    // What an entry of its dynamic section points to; the loader has added the base to most.
    std::uintptr_t pointer(ElfW(Addr) value) const { return value < base ? base + value : value; }
    // need(SONAME) for each library that it names as needed, until that is true.
    template <class Need>
    bool any_needed(Need need) const {
        for (const ElfW(Dyn)* entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_NEEDED && need(strings + entry->d_un.d_val)) return true;
        }
        return false;
    }
};

List<Object> loaded_objects();

// The program's path; "a program" where it cannot be read.
String program_path();

// Calls slot(name of a symbol, whether the object itself has one of that name, what the loader has put there).
template <class Slot>
void each_slot(const Object& object, Slot slot) {
    std::uintptr_t tables[2] = {};
    std::size_t bytes[2] = {};
    for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
        switch (entry->d_tag) {
        case DT_JMPREL: tables[0] = object.pointer(entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: bytes[0] = entry->d_un.d_val; break;
        case DT_RELA: tables[1] = object.pointer(entry->d_un.d_ptr); break;
        case DT_RELASZ: bytes[1] = entry->d_un.d_val; break;
        default: break;
        }
    }
    for (int table = 0; table < 2; ++table) {
        const auto* const relocations = reinterpret_cast<const ElfW(Rela)*>(tables[table]);
        for (std::size_t i = 0; relocations != nullptr && i < bytes[table] / sizeof *relocations; ++i) {
            const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(relocations[i].r_info)];
            if (ELF64_R_SYM(relocations[i].r_info) == 0) continue;
            std::uintptr_t value;
            std::memcpy(&value, reinterpret_cast<const void*>(object.base + relocations[i].r_offset), sizeof value);
            slot(object.strings + symbol.st_name, symbol.st_shndx != SHN_UNDEF, value);
        }
    }
}

// Which OpenMP runtimes a file has within it: by the symbols that it defines or, where those were stripped, by words of their messages.
struct Runtimes {
    bool gnu = false, llvm = false;
};
Runtimes runtimes_in(const String& path);

}  // namespace weft_report
