// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Start-up: each sample is a fresh process, of a program with Weft, of one with only the C library,
// and of one with the C++ library too.
//   init [--samples=N]
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "harness.hpp"

namespace {

// The probes lie beside this program.
std::string beside(const char* name) {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) {
        std::perror("bench: /proc/self/exe");
        std::exit(1);
    }
    const std::string own(path, static_cast<std::size_t>(length));
    return own.substr(0, own.rfind('/') + 1) + name;
}

void run(std::string program, std::string libraries) {
    char* const arguments[] = {program.data(), libraries.data(), nullptr};
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        std::fprintf(stderr, "bench: %s failed\n", program.c_str());
        std::exit(1);
    }
}

}   // namespace

int main(int argc, char** argv) {
    const int samples = std::stoi(bench::take_flag(argc, argv, "samples", "101"));
    for (int i = 0; i < samples; ++i) {
        run(beside("libc_probe"), "libc");
        run(beside("libstdcxx_probe"), "libstdc++");
        run(beside("init_probe"), "weft");
    }
    return 0;
}
