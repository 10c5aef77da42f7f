// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ELF file on disk, for code that examines programs and libraries that are not loaded.
#pragma once

#include <elf.h>
#include <link.h>
#include <cstddef>
#include <string>
#include <vector>

#include "mapped_file.hpp"

namespace weft_command {

class Image {
public:
    explicit Image(const std::string& path);

    // Whether this is a readable ELF file of this machine's word size. If not, everything below is
    // empty.
    explicit operator bool() const { return header_ != nullptr; }

    // The loader that the file names; empty: none, as in a library or a static program.
    [[nodiscard]] std::string interpreter() const;
    [[nodiscard]] std::string soname() const;

    // Calls symbol(name, defined, weak) for each symbol of the dynamic table and, if `all`, of the
    // static table.
    template <class Symbol>
    void each_symbol(bool all, Symbol symbol) const {
        for (unsigned i = 0; i < section_count_; ++i) {
            if (sections_[i].sh_type != SHT_DYNSYM && !(all && sections_[i].sh_type == SHT_SYMTAB)) continue;
            const Table table = table_of(sections_[i]);
            for (std::size_t j = 1; j < table.count; ++j) {   // entry 0 is no symbol
                const ElfW(Sym)& one = table.symbols[j];
                if (one.st_name >= table.names_size) continue;
                symbol(table.names + one.st_name, one.st_shndx != SHN_UNDEF, ELF64_ST_BIND(one.st_info) == STB_WEAK);
            }
        }
    }

    // Whether the file contains these bytes.
    [[nodiscard]] bool contains(const char* text) const { return file_.contains(text); }

private:
    struct Table {
        const ElfW(Sym) * symbols = nullptr;
        std::size_t count = 0;
        const char* names = nullptr;   // null-terminated
        std::size_t names_size = 0;
    };

    [[nodiscard]] Table table_of(const ElfW(Shdr) & section) const;
    // The strings of the entries with this tag in the dynamic section.
    [[nodiscard]] std::vector<std::string> dynamic_strings(ElfW(Sxword) tag) const;

    MappedFile file_;
    const ElfW(Ehdr) * header_ = nullptr;
    const ElfW(Shdr) * sections_ = nullptr;
    unsigned section_count_ = 0;
};

}   // namespace weft_command
