#include "variant.hpp"

#include <cstring>

#include "checked.hpp"
#include "image.hpp"

namespace weft_command {

namespace {

// What each object that was compiled for the sanitizer calls when it is loaded: of gcc's shared
// run-time library or clang's, or of the program itself, which has clang's static one and shows it
// to libraries.
constexpr char of_thread[] = "__tsan_init", of_address[] = "__asan_init";

}   // namespace

Variant variant_for(const Program& program) {
    Variant found;
    if (program.reach != Reach::full) return found;
    Image(program.image).each_symbol(false, [&](const char* name, bool, bool) {
        if (std::strcmp(name, of_thread) == 0) found = {"tsan", "the program has the thread sanitizer", false, true};
        if (std::strcmp(name, of_address) == 0) found = {"asan", "the program has the address sanitizer", false, true};
    });
    if (found.name != nullptr) return found;   // these check handles, too
    if (checked_is_on()) found = {"checked", "WEFT_CHECKED asks for it", true, false};
    return found;
}

}   // namespace weft_command
