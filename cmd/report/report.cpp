// Preloaded by `weft run --report`: at exit says what was taken over, what was limited, what was left alone and why, with counters.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/hart.h>
#include <weft/trace.h>

#include "objects.hpp"

namespace weft_report {

namespace {

constinit std::atomic<std::uint64_t> peak{1};   // OS threads at once
pid_t process = 0;                              // which has loaded us: the child of a fork reports nothing
int kept = -1;                                  // standard error as it was, since programs close it before they end
struct stat kept_is;

// Each OS thread is a folder of /proc/self/task. Only starting one can make more of them, so nothing else needs to be watched.
void note_threads() {
    struct stat status;
    if (stat("/proc/self/task", &status) != 0 || status.st_nlink < 3) return;
    const std::uint64_t now = status.st_nlink - 2;
    std::uint64_t before = peak.load(std::memory_order_relaxed);                                          // relaxed, both: a statistic
    while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {}
}

std::uint64_t counter(const char* name) {
    std::uint64_t value = 0;
    return weft_counter_read(name, &value) == WEFT_OK ? value : 0;
}

const char* name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::taken_over: return "taken over";
    case Verdict::limited: return "limited";
    case Verdict::left_alone: return "left alone";
    }
    return "";
}

std::string program() {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "a program";
}

std::string text() {
    auto findings = look_at_objects();
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& one, const Finding& other) { return one.verdict < other.verdict; });
    const char* const first = std::getenv("WEFT_REPORT_OF");
    if (findings.empty() && (first == nullptr || std::to_string(getpid()) != first)) return {};   // one of the many that a script starts
    std::string lines = "weft run report: " + program() + " (process " + std::to_string(getpid()) + ")\n";
    for (const Finding& finding : findings) lines += std::string("  ") + name_of(finding.verdict) + ": " + finding.object + ": " + finding.what + "\n";
    if (findings.empty()) lines += "  nothing here that Weft knows of\n";
    const auto add = [&lines](const char* what, std::uint64_t value) { lines += std::string("  ") + what + ": " + std::to_string(value) + "\n"; };
    add("regions", counter("/openmp/count/regions"));
    add("tasks", counter("/openmp/count/tasks"));
    add("contexts", counter("/openmp/count/members"));
    add("switches", counter("/units/count/run"));
    add("harts at most", weft_hart_limit());
    add("harts lent", counter("/harts/count/lent"));
    add("harts rescued", counter("/rescue/count/emergencies"));
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    add("voluntary kernel switches", static_cast<std::uint64_t>(used.ru_nvcsw));
    add("involuntary kernel switches", static_cast<std::uint64_t>(used.ru_nivcsw));
    note_threads();
    add("peak OS threads", peak.load(std::memory_order_relaxed));   // relaxed: a statistic
    return lines;
}

void write_all(int file, const std::string& lines) {
    for (std::size_t done = 0; done < lines.size();) {
        const ssize_t written = write(file, lines.data() + done, lines.size() - done);
        if (written < 0 && errno != EINTR) return;   // nobody is left to be told
        if (written > 0) done += static_cast<std::size_t>(written);
    }
}

[[gnu::constructor]] void begin() {
    process = getpid();
    const char* const where = std::getenv("WEFT_REPORT");
    if (where == nullptr || std::strcmp(where, "stderr") != 0) return;
    // High up, so that the program's descriptors have the numbers that they would have.
    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 900);
    if (kept >= 0 && fstat(kept, &kept_is) != 0) kept = -1;
}

[[gnu::destructor]] void end() {
    const char* const where = std::getenv("WEFT_REPORT");
    if (where == nullptr || *where == '\0' || getpid() != process) return;
    const int error = errno;
    const std::string lines = text();
    if (lines.empty()) return;
    if (std::strcmp(where, "stderr") == 0) {
        // The program may have closed ours, and opened something else by its number.
        struct stat now;
        const bool same = kept >= 0 && fstat(kept, &now) == 0 && now.st_dev == kept_is.st_dev && now.st_ino == kept_is.st_ino;
        write_all(same ? kept : STDERR_FILENO, lines);
    } else if (const int file = open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666); file >= 0) {
        write_all(file, lines);   // at once, for others append as well
        close(file);
    }
    errno = error;
}

}  // namespace

}  // namespace weft_report

// Of whoever asks, Weft included.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto next = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    const int status = next(thread, attributes, body, argument);
    if (status == 0) weft_report::note_threads();
    return status;
}
