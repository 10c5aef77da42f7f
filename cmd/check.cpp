#include "check.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace weft_command {

namespace {

bool begins(const char* text, const char* with) { return std::strncmp(text, with, std::strlen(with)) == 0; }

// The user's environment without what changes how a program is loaded or makes it write something: the check
// is none of the user's programs.
std::vector<char*> environment_of_check() {
    std::vector<char*> kept;
    for (char** one = environ; *one != nullptr; ++one) {
        const bool loader = begins(*one, "LD_PRELOAD=") || begins(*one, "LD_AUDIT=") || begins(*one, "LD_DEBUG=");
        if (!loader && !begins(*one, "WEFT_REPORT=")) kept.push_back(*one);
    }
    kept.push_back(nullptr);
    return kept;
}

// What the process writes to the descriptor until it ends.
std::string read_all(int descriptor) {
    std::string text;
    char part[1024];
    for (;;) {
        const ssize_t got = read(descriptor, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        text.append(part, static_cast<std::size_t>(got));
    }
}

// The exit status can be waited for, also where the user ignores SIGCHLD, which the program is to find as it was.
class Awaited {
public:
    Awaited() {
        struct sigaction standard {};
        standard.sa_handler = SIG_DFL;
        sigaction(SIGCHLD, &standard, &before_);
    }
    ~Awaited() { sigaction(SIGCHLD, &before_, nullptr); }
    Awaited(const Awaited&) = delete;

    // -1: it was ended by a signal.
    static int status_of(pid_t process) {
        int status = 0;
        while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    struct sigaction before_;
};

}  // namespace

bool environment_needs_check() {
    for (char** one = environ; *one != nullptr; ++one) {
        // What an outer `weft run` sets, and files, which are looked at without the libraries.
        const bool known = begins(*one, "WEFT_REPORT") || begins(*one, "WEFT_TRACE=") ||
                           std::strcmp(*one, "WEFT_OMP_MAX_THREADS=follow") == 0;
        if (begins(*one, "WEFT_") && !known) return true;
    }
    return false;
}

bool check_environment(const Pieces& pieces, std::string& lines, int& error) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return true;
    std::vector<char*> variables = environment_of_check();
    char name[] = "weft-info", option[] = "--check";
    char* arguments[] = {name, option, nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    // of a loader that finds no memory
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const Awaited awaited;
    pid_t process = 0;
    error = posix_spawn(&process, pieces.info.c_str(), &actions, nullptr, arguments, variables.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error == 0) lines = read_all(ends[0]);
    close(ends[0]);
    if (error == 0 && Awaited::status_of(process) != 1) lines.clear();
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
