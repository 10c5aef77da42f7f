#include "check.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "process.hpp"

namespace weft_command {

namespace {

bool begins(const char* text, const char* with) { return std::strncmp(text, with, std::strlen(with)) == 0; }

}  // namespace

bool environment_needs_check() {
    for (char** one = environ; *one != nullptr; ++one) {
        // What an outer `weft run` sets, what is the command's own, and files, which are looked at without the libraries.
        const bool known = begins(*one, "WEFT_REPORT") || begins(*one, "WEFT_CHECKED=") || begins(*one, "WEFT_TRACE=") ||
                           std::strcmp(*one, "WEFT_OMP_MAX_THREADS=follow") == 0;
        if (begins(*one, "WEFT_") && !known) return true;
    }
    return false;
}

bool check_environment(const Pieces& pieces, std::string& lines, int& error) {
    // Without what changes how a program is loaded or makes it write something. What a loader says that
    // finds no memory is lost.
    const Outcome outcome = run_and_wait(pieces.info, {"weft-info", "--check"},
                                         {"LD_PRELOAD", "LD_AUDIT", "LD_DEBUG", "WEFT_REPORT"}, false);
    if (outcome.status == 1) lines = outcome.output;
    error = outcome.error;
    return error != ENOENT && error != EACCES;
}

int cannot_be_written(const std::string& path) {
    // Without blocking: a named pipe that nobody reads yet says ENXIO.
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

}  // namespace weft_command
