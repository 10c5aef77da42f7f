// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spool.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace weft_report {

namespace {

enum : off_t { first_lives, being_used };   // which byte of the file each lock is on

bool lock(int file, off_t byte, short type) {
    struct flock what {};
    what.l_type = type;
    what.l_whence = SEEK_SET;
    what.l_start = byte;
    what.l_len = 1;
    return fcntl(file, F_SETLK, &what) == 0;
}

bool is_held(int file, off_t byte) {
    struct flock what {};
    what.l_type = F_WRLCK;
    what.l_whence = SEEK_SET;
    what.l_start = byte;
    what.l_len = 1;
    return fcntl(file, F_GETLK, &what) == 0 && what.l_type != F_UNLCK;
}

// Other processes use the file for microseconds. One that is stopped meanwhile must not keep this
// process from ending.
bool begin_use(int file) {
    for (int turn = 0; turn < 2000; ++turn) {
        if (lock(file, being_used, F_WRLCK)) return true;
        const timespec pause{0, 1'000'000};
        nanosleep(&pause, nullptr);
    }
    return false;
}

String all_of(int file) {
    String text;
    char part[16384];
    for (ssize_t got; (got = pread(file, part, sizeof part, static_cast<off_t>(text.size()))) > 0;)
        text.append(part, static_cast<std::size_t>(got));
    return text;
}

// Appends in one write: the file was opened with O_APPEND.
bool append(int file, const char* lines, std::size_t length) {
    for (;;) {
        const ssize_t written = write(file, lines, length);
        if (written < 0 && errno == EINTR) continue;
        // a record that was cut short lacks its end, and is ignored by readers
        return written == static_cast<ssize_t>(length);
    }
}

int open_spool(const char* path) { return open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW); }

bool is_there(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && status.st_nlink != 0;
}

}   // namespace

String make_spool() {
    const char* folder = std::getenv("TMPDIR");
    if (folder == nullptr || *folder != '/') folder = "/tmp";
    String path = String(folder) + "/weft-report-XXXXXX";
    const int file = mkostemp(path.data(), O_CLOEXEC);
    if (file < 0) return {};
    close(file);
    return path;
}

int out_of_the_way(int descriptor) {
    rlimit limit{};
    const long most =
        getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1000 ? static_cast<long>(limit.rlim_cur) : 1000;
    return fcntl(descriptor, F_DUPFD_CLOEXEC, std::max(most - 100, most / 2));
}

void hold_spool(const char* path) {
    const int file = open_spool(path);
    if (file < 0) return;
    const int kept = out_of_the_way(file);
    close(file);   // before taking the lock: closing any descriptor of a file releases the process's locks on it
    if (kept >= 0) lock(kept, first_lives, F_WRLCK);
}

bool hand_in(const char* path, const String& lines, bool is_first, String& others) {
    const int file = open_spool(path);
    if (file < 0) return false;
    bool handed_in = false;
    if (begin_use(file) && is_there(file)) {
        if (!is_first && is_held(file, first_lives)) {
            handed_in = append(file, lines.data(), lines.size());
        } else {
            others = all_of(file);
            unlink(path);
        }
    }
    close(file);
    return handed_in;
}

void announce(const char* path, const char* line, std::size_t length) {
    const int file = open_spool(path);
    if (file < 0) return;
    if (begin_use(file) && is_there(file) && is_held(file, first_lives)) append(file, line, length);
    close(file);
}

}   // namespace weft_report
