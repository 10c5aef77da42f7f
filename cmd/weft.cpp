// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command `weft`. It runs before each program that `weft run` starts, so it is linked
// statically and does little work.
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <weft/version.h>

#include "help.hpp"
#include "paths.hpp"
#include "run.hpp"

namespace {

bool is(const char* word, const char* first, const char* second) {
    return std::strcmp(word, first) == 0 || std::strcmp(word, second) == 0;
}

int print(const char* text) { return std::fputs(text, stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 125; }

int info(char** arguments) {
    const std::string program = weft_command::find_pieces().info;
    execv(program.c_str(), arguments);
    std::fprintf(stderr, "weft: '%s' cannot be run: %s\n", program.c_str(), std::strerror(errno));
    return 125;
}

int help(const char* command) {
    if (command == nullptr) return print(weft_command::weft_help);
    if (std::strcmp(command, "run") == 0) return print(weft_command::run_help);
    if (std::strcmp(command, "info") == 0) return print(weft_command::info_help);
    std::fprintf(stderr, "weft help: there is no command '%s'; there are run and info\n", command);
    return 125;
}

}   // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        std::fputs(weft_command::weft_help, stderr);
        return 125;
    }
    const char* const what = arguments[1];
    if (std::strcmp(what, "run") == 0) return weft_command::run(arguments + 2);
    if (std::strcmp(what, "info") == 0) return info(arguments + 1);
    const bool by_name = std::strcmp(what, "help") == 0;
    const bool asks_version = is(what, "--version", "-V");
    if (by_name || asks_version || is(what, "--help", "-h")) {
        const int most = by_name ? 3 : 2;
        if (count > most) {
            std::fprintf(stderr, "weft %s: unexpected argument '%s'\n", what, arguments[most]);
            return 125;
        }
        if (!asks_version) return help(by_name ? arguments[2] : nullptr);
        std::printf("weft %d.%d.%d\n", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH);
        return std::fflush(stdout) == 0 ? 0 : 125;
    }
    std::fprintf(stderr, "weft: there is no command '%s'\n\n%s", what, weft_command::weft_help);
    return 125;
}
