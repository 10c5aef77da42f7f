// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace weft_command {

namespace {

std::vector<char*> environment_without(const std::vector<const char*>& names) {
    std::vector<char*> kept;
    for (char** one = environ; *one != nullptr; ++one) {
        bool left_out = false;
        for (const char* name : names) {
            const std::size_t length = std::strlen(name);
            left_out = left_out || (std::strncmp(*one, name, length) == 0 && (*one)[length] == '=');
        }
        if (!left_out) kept.push_back(*one);
    }
    kept.push_back(nullptr);
    return kept;
}

std::string read_all(int descriptor) {
    std::string text;
    char part[4096];
    for (;;) {
        const ssize_t got = read(descriptor, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        text.append(part, static_cast<std::size_t>(got));
    }
}

// Makes it possible to wait for the exit status, also if the user ignores SIGCHLD. The destructor
// restores the handling of SIGCHLD for the program.
class Awaited {
public:
    Awaited() {
        struct sigaction standard {};
        standard.sa_handler = SIG_DFL;
        sigaction(SIGCHLD, &standard, &before_);
    }
    ~Awaited() { sigaction(SIGCHLD, &before_, nullptr); }
    Awaited(const Awaited&) = delete;
    Awaited& operator=(const Awaited&) = delete;

    static int status_of(pid_t process) {
        int status = 0;
        while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    struct sigaction before_;
};

// A file without a name. With two pipes, one could fill up while the other is read.
int nameless_file() { return open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600); }

}   // namespace

Outcome run_and_wait(const std::string& path, std::vector<std::string> arguments,
                     const std::vector<const char*>& without, bool keep_errors) {
    Outcome outcome;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        outcome.error = errno;
        return outcome;
    }
    std::vector<char*> variables = environment_without(without), words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    const int errors = keep_errors ? nameless_file() : -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (errors >= 0) posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    else posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const Awaited awaited;
    pid_t process = 0;
    outcome.error = posix_spawn(&process, path.c_str(), &actions, nullptr, words.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (outcome.error == 0) {
        outcome.output = read_all(ends[0]);
        outcome.status = Awaited::status_of(process);
    }
    close(ends[0]);
    if (errors >= 0) {
        lseek(errors, 0, SEEK_SET);
        outcome.errors = read_all(errors);
        close(errors);
    }
    return outcome;
}

}   // namespace weft_command
