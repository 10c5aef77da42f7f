// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"

#include <cstring>

namespace weft_command {

Image::Image(const std::string& path) : file_(path.c_str()) {
    const auto* const header = file_.at<ElfW(Ehdr)>(0);
    constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
    if (header->e_ident[EI_CLASS] != own_class || header->e_shentsize != sizeof(ElfW(Shdr))) return;
    header_ = header;
    sections_ = file_.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    section_count_ = sections_ == nullptr ? 0 : header->e_shnum;
}

std::string Image::interpreter() const {
    if (header_ == nullptr) return {};
    const auto* const segments = file_.at<ElfW(Phdr)>(header_->e_phoff, header_->e_phnum);
    for (unsigned i = 0; segments != nullptr && i < header_->e_phnum; ++i) {
        if (segments[i].p_type != PT_INTERP) continue;
        const char* const text = file_.at<char>(segments[i].p_offset, segments[i].p_filesz);
        return text == nullptr ? std::string() : std::string(text, strnlen(text, segments[i].p_filesz));
    }
    return {};
}

Image::Table Image::table_of(const ElfW(Shdr) & section) const {
    if (section.sh_link >= section_count_) return {};
    const ElfW(Shdr)& names = sections_[section.sh_link];
    Table table;
    table.count = section.sh_size / sizeof(ElfW(Sym));
    table.symbols = file_.at<ElfW(Sym)>(section.sh_offset, table.count);
    table.names = file_.at<char>(names.sh_offset, names.sh_size);
    table.names_size = names.sh_size;
    const bool whole = table.symbols != nullptr && table.names != nullptr && names.sh_size > 0 &&
                       table.names[names.sh_size - 1] == '\0';
    return whole ? table : Table();
}

std::vector<std::string> Image::dynamic_strings(ElfW(Sxword) tag) const {
    std::vector<std::string> found;
    for (unsigned i = 0; i < section_count_; ++i) {
        const ElfW(Shdr)& section = sections_[i];
        if (section.sh_type != SHT_DYNAMIC || section.sh_link >= section_count_) continue;
        const std::size_t count = section.sh_size / sizeof(ElfW(Dyn));
        const auto* const entries = file_.at<ElfW(Dyn)>(section.sh_offset, count);
        const ElfW(Shdr)& names = sections_[section.sh_link];
        const char* const text = file_.at<char>(names.sh_offset, names.sh_size);
        for (std::size_t j = 0; entries != nullptr && text != nullptr && j < count; ++j) {
            const std::size_t offset = entries[j].d_un.d_val;
            if (entries[j].d_tag != tag || offset >= names.sh_size) continue;
            found.emplace_back(text + offset, strnlen(text + offset, names.sh_size - offset));
        }
    }
    return found;
}

std::string Image::soname() const {
    const auto found = dynamic_strings(DT_SONAME);
    return found.empty() ? std::string() : found[0];
}

}   // namespace weft_command
