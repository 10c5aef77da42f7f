// In the builds for a sanitizer only: programs that have its run-time library start others that may
// not have it, and those cannot load such a build. `weft run` preloads it into the one program, and
// says beside LD_PRELOAD what its children get. A program that was linked with such a build and is
// started by one of them gets the release in front of that: it begins anew without.
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

// What the program calls is what is found from there; this library finds its own functions first
// (-Bsymbolic).
bool another_is_in_front() {
    void* const program = dlopen(nullptr, RTLD_NOW);
    if (program == nullptr) return false;
    const auto called = reinterpret_cast<int (*)()>(dlsym(program, "weft_version"));
    dlclose(program);
    return called != nullptr && called != weft_version;
}

// With this library where the release was. Returns if there was none, or the program cannot be
// started.
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
