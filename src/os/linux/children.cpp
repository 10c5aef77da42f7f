// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In sanitizer builds only: programs that have the sanitizer's run-time library start others that
// may not have it, and those cannot load such a build. `weft run` preloads the build into the one
// program, and says in a variable beside LD_PRELOAD what the program's children get. If a program
// that was linked with such a build is started by one of these children, the release library is in
// front of its own; the program begins anew without it.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/config.hpp"
#include "weft/version.h"

namespace {

constexpr char of_children[] = "WEFT_CHILDREN_PRELOAD";

std::string own_path() {
    Dl_info info;
    return dladdr(reinterpret_cast<const void*>(of_children), &info) != 0 ? info.dli_fname : "";
}

// A lookup from the program finds the functions that the program calls; this library finds its own
// functions first (-Bsymbolic).
bool another_is_in_front() {
    void* const program = dlopen(nullptr, RTLD_NOW);
    if (program == nullptr) return false;
    const auto called = reinterpret_cast<int (*)()>(dlsym(program, "weft_version"));
    dlclose(program);
    return called != nullptr && called != weft_version;
}

// Starts the program again, with this library in the place of the release. Returns if there was no
// release, or the program cannot be started.
void begin_anew(char** arguments) {
    const std::string release = std::string("/") + weft::config::soname;
    const char* const had = std::getenv("LD_PRELOAD");
    std::string list = had == nullptr ? "" : had;
    const std::size_t end =
        list.find(release) == std::string::npos ? std::string::npos : list.find(release) + release.size();
    if (end == std::string::npos || (end != list.size() && list[end] != ':' && list[end] != ' ')) return;
    const std::size_t before = list.find_last_of(": ", end - 1), begin = before == std::string::npos ? 0 : before + 1;
    setenv(of_children, had, 1);
    list.replace(begin, end - begin, own_path());
    setenv("LD_PRELOAD", list.c_str(), 1);
    execv("/proc/self/exe", arguments);
    setenv("LD_PRELOAD", std::getenv(of_children), 1);
    unsetenv(of_children);
}

[[gnu::constructor]] void see_to_children(int, char** arguments, char**) {
    if (const char* const list = std::getenv(of_children)) {
        *list == '\0' ? unsetenv("LD_PRELOAD") : setenv("LD_PRELOAD", list, 1);
        unsetenv(of_children);
    } else if (another_is_in_front()) {
        begin_anew(arguments);
    }
}

}   // namespace
