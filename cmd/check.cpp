// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "check.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "process.hpp"

namespace weft_command {

namespace {

bool begins(const char* text, const char* with) { return std::strncmp(text, with, std::strlen(with)) == 0; }

}   // namespace

bool environment_needs_check() {
    for (char** one = environ; *one != nullptr; ++one) {
        // Variables that an outer `weft run` sets, variables of the command itself, and variables
        // that name files, which the command checks without the libraries.
        const bool known =
            begins(*one, "WEFT_REPORT=") || begins(*one, "WEFT_REPORT_FORMAT=") || begins(*one, "WEFT_REPORT_OF=") ||
            begins(*one, "WEFT_REPORT_SPOOL=") || begins(*one, "WEFT_CHECKED=") ||
            begins(*one, "WEFT_CHILDREN_PRELOAD=") || begins(*one, "WEFT_TRACE=") || begins(*one, "WEFT_TOLD_OF=") ||
            std::strcmp(*one, "WEFT_OMP_MAX_THREADS=follow") == 0 || std::strcmp(*one, "WEFT_BLAS_THREADS=follow") == 0;
        if (begins(*one, "WEFT_") && !known) return true;
    }
    return false;
}

bool Checked::missing() const { return error == ENOENT || error == EACCES; }

Checked check_environment(const Pieces& pieces) {
    // Runs without the variables that change how a program is loaded or make it write something.
    // The message of a loader that finds no memory is discarded.
    const Outcome outcome = run_and_wait(pieces.info, {"weft-info", "--check"},
                                         {"LD_PRELOAD", "LD_AUDIT", "LD_DEBUG", "WEFT_REPORT"}, false);
    Checked checked;
    if (outcome.status == 0 || outcome.status == 1) checked.lines = outcome.output;
    checked.legal = outcome.status != 1;
    checked.error = outcome.error;
    return checked;
}

int cannot_be_written(const std::string& path) {
    // Without blocking: a named pipe without a reader fails with ENXIO.
    const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file >= 0) {
        close(file);
        return 0;
    }
    if (errno != ENOENT || path.empty()) return errno == ENXIO ? 0 : errno;
    const std::size_t slash = path.rfind('/');
    if (slash + 1 == path.size()) return EISDIR;
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    return faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

}   // namespace weft_command
