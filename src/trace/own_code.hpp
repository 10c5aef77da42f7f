// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where Weft's own code lies in a process whose program knows nothing of Weft, so that a crash of
// Weft can be told from a crash of the program.
#pragma once

#include <cstddef>
#include <cstdint>

struct dl_phdr_info;

namespace weft::trace {

class OwnCode {
public:
    struct Library {
        const char* path;
        std::uintptr_t base, end;   // where it was loaded, and the first byte behind it
    };

    // Searches the libraries that are loaded now. Not in a signal handler. Weft's libraries are
    // never unloaded once one of them stands in front of other libraries' functions.
    void find();

    // Whether a Weft bridge (libweft_pthread, Weft's libgomp.so.1) is loaded, as under `weft run`.
    [[nodiscard]] bool is_bridged() const { return bridged_; }

    // The Weft library that holds `code`; null: none. May be called in a signal handler.
    [[nodiscard]] const Library* holding(std::uintptr_t code) const;

private:
    static int note(dl_phdr_info* info, std::size_t, void* self);

    static constexpr std::size_t most = 8;

    Library libraries_[most] = {};
    std::size_t count_ = 0;
    bool bridged_ = false;
};

}   // namespace weft::trace
