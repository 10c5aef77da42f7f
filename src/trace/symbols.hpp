// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of code addresses, for output that people read. They are cached: a few addresses recur
// again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace weft::trace {

class Symbols {
public:
    struct Symbol {
        std::string function;   // readable; empty: the dynamic linker does not know it
        std::string file;       // its name without the folders; empty: the address is in no file
        std::string place;      // the function, or else the file, and the offset in it, which addr2line takes
    };

    const Symbol& of(std::uintptr_t address);

private:
    static constexpr std::size_t most = 4096;   // then the cache is emptied

    std::unordered_map<std::uintptr_t, Symbol> known_;
};

}   // namespace weft::trace
