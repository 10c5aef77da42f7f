// The command `weft`. It runs before each program that `weft run` starts, so it is linked
// statically and does little work.
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <weft/version.h>

#include "paths.hpp"
#include "run.hpp"

namespace {

void help(std::FILE* to) {
    std::fputs(weft_command::run_help, to);
    std::fputs(
        "\nweft info [--check]\n"
        "  what harts there are and where they lie, and each setting with its value and where that comes from;\n"
        "  --check: only the variables whose values are not legal, with exit status 1 if there are any\n"
        "\nweft --version\nweft --help\n",
        to);
}

int done(std::FILE* with) { return std::fflush(with) == 0 ? 0 : 125; }

int info(char** arguments) {
    const std::string program = weft_command::find_pieces().info;
    execv(program.c_str(), arguments);
    std::fprintf(stderr, "weft: '%s' cannot be run: %s\n", program.c_str(), std::strerror(errno));
    return 125;
}

}   // namespace

int main(int count, char** arguments) {
    const char* const what = count > 1 ? arguments[1] : "";
    if (std::strcmp(what, "run") == 0) return weft_command::run(arguments + 2);
    if (std::strcmp(what, "info") == 0) return info(arguments + 1);
    if (std::strcmp(what, "--version") == 0) {
        std::printf("weft %d.%d.%d\n", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH);
        return done(stdout);
    }
    if (std::strcmp(what, "--help") == 0 || std::strcmp(what, "-h") == 0) {
        help(stdout);
        return done(stdout);
    }
    if (*what != '\0') std::fprintf(stderr, "weft: there is no command '%s'\n\n", what);
    help(stderr);
    return 125;
}
