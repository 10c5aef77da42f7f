// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "checked.hpp"
#include "help.hpp"
#include "limits.hpp"
#include "paths.hpp"
#include "preload.hpp"
#include "preview.hpp"
#include "program.hpp"
#include "report/record.hpp"
#include "report/spool.hpp"
#include "variant.hpp"

namespace weft_command {

namespace {

constexpr int own_failure = 125, not_executable = 126, not_found = 127;   // as in env(1), timeout(1) and shells

[[gnu::format(printf, 1, 2)]] int refuse(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::fputs("weft run: ", stderr);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
    va_end(arguments);
    return own_failure;
}

struct Options {
    const char* harts = nullptr;
    bool report = false;
    bool json = false;
    const char* report_file = nullptr;
    bool no_rescue = false;
    bool native_openmp = false;
    bool native_tbb = false;
    bool native_blas = false;
    const char* guests = nullptr;
    const char* trace = nullptr;
    bool preview = false;
    bool help = false;
    char** program = nullptr;
};

// Accepts "--name VALUE" and "--name=VALUE". False: it is another option.
bool value_of(const char* name, char**& at, const char*& value) {
    const std::size_t length = std::strlen(name);
    if (std::strncmp(*at, name, length) != 0) return false;
    if ((*at)[length] == '=') {
        value = *at + length + 1;
        return true;
    }
    if ((*at)[length] != '\0') return false;
    value = at[1] == nullptr ? "" : *++at;
    return true;
}

bool one_of(const char* text, const char* first, const char* second) {
    return std::strcmp(text, first) == 0 || std::strcmp(text, second) == 0;
}

// Returns 0, or the exit status after a message on standard error.
int read_options(char** arguments, Options& options) {
    char** at = arguments;
    for (; *at != nullptr && **at == '-'; ++at) {
        const char* value = nullptr;
        if (std::strcmp(*at, "--") == 0) {
            ++at;
            break;
        }
        if (std::strcmp(*at, "--report") == 0) {
            options.report = true;   // the file can only be given with '=': the next argument may be the program
            options.report_file = nullptr;
            options.json = false;
        } else if (std::strncmp(*at, "--report=", 9) == 0) {
            options.report = true;
            options.report_file = *at + 9;
            options.json = std::strcmp(*at, "--report=json") == 0 || std::strncmp(*at, "--report=json:", 14) == 0;
            if (options.json) options.report_file = (*at)[13] == '\0' ? nullptr : *at + 14;
            if (options.report_file != nullptr && *options.report_file == '\0') return refuse("%s names no file", *at);
        } else if (std::strcmp(*at, "--no-rescue") == 0) {
            options.no_rescue = true;
        } else if (std::strcmp(*at, "--preview") == 0) {
            options.preview = true;
        } else if (one_of(*at, "--help", "-h")) {
            options.help = true;
            return 0;
        } else if (value_of("--harts", at, value)) {
            // The library checks the value, too, but reports an error in a process that is already
            // the program's.
            char* end;
            const long number = std::strtol(value, &end, 10);
            if (*value < '0' || *value > '9' || *end != '\0' || number > 1024) {
                return refuse("--harts is '%s'; legal are: a number from 0 to 1024", value);
            }
            options.harts = value;
        } else if (value_of("--openmp", at, value)) {
            if (!one_of(value, "weft", "native")) return refuse("--openmp is '%s'; legal are: weft, native", value);
            options.native_openmp = std::strcmp(value, "native") == 0;
        } else if (value_of("--tbb", at, value)) {
            if (!one_of(value, "weft", "native")) return refuse("--tbb is '%s'; legal are: weft, native", value);
            options.native_tbb = std::strcmp(value, "native") == 0;
        } else if (value_of("--blas", at, value)) {
            if (!one_of(value, "weft", "native")) return refuse("--blas is '%s'; legal are: weft, native", value);
            options.native_blas = std::strcmp(value, "native") == 0;
        } else if (value_of("--guests", at, value)) {
            if (!one_of(value, "admit", "leave")) return refuse("--guests is '%s'; legal are: admit, leave", value);
            options.guests = value;
        } else if (value_of("--trace", at, value)) {
            if (*value == '\0') return refuse("--trace names no file");
            options.trace = value;
        } else {
            return refuse("there is no option '%s'; `weft run --help` lists them", *at);
        }
    }
    if (*at == nullptr) return refuse("no program is named; `weft run --help` says how");
    options.program = at;
    return 0;
}

// ---- the environment ----------------------------------------------------------------------------

// Adds "name=value" to GLIBC_TUNABLES, unless the user has set `name` there.
void set_tunable(const std::string& name, const std::string& value) {
    const std::string had = text_of("GLIBC_TUNABLES");
    if ((":" + had).find(":" + name + "=") != std::string::npos) return;
    setenv("GLIBC_TUNABLES", ((had.empty() ? "" : had + ":") + name + "=" + value).c_str(), 1);
}

void set_tunables(const AddressSpace& addresses) {
    // the kernel's rseq area belongs to an OS thread, and hosted units change OS threads
    set_tunable("glibc.pthread.rseq", "0");
    const std::size_t arenas = addresses.most_arenas();
    if (arenas != 0 && std::getenv("MALLOC_ARENA_MAX") == nullptr)
        set_tunable("glibc.malloc.arena_max", std::to_string(arenas));
}

// Whether the program can run on Weft. If it cannot, a message says why.
bool fits(const AddressSpace& addresses) {
    if (!addresses.too_small()) return true;
    std::fprintf(
        stderr,
        "weft run: the address space is limited to %zu KiB (ulimit -v), and Weft needs a limit of at least %zu: "
        "the program runs without Weft; raise the limit to have it run on Weft\n",
        addresses.limit_KiB, AddressSpace::least_KiB);
    return false;
}

// AddressSanitizer's library refuses to start if other libraries come before it in LD_PRELOAD. No
// order suits all programs that may be started, and Weft's libraries hide nothing that it checks
// for, so this disables the check. libweft_pthread does so, too, for programs that are started with
// an ASAN_OPTIONS of their own.
void set_sanitizer_options() {
    const std::string had = text_of("ASAN_OPTIONS");
    if (had.find("verify_asan_link_order") != std::string::npos) return;   // the user has set it
    setenv("ASAN_OPTIONS", ((had.empty() ? "" : had + ":") + "verify_asan_link_order=0").c_str(), 1);
}

// Whether the variable asks for a report.
bool is_asked(const char* report) { return report != nullptr && *report != '\0' && std::strcmp(report, "off") != 0; }

// Checks a file that is written at the program's end, when it would be too late to learn that it
// cannot be written. `variable` is the variable that names the file, or the option that has set it.
bool can_write(const char* what, const std::string& path, const char* variable) {
    const int error = cannot_be_written(path);
    if (error != 0)
        refuse("the %s cannot be written to '%s': %s; name another file (%s)", what, path.c_str(), std::strerror(error),
               variable);
    return error == 0;
}

// Reports the lines, each of which begins with the name of a variable that is probably misspelt. A
// name that an outer run, or a program in it, has reported is not reported again; nor do the
// programs of this run report the names again.
void tell_once(const std::string& lines) {
    std::string told = text_of("WEFT_TOLD_OF");
    split(lines, "\n", [&](const std::string& line) {
        const std::string name = line.substr(0, line.find(' '));
        if ((":" + told + ":").find(":" + name + ":") != std::string::npos) return;
        refuse("%s", line.c_str());
        join(told, name);
    });
    if (!told.empty()) setenv("WEFT_TOLD_OF", told.c_str(), 1);
}

// Checks what the libraries would find wrong only in the program's process, after the program has
// begun.
bool environment_is_right(const Options& options, const Pieces& pieces, bool check_values) {
    const char* const trace = std::getenv("WEFT_TRACE");
    if (trace != nullptr && std::strcmp(trace, "off") != 0 &&
        !can_write("trace", trace, options.trace != nullptr ? "--trace" : "WEFT_TRACE"))
        return false;
    const char* const report = std::getenv("WEFT_REPORT");
    const bool to_file = is_asked(report) && std::strcmp(report, "stderr") != 0;
    if (to_file && !can_write("report", report, options.report_file != nullptr ? "--report" : "WEFT_REPORT"))
        return false;
    const char* const counters = std::getenv("WEFT_COUNTERS");
    if (counters != nullptr && (*counters == '/' || *counters == '.') &&
        !can_write("counters", counters, "WEFT_COUNTERS"))
        return false;
    if (!check_values) return true;
    const Checked checked = check_environment(pieces);
    if (checked.missing()) {
        refuse("'%s' cannot be run: %s; it belongs to what was installed with this command", pieces.info.c_str(),
               std::strerror(checked.error));
        return false;
    }
    if (checked.legal) {
        tell_once(checked.lines);
    } else {
        split(checked.lines, "\n", [](const std::string& line) { refuse("%s", line.c_str()); });
    }
    return checked.legal;
}

// Sets where the report goes.
void name_report(Options& options) {
    const char* const outer = std::getenv("WEFT_REPORT");
    if (!options.report) {
        options.report = is_asked(outer);   // an outer `weft run` has asked for it, and continues as this one
        return;
    }
    setenv("WEFT_REPORT", options.report_file == nullptr ? "stderr" : absolute(options.report_file).c_str(), 1);
    setenv("WEFT_REPORT_FORMAT", options.json ? "json" : "text", 1);
    unsetenv("WEFT_REPORT_SPOOL");
    // this process reports in any case, others only if they have something to report
    setenv("WEFT_REPORT_OF", std::to_string(getpid()).c_str(), 1);
}

// Empties the file: each process appends to it. Called when no other error was found, so that a
// refused run does not lose an earlier report. False: the file cannot be written.
bool begin_report(const Options& options) {
    if (options.report_file == nullptr) return true;
    const int file = open(text_of("WEFT_REPORT").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        refuse("the report cannot be written to '%s': %s", options.report_file, std::strerror(errno));
        return false;
    }
    close(file);
    return true;
}

void report(const std::string& line) {
    const std::string where = text_of("WEFT_REPORT");
    const int file = where == "stderr" ? STDERR_FILENO : open(where.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return;   // an outer command has begun the file, and the program may have removed it
    const ssize_t written = write(file, line.data(), line.size());
    static_cast<void>(written);   // a failure cannot be reported anywhere
    if (file != STDERR_FILENO) close(file);
}

// Reports on a program that Weft will not be loaded into, before it runs.
void report_unreached(const Program& program) {
    weft_report::Program told;
    told.path = program.path;
    told.process = static_cast<std::uint64_t>(getpid());
    told.unreached = program.why;
    if (program.reach == Reach::children) told.unreached += "; programs that it starts are reached";
    weft_report::Report all;
    all.add(told);
    report(std::string(text_of("WEFT_REPORT_FORMAT") == "json" ? to_json(all) : to_text(all)));
}

// Makes the spool, where the children of the process hand their reports in, so that the process
// reports on all of them. Without a spool each process reports on itself. Returns the file that was
// made; empty: none.
std::string begin_spool() {
    // otherwise the report is an outer run's
    if (text_of("WEFT_REPORT_OF") != std::to_string(getpid()) || std::getenv("WEFT_REPORT_SPOOL") != nullptr) return {};
    std::string path(weft_report::make_spool());
    if (!path.empty()) setenv("WEFT_REPORT_SPOOL", path.c_str(), 1);
    return path;
}

int cannot_run(const char* name, const Program& program, int error) {
    if (program.error == 0 && error == ENOENT) {
        std::fprintf(stderr, "weft run: %s: its interpreter is not there: %s\n", name, std::strerror(error));
        return not_executable;
    }
    std::fprintf(stderr, "weft run: %s: %s\n", name, std::strerror(error));
    return error == ENOENT || error == ENOTDIR ? not_found : not_executable;
}

Preloaded preloaded(const Options& options) {
    return {!options.native_openmp, !options.native_tbb, !options.native_blas, options.report && !options.preview};
}

// The variables that make the bridges follow the load, where the user has not set them. An OpenBLAS
// over OpenMP changes its number of threads with omp_get_max_threads, which is safe behind its
// guard, and so not with --blas=native: what an outer run has set is removed then.
void follow_the_load(const Options& options) {
    constexpr const char *openmp = "WEFT_OMP_MAX_THREADS", *blas = "WEFT_BLAS_THREADS";
    if (!options.native_blas) {
        if (!options.native_openmp) setenv(openmp, "follow", 0);
        setenv(blas, "follow", 0);
    } else if (text_of("LD_PRELOAD").find("/libweft_openblas.so") != std::string::npos) {
        for (const char* const name : {openmp, blas}) {
            if (text_of(name) == "follow") unsetenv(name);
        }
    }
}

int show_preview(const Options& options, const Program& program, const char* why, const Pieces& pieces,
                 const Pieces& release) {
    follow_the_load(options);
    if (program.reach == Reach::full) {
        const std::string trouble = preload(preloaded(options), pieces, release);
        if (!trouble.empty()) return refuse("%s", trouble.c_str());
    }
    const std::string guests = options.guests != nullptr ? options.guests : text_of("WEFT_GUESTS");
    const PreviewOptions how{options.native_openmp, options.native_tbb, options.native_blas, guests == "admit", why};
    std::fputs(preview(program, pieces, how).c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : own_failure;
}

}   // namespace

int run(char** arguments) {
    Options options;
    if (const int status = read_options(arguments, options); status != 0) return status;
    if (options.help) {
        std::fputs(run_help, stdout);
        return std::fflush(stdout) == 0 ? 0 : own_failure;
    }
    const Program program = look_at(options.program[0]);
    if (program.error != 0) return cannot_run(options.program[0], program, program.error);
    const Pieces pieces = find_pieces();
    if (!pieces.missing.empty())
        return refuse("'%s' is not there; it belongs to what was installed with this command", pieces.missing.c_str());
    if (!checked_is_legal())
        return refuse("WEFT_CHECKED is '%s'; legal are: %s", text_of("WEFT_CHECKED").c_str(), checked_words);
    const Variant variant = variant_for(program);
    Pieces chosen = pieces;
    const bool is_variant = variant.name != nullptr && find_variant(variant.name, chosen);
    if (variant.asked && !is_variant) {
        return refuse(
            "'%s/libweft_%s.so." WEFT_SOVERSION
            "' is not there, and %s; build Weft with -DWEFT_VARIANTS=%s and install it, or unset WEFT_CHECKED",
            pieces.root.c_str(), variant.name, variant.why, variant.name);
    }
    if (options.preview) return show_preview(options, program, is_variant ? variant.why : nullptr, chosen, pieces);
    name_report(options);
    const bool check_values = environment_needs_check();   // before options are exported: these are checked already
    if (options.harts != nullptr) setenv("WEFT_HARTS", options.harts, 1);
    if (options.no_rescue) setenv("WEFT_RESCUE", "off", 1);
    follow_the_load(options);
    if (options.guests != nullptr) setenv("WEFT_GUESTS", options.guests, 1);
    if (options.trace != nullptr) setenv("WEFT_TRACE", absolute(options.trace).c_str(), 1);
    if (!environment_is_right(options, pieces, check_values) || !begin_report(options)) return own_failure;
    // a `weft run` within this one does not count as a program of its own
    const bool unreached = program.reach != Reach::full && !same_file(program.path, "/proc/self/exe");
    if (options.report && unreached) report_unreached(program);
    std::string spool;
    const AddressSpace addresses = address_space();
    if (program.reach != Reach::none && fits(addresses)) {
        const bool alone = is_variant && variant.of_program;
        const Preloaded wanted = preloaded(options);
        const std::string trouble =
            alone ? preload_for_program_alone(wanted, chosen, pieces) : preload(wanted, chosen, pieces);
        if (!trouble.empty()) return refuse("%s", trouble.c_str());
        set_tunables(addresses);
        set_sanitizer_options();
        if (options.report && !unreached) spool = begin_spool();   // the preloaded report removes it
    }
    // execvp would pass a file that the kernel cannot execute to a shell, even a program for
    // another processor.
    if (program.elf) execv(program.path.c_str(), options.program);
    else execvp(options.program[0], options.program);
    const int error = errno;
    if (!spool.empty()) unlink(spool.c_str());
    return cannot_run(options.program[0], program, error);
}

}   // namespace weft_command
