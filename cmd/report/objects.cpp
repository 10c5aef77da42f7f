// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "objects.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <climits>
#include <cstdlib>

#include "../kinds.hpp"
#include "../mapped_file.hpp"

namespace weft_report {

using weft_command::MappedFile;

namespace {

// The whole contents of a file that reports no size, such as those in /proc.
String contents_of(const char* path) {
    String text;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    char part[16384];
    for (ssize_t got; file >= 0 && (got = read(file, part, sizeof part)) > 0;)
        text.append(part, static_cast<std::size_t>(got));
    if (file >= 0) close(file);
    return text;
}

// The path of a library that was opened by a relative name, also if the current folder has changed:
// /proc/self/maps has a line for each of its segments.
String mapped_path(std::uintptr_t address) {
    const String maps = contents_of("/proc/self/maps");
    for (std::size_t at = 0; at < maps.size();) {
        char* rest;
        const std::uintptr_t first = std::strtoul(maps.c_str() + at, &rest, 16);
        const std::uintptr_t end = *rest == '-' ? std::strtoul(rest + 1, nullptr, 16) : 0;
        const std::size_t line_end = std::min(maps.find('\n', at), maps.size()), slash = maps.find('/', at);
        if (address >= first && address < end)
            return slash < line_end ? maps.substr(slash, line_end - slash) : String();
        at = line_end + 1;
    }
    return {};
}

String path_of(const Object& object) {
    if (object.name.empty()) return program_path();
    if (object.name.find('/') == String::npos) return {};   // the kernel's own object, which has no file
    if (object.name[0] != '/') return mapped_path(object.loaded.first);
    char real[PATH_MAX];
    return realpath(object.name.c_str(), real) != nullptr ? String(real) : object.name;
}

bool is_ours(const Object& object) {
    return begins(object.soname, "libweft") ||
           (std::strcmp(object.soname, "libgomp.so.1") == 0 &&
            object.any_needed([](const char* name) { return begins(name, "libweft"); }));
}

}   // namespace

String program_path() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? String(path, static_cast<std::size_t>(length)) : "a program";
}

List<Object> loaded_objects() {
    List<Object> objects;
    weft_bridge::each_loaded([&objects](const weft_bridge::Loaded& loaded) {
        if (loaded.dynamic != nullptr) objects.push_back({loaded, {}, loaded.path});
        return false;
    });
    for (Object& object : objects) {
        object.path = path_of(object);
        if (const char* const soname = weft_bridge::soname_of(object.loaded)) object.soname = soname;
        object.is_ours = is_ours(object);
    }
    objects.erase(
        std::remove_if(objects.begin(), objects.end(), [](const Object& object) { return object.path.empty(); }),
        objects.end());
    return objects;
}

// ---- files --------------------------------------------------------------------------------------

namespace {

void look_at_symbols(const MappedFile& file, const ElfW(Shdr) & table, const ElfW(Shdr) & names, Runtimes& found) {
    const std::size_t count = table.sh_size / sizeof(ElfW(Sym));
    const auto* const symbols = file.at<ElfW(Sym)>(table.sh_offset, count);
    const auto* const strings = file.at<char>(names.sh_offset, names.sh_size);
    for (std::size_t i = 0; symbols != nullptr && strings != nullptr && i < count; ++i) {
        if (symbols[i].st_shndx == SHN_UNDEF || symbols[i].st_name >= names.sh_size) continue;
        const std::string_view name(strings + symbols[i].st_name,
                                    strnlen(strings + symbols[i].st_name, names.sh_size - symbols[i].st_name));
        found.gnu = found.gnu || name == weft_command::gnu_function;
        found.llvm = found.llvm || name == weft_command::llvm_function;
    }
}

}   // namespace

Runtimes runtimes_in(const String& path) {
    const MappedFile file(path.c_str());
    Runtimes found;
    const auto* const header = file.at<ElfW(Ehdr)>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return found;
    const auto* const sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    for (unsigned i = 0; sections != nullptr && i < header->e_shnum; ++i) {
        const ElfW(Shdr)& section = sections[i];
        if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) || section.sh_link >= header->e_shnum)
            continue;
        look_at_symbols(file, section, sections[section.sh_link], found);
    }
    if (found.gnu || found.llvm) return found;
    return {file.contains(weft_command::gnu_words), file.contains(weft_command::llvm_words)};
}

}   // namespace weft_report
