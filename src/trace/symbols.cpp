// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/symbols.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft::trace {
namespace {

std::string readable(const char* symbol) {
    int status = 0;
    char* const text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    std::string name = text != nullptr ? text : symbol;
    std::free(text);
    return name;
}

Symbols::Symbol look_up(std::uintptr_t address) {
    Symbols::Symbol found;
    Dl_info info{};
    if (address == 0 || dladdr(reinterpret_cast<const void*>(address), &info) == 0 || info.dli_fname == nullptr)
        return found;
    const char* const slash = std::strrchr(info.dli_fname, '/');
    found.file = slash != nullptr ? slash + 1 : info.dli_fname;
    if (info.dli_sname != nullptr) found.function = readable(info.dli_sname);
    const void* const base = info.dli_sname != nullptr ? info.dli_saddr : info.dli_fbase;
    char offset[32];
    std::snprintf(offset, sizeof offset, "+%#zx", address - reinterpret_cast<std::uintptr_t>(base));
    found.place = (info.dli_sname != nullptr ? found.function : found.file) + offset;
    return found;
}

}   // namespace

const Symbols::Symbol& Symbols::of(std::uintptr_t address) {
    const auto known = known_.find(address);
    if (known != known_.end()) return known->second;
    if (known_.size() == most) known_.clear();
    return known_.emplace(address, look_up(address)).first->second;
}

}   // namespace weft::trace
