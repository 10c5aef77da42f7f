// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the loader has mapped: the objects of the process, what they import and from which
// libraries, read from their dynamic sections. Headers only, for the bridges and the report of
// `weft run`, which use no other code of ours.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft_bridge {

// One mapped object. It points into that object's memory, so it is valid inside of dl_iterate_phdr,
// or while a handle holds the object.
struct Loaded {
    const char* path = "";                         // as the loader has it; empty: the program
    std::uintptr_t base = 0, first = 0, end = 0;   // its load base, and the range of its addresses
    std::uintptr_t sealed = 0, sealed_end = 0;     // read-only since its relocation (PT_GNU_RELRO)
    const ElfW(Dyn) * dynamic = nullptr;
    const char* names = nullptr;
    const ElfW(Sym) * symbols = nullptr;
    const std::uint32_t* hashes = nullptr;   // DT_GNU_HASH
    bool thread_local_data = false;          // PT_TLS: it defines thread_local or threadprivate variables

    bool holds(const void* address) const {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        return at >= first && at < end;
    }
    // The target of an entry of the dynamic section: the loader has added the base to most of them.
    std::uintptr_t pointer(ElfW(Addr) value) const { return value < base ? base + value : value; }
};

// For an object without a dynamic section `dynamic` stays null, and the functions that follow find
// nothing in it.
inline Loaded loaded_of(const dl_phdr_info& info) {
    Loaded object;
    object.path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
    object.base = info.dlpi_addr;
    object.first = UINTPTR_MAX;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info.dlpi_phdr[i];
        const std::uintptr_t at = object.base + segment.p_vaddr;
        if (segment.p_type == PT_DYNAMIC) object.dynamic = reinterpret_cast<const ElfW(Dyn)*>(at);
        if (segment.p_type == PT_GNU_RELRO) object.sealed = at, object.sealed_end = at + segment.p_memsz;
        if (segment.p_type == PT_TLS) object.thread_local_data = segment.p_memsz != 0;
        if (segment.p_type != PT_LOAD) continue;
        if (at < object.first) object.first = at;
        if (at + segment.p_memsz > object.end) object.end = at + segment.p_memsz;
    }
    for (const ElfW(Dyn)* entry = object.dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        const std::uintptr_t at = object.pointer(entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB) object.names = reinterpret_cast<const char*>(at);
        if (entry->d_tag == DT_SYMTAB) object.symbols = reinterpret_cast<const ElfW(Sym)*>(at);
        if (entry->d_tag == DT_GNU_HASH) object.hashes = reinterpret_cast<const std::uint32_t*>(at);
    }
    if (object.names == nullptr || object.symbols == nullptr) object.dynamic = nullptr;
    return object;
}

// Calls visit(object) for each object, in load order, until it returns true. visit must not call
// the loader: its lock is held.
template <class Visit>
void each_loaded(Visit visit) {
    dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                       void* raw) { return (*static_cast<Visit*>(raw))(loaded_of(*info)) ? 1 : 0; },
                    &visit);
}

// How many objects have been mapped and unmapped so far: what is known of addresses stays valid
// while neither number changes.
struct LoaderCounts {
    unsigned long long added = 0, removed = 0;
    friend bool operator==(const LoaderCounts&, const LoaderCounts&) = default;
};
inline LoaderCounts loader_counts() {
    LoaderCounts counts;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* raw) {
            *static_cast<LoaderCounts*>(raw) = {info->dlpi_adds, info->dlpi_subs};
            return 1;
        },
        &counts);
    return counts;
}

// Calls visit(name) for each library that the object needs (DT_NEEDED).
template <class Visit>
void each_needed(const Loaded& object, Visit visit) {
    for (const ElfW(Dyn)* entry = object.dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_NEEDED) visit(object.names + entry->d_un.d_val);
    }
}

// Its SONAME; null: it has none.
inline const char* soname_of(const Loaded& object) {
    for (const ElfW(Dyn)* entry = object.dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_SONAME) return object.names + entry->d_un.d_val;
    }
    return nullptr;
}

// Calls visit(name, symbol, slot) for each symbol that a relocation of the object names; the loader
// writes the symbol's address into the slot.
template <class Visit>
void each_slot(const Loaded& object, Visit visit) {
    std::uintptr_t tables[2] = {};
    std::size_t bytes[2] = {};
    for (const ElfW(Dyn)* entry = object.dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
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
            const auto number = ELF64_R_SYM(relocations[i].r_info);
            if (number == 0) continue;
            const ElfW(Sym)& symbol = object.symbols[number];
            visit(object.names + symbol.st_name, symbol,
                  reinterpret_cast<void**>(object.base + relocations[i].r_offset));
        }
    }
}

// The object's own symbol of that name, under any version; null: it has none. Every current linker
// writes the table that this reads (DT_GNU_HASH). Unlike dlsym it takes no loader lock.
inline void* address_in(const Loaded& object, const char* name) {
    if (object.dynamic == nullptr || object.hashes == nullptr) return nullptr;
    std::uint32_t hash = 5381;
    for (const char* at = name; *at != '\0'; ++at) hash = hash * 33 + static_cast<unsigned char>(*at);
    const std::uint32_t buckets = object.hashes[0], first = object.hashes[1], words = object.hashes[2];
    const std::uint32_t* const bucket =
        object.hashes + 4 + std::size_t{words} * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t* const chain = bucket + buckets;
    if (buckets == 0) return nullptr;
    std::uint32_t number = bucket[hash % buckets];
    if (number < first) return nullptr;
    for (;; ++number) {
        const std::uint32_t found = chain[number - first];
        const ElfW(Sym)& symbol = object.symbols[number];
        if ((found | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF &&
            std::strcmp(object.names + symbol.st_name, name) == 0) {
            return reinterpret_cast<void*>(object.base + symbol.st_value);
        }
        if ((found & 1) != 0) return nullptr;   // the last of its bucket
    }
}

}   // namespace weft_bridge
