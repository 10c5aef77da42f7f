// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "variant.hpp"

#include <cstring>

#include "checked.hpp"
#include "image.hpp"

namespace weft_command {

namespace {

// The functions that each object compiled for the sanitizer calls when it is loaded. They are in
// the shared run-time library of gcc or clang, or in the program itself, which then contains
// clang's static one and exports it to libraries.
constexpr char of_thread[] = "__tsan_init", of_address[] = "__asan_init";

}   // namespace

Variant variant_for(const Program& program) {
    Variant found;
    if (program.reach != Reach::full) return found;
    Image(program.image).each_symbol(false, [&](const char* name, bool, bool) {
        if (std::strcmp(name, of_thread) == 0) found = {"tsan", "the program has the thread sanitizer", false, true};
        if (std::strcmp(name, of_address) == 0) found = {"asan", "the program has the address sanitizer", false, true};
    });
    if (found.name != nullptr) return found;   // the sanitizers' builds check handles, too
    if (checked_is_on()) found = {"checked", "WEFT_CHECKED asks for it", true, false};
    return found;
}

}   // namespace weft_command
