// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/own_code.hpp"

#include <link.h>

#include <algorithm>
#include <cstring>

namespace weft::trace {
namespace {

bool begins(const char* text, const char* with) { return std::strncmp(text, with, std::strlen(with)) == 0; }

const char* file_of(const char* path) {
    const char* const slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

// What an entry of the dynamic section points to; the loader has added the base to most entries.
const char* pointer(const dl_phdr_info& info, ElfW(Addr) value) {
    return reinterpret_cast<const char*>(value < info.dlpi_addr ? info.dlpi_addr + value : value);
}

// libweft itself, or one of its variants (cmake/variants.cmake).
bool is_weft(const char* file) {
    return begins(file, "libweft.so") || begins(file, "libweft_checked.so") || begins(file, "libweft_tsan.so") ||
           begins(file, "libweft_asan.so");
}

bool needs_weft(const dl_phdr_info& info) {
    const ElfW(Dyn)* dynamic = nullptr;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    }
    const char* strings = nullptr;
    for (auto* entry = dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_STRTAB) strings = pointer(info, entry->d_un.d_ptr);
    }
    for (auto* entry = dynamic; strings != nullptr && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_NEEDED && is_weft(strings + entry->d_un.d_val)) return true;
    }
    return false;
}

// Decided by names first, since only few libraries have to be opened then: a process may have
// loaded hundreds.
enum class Part { none, core, bridge };
Part part_of(const dl_phdr_info& info) {
    const char* const file = file_of(info.dlpi_name);
    if (is_weft(file)) return Part::core;
    if ((begins(file, "libweft_") || begins(file, "libgomp.so.1")) && needs_weft(info)) return Part::bridge;
    return Part::none;
}

}   // namespace

int OwnCode::note(dl_phdr_info* info, std::size_t, void* self) {
    auto& to = *static_cast<OwnCode*>(self);
    const Part part = part_of(*info);
    if (part == Part::none || to.count_ == most) return 0;
    std::uintptr_t end = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        end = std::max<std::uintptr_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    to.libraries_[to.count_++] = {info->dlpi_name, info->dlpi_addr, end};
    to.bridged_ = to.bridged_ || part == Part::bridge;
    return 0;
}

void OwnCode::find() {
    count_ = 0;
    bridged_ = false;
    dl_iterate_phdr(note, this);
}

const OwnCode::Library* OwnCode::holding(std::uintptr_t code) const {
    for (std::size_t i = 0; i < count_; ++i) {
        if (code - libraries_[i].base < libraries_[i].end - libraries_[i].base) return &libraries_[i];
    }
    return nullptr;
}

}   // namespace weft::trace
