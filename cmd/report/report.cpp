// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Preloaded by `weft run --report`: when a process ends, reports what ran on Weft, what has threads
// of its own and what was left alone, with counters. Processes that the first process has started
// hand in their reports, and the first process reports all of them (spool.hpp).
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <weft/hart.h>
#include <weft/trace.h>

#include "findings.hpp"
#include "objects.hpp"
#include "spool.hpp"
#include "threads.hpp"

namespace weft_report {

namespace {

using Exit = void (*)(int);

// The environment's settings, copied because the program may change them.
struct Settings {
    char where[PATH_MAX] = "";   // "stderr", or a file; empty: no report
    char spool[PATH_MAX] = "";
    bool json = false;
    pid_t first = 0;   // the process that reports all of them
};
constinit Settings settings;

constinit std::atomic<bool> told{false}, begun{false};
constinit std::atomic<unsigned> unloads{0};
pid_t process = 0;     // the process that owns this memory: a child of vfork has another id
bool forked = false;   // it has its parent's libraries, and reports only those that it uses itself
int kept = -1;         // a duplicate of standard error, since programs close it before they end
struct stat kept_is;
EachRegions regions = nullptr;   // null: with the native OpenMP nothing counts regions
Exit next_exit = nullptr;

std::uint64_t counter(const char* name) {
    std::uint64_t value = 0;
    return weft_counter_read(name, &value) == WEFT_OK ? value : 0;
}

bool is_first() { return process == settings.first; }

Program this_process() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    Program program;
    program.path = program_path();
    program.process = static_cast<std::uint64_t>(process);
    const std::uint64_t values[counter_count] = {
        counter("/openmp/count/regions"),
        counter("/openmp/count/tasks"),
        counter("/openmp/count/members"),
        counter("/units/count/run"),
        weft_hart_limit(),
        counter("/harts/count/lent"),
        counter("/rescue/count/emergencies"),
        static_cast<std::uint64_t>(used.ru_nvcsw),
        static_cast<std::uint64_t>(used.ru_nivcsw),
        peak_threads(),
        counter("/harts/count/carriers-refused"),
        counter("/tbb/count/workers"),
        counter("/tbb/count/entries"),
        counter("/blas/count/calls"),
        counter("/blas/count/lowered"),
        counter("/openmp/count/regions-of-units"),
    };
    std::memcpy(program.values, values, sizeof values);
    look_at_process(program, program.values[0], regions, threads);
    if (forked) forget_unused(program);
    return program;
}

void write_all(int file, const String& lines) {
    for (std::size_t done = 0; done < lines.size();) {
        const ssize_t written = write(file, lines.data() + done, lines.size() - done);
        if (written < 0 && errno != EINTR) return;   // a failure cannot be reported anywhere
        if (written > 0) done += static_cast<std::size_t>(written);
    }
}

void tell(const String& lines) {
    if (std::strcmp(settings.where, "stderr") == 0) {
        // The program may have closed our descriptor, and opened another file under its number.
        struct stat now;
        const bool same =
            kept >= 0 && fstat(kept, &now) == 0 && now.st_dev == kept_is.st_dev && now.st_ino == kept_is.st_ino;
        return write_all(same ? kept : STDERR_FILENO, lines);
    }
    const int file = open(settings.where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) return;
    write_all(file, lines);   // in one write, since other processes append as well
    close(file);
}

void tell_of_all(void*) {
    const Program own = this_process();
    if (own.libraries.empty() && !is_first()) return;   // one of the many processes that a script starts
    String others;
    if (*settings.spool != '\0' && hand_in(settings.spool, to_lines(own), is_first(), others)) return;
    Report report;
    if (is_first()) report.add(own);
    report.add(std::string_view(others));
    if (!is_first()) report.add(own);
    tell(settings.json ? to_json(report) : to_text(report));
}

void end() {
    if (*settings.where == '\0' || getpid() != process || told.exchange(true)) return;
    if (forked && !begun.load()) return;
    const int error = errno;
    if (!attempt(tell_of_all, nullptr)) {
        constexpr char sorry[] = "weft run report: there was no memory for it\n";
        if (write(STDERR_FILENO, sorry, sizeof sorry - 1) < 0) errno = error;
    }
    errno = error;
}

// Announces the process, so that it is reported even if it is killed.
void begin_work() {
    if (begun.exchange(true) || process == 0 || is_first() || *settings.spool == '\0') return;
    char path[PATH_MAX], line[PATH_MAX + 64];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    if (length <= 0 || std::strpbrk(path, "%\t\n") != nullptr) return;   // it would have to be escaped: not announced
    const int error = errno,
              size = std::snprintf(line, sizeof line, "begun\t%s\t%ld\t\n", path, static_cast<long>(process));
    announce(settings.spool, line, static_cast<std::size_t>(size));
    errno = error;
}

// The child of a fork has counted and reported nothing yet.
void begin_anew() {
    process = getpid();
    forked = true;
    told.store(false);
    begun.store(false);
    forget_threads();
}

void share_with(Shared* to) { *to = {begin_work, &unloads}; }

void read(char (&to)[PATH_MAX], const char* variable) {
    const char* const said = std::getenv(variable);
    if (said != nullptr && std::strlen(said) < sizeof to) std::strcpy(to, said);
}

[[gnu::constructor]] void begin() {
    process = getpid();
    read(settings.where, "WEFT_REPORT");
    if (std::strcmp(settings.where, "off") == 0) *settings.where = '\0';
    read(settings.spool, "WEFT_REPORT_SPOOL");
    const char *const format = std::getenv("WEFT_REPORT_FORMAT"), *const first = std::getenv("WEFT_REPORT_OF");
    settings.json = format != nullptr && std::strcmp(format, "json") == 0;
    settings.first = first == nullptr ? 0 : static_cast<pid_t>(std::strtol(first, nullptr, 10));
    pthread_atfork(nullptr, nullptr, begin_anew);
    share_with(&shared);
    // Looked up now, because a process may end where dlsym must not be called.
    regions = reinterpret_cast<EachRegions>(dlsym(RTLD_DEFAULT, each_regions));
    next_exit = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_exit"));
    at_quick_exit(end);
    if (*settings.spool != '\0' && is_first()) hold_spool(settings.spool);
    if (std::strcmp(settings.where, "stderr") != 0) return;
    kept = out_of_the_way(STDERR_FILENO);
    if (kept >= 0 && fstat(kept, &kept_is) != 0) kept = -1;
}

[[gnu::destructor]] void end_of_process() { end(); }

[[noreturn]] void leave(int status) {
    end();
    if (next_exit != nullptr) next_exit(status);
    for (;;) syscall(SYS_exit_group, status);
}

}   // namespace

}   // namespace weft_report

// dash ends by these calls, and so do the children of Python's multiprocessing.
extern "C" [[gnu::visibility("default")]] void _exit(int status) { weft_report::leave(status); }
extern "C" [[gnu::visibility("default")]] void _Exit(int status) noexcept { weft_report::leave(status); }

extern "C" [[gnu::visibility("default")]] void weft_report_share(weft_report::Shared* to) {
    weft_report::share_with(to);
}

extern "C" [[gnu::visibility("default")]] int dlclose(void* handle) noexcept {
    static const auto next = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
    const int status = next(handle);
    // relaxed: a thread that then loads a library there and calls it is this thread, or has
    // synchronized with it
    weft_report::unloads.fetch_add(1, std::memory_order_relaxed);
    return status;
}
