// An ELF file as it lies on disk, for those who look at programs and libraries that are not loaded.
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

    // It is an ELF file of this machine's word size that can be read. Everything below is empty
    // otherwise.
    explicit operator bool() const { return header_ != nullptr; }

    // The loader that it names; empty: none, as in a library or a static program.
    [[nodiscard]] std::string interpreter() const;
    [[nodiscard]] std::string soname() const;

    // Calls symbol(name, defined, weak) for each symbol of the dynamic table and, where `all`, of
    // the static one.
    template <class Symbol>
    void each_symbol(bool all, Symbol symbol) const {
        for (unsigned i = 0; i < section_count_; ++i) {
            if (sections_[i].sh_type != SHT_DYNSYM && !(all && sections_[i].sh_type == SHT_SYMTAB)) continue;
            const Table table = table_of(sections_[i]);
            for (std::size_t j = 1; j < table.count; ++j) {   // the first is none
                const ElfW(Sym)& one = table.symbols[j];
                if (one.st_name >= table.names_size) continue;
                symbol(table.names + one.st_name, one.st_shndx != SHN_UNDEF, ELF64_ST_BIND(one.st_info) == STB_WEAK);
            }
        }
    }

    // Whether these bytes are anywhere in the file.
    [[nodiscard]] bool contains(const char* text) const { return file_.contains(text); }

private:
    struct Table {
        const ElfW(Sym) * symbols = nullptr;
        std::size_t count = 0;
        const char* names = nullptr;   // ends with a zero
        std::size_t names_size = 0;
    };

    [[nodiscard]] Table table_of(const ElfW(Shdr) & section) const;
    // The strings of the entries of the dynamic section that have this tag.
    [[nodiscard]] std::vector<std::string> dynamic_strings(ElfW(Sxword) tag) const;

    MappedFile file_;
    const ElfW(Ehdr) * header_ = nullptr;
    const ElfW(Shdr) * sections_ = nullptr;
    unsigned section_count_ = 0;
};

}   // namespace weft_command
