// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report for people. Libraries of one folder with the same findings share a line.
#include <algorithm>

#include "record.hpp"

namespace weft_report {

namespace {

constexpr std::size_t fold_from = 4;   // so many libraries of a folder share a line; fewer are named

const char* name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::taken_over: return "taken over";
    case Verdict::limited: return "limited";
    case Verdict::left_alone: return "left alone";
    }
    return "";
}

String number_of(std::uint64_t count, const char* what, const char* plural = "s") {
    return decimal(count) + " " + what + (count == 1 ? "" : plural);
}

// The folder of a Python package, whose libraries lie in folders of their own below it; for other
// files the file's folder.
std::string_view folder_of(std::string_view path) {
    for (const std::string_view below : {"/site-packages/", "/dist-packages/"}) {
        const std::size_t at = path.find(below);
        if (at == std::string_view::npos) continue;
        const std::size_t end = path.find('/', at + below.size());
        if (end != std::string_view::npos) return path.substr(0, end);
    }
    return path.substr(0, path.rfind('/'));
}

bool is_package(std::string_view folder) {
    return folder.find("/site-packages/") != std::string_view::npos ||
           folder.find("/dist-packages/") != std::string_view::npos;
}

// One or several libraries with the same findings.
struct Group {
    const Library* first;
    std::string_view folder;
    std::size_t libraries = 0, with_regions = 0;
    bool counted = true;
    std::uint64_t regions = 0, threads = 0, workers = 0;

    bool is_folded() const { return libraries >= fold_from || (libraries > 1 && is_package(folder)); }
    void add(const Library& library) {
        ++libraries;
        with_regions += library.regions != 0;
        counted = counted && library.counted;
        regions += library.regions;
        threads += library.threads;
        workers += library.workers;
    }
    bool is_like(const Library& library) const {
        return first->verdict == library.verdict && first->kind == library.kind && first->by == library.by &&
               first->why == library.why && folder == folder_of(library.path) &&
               weft_command::pool_in(first->path.c_str()) == weft_command::pool_in(library.path.c_str());
    }
};

String own_threads_of(const Group& group) {
    return group.threads == 0 ? String("started no threads") : number_of(group.threads, "thread") + " of its own";
}

String threads_of(const Group& group, const Program& program) {
    const bool admitted = program.admits && group.threads != 0;
    return own_threads_of(group) + (admitted ? ", each admitted as a guest (--guests=admit)" : "");
}

String openmp_of(const Group& group, const Program& program) {
    if (group.first->verdict == Verdict::limited) return weft_command::guarded_openblas;
    if (!group.first->by.empty())
        return "its OpenMP is " + group.first->by +
               (program.native_openmp ? ": --openmp=native" : ", by RTLD_DEEPBIND or a handle of dlopen");
    if (!group.counted) return String(name_of(Kind::openmp)) + ", on Weft; its regions are in the sum below";
    String text = String(name_of(Kind::openmp)) + ": ";
    text += group.regions == 0 ? String("began no region") : number_of(group.regions, "region") + " on Weft";
    if (group.is_folded() && group.regions != 0 && group.with_regions < group.libraries)
        text += ", begun by " + decimal(group.with_regions) + " of them";
    return text;
}

String tbb_of(const Group& group, const Program& program) {
    const Library& library = *group.first;
    const String name = String(name_of(Kind::tbb)) + ": ";
    if (!library.by.empty()) return name + "its workers are those of " + library.by;
    if (library.verdict != Verdict::taken_over)
        return name + threads_of(group, program) + (library.why.empty() ? "" : ": " + library.why);
    if (!group.counted) return name + "its workers are Weft's, and in the sum below";
    return name +
           (group.workers == 0 ? String("has needed no worker") : number_of(group.workers, "worker") + " on Weft");
}

String openblas_of(const Group& group, const Program& program) {
    const Library& library = *group.first;
    const String name = String(name_of(Kind::openblas)) + ": ";
    if (library.verdict == Verdict::taken_over) return name + weft_command::openblas_jobs;
    if (library.verdict == Verdict::limited && group.threads == 0) return weft_command::guarded_openblas;
    if (library.why == weft_command::openblas_follows) return name + library.why + "; " + own_threads_of(group);
    // Where Weft knows an OpenBLAS, its threads are no guests.
    const String threads = library.verdict == Verdict::limited ? threads_of(group, program) : own_threads_of(group);
    return name + threads + (library.why.empty() ? "" : ": " + library.why);
}

String threads_in(const Group& group, const Program& program) {
    const char* const pool = weft_command::pool_in(group.first->path.c_str());
    return (pool == nullptr ? String() : String(pool) + ": ") + threads_of(group, program);
}

String what_of(const Group& group, const Program& program) {
    const Library& library = *group.first;
    const String name = name_of(library.kind);
    switch (library.kind) {
    case Kind::openmp: return openmp_of(group, program);
    case Kind::openmp_queries: return name + ", which Weft answers; began no region";
    case Kind::libgomp:
        return library.verdict == Verdict::taken_over ? name + ", whose callers run on Weft"
                                                      : "libgomp: " + threads_of(group, program);
    case Kind::llvm_client:
        return name + (library.by.empty() ? String(", which Weft does not serve") : ", which runs on " + library.by);
    case Kind::openblas: return openblas_of(group, program);
    case Kind::tbb: return tbb_of(group, program);
    case Kind::threads: return threads_in(group, program);
    default: return name + ": " + threads_of(group, program);
    }
}

List<Group> fold(const List<Library>& libraries) {
    List<Group> groups;
    for (const Library& library : libraries) {
        auto found =
            std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.is_like(library); });
        if (found == groups.end()) found = groups.insert(groups.end(), Group{&library, folder_of(library.path)});
        found->add(library);
    }
    return groups;
}

void add_line(String& lines, const Group& group, std::string_view name, const Program& program) {
    lines += String("  ") + name_of(group.first->verdict) + ": ";
    lines.append(name);
    lines += ": " + what_of(group, program) + "\n";
}

void add_libraries(String& lines, const Program& program) {
    const List<Group> groups = fold(program.libraries);
    for (const Verdict verdict : {Verdict::taken_over, Verdict::limited, Verdict::left_alone}) {
        for (const Group& group : groups) {
            if (group.first->verdict != verdict) continue;
            if (group.is_folded()) {
                add_line(lines, group, String(group.folder) + ": " + decimal(group.libraries) + " libraries", program);
                continue;
            }
            for (const Library& library : program.libraries) {
                if (!group.is_like(library)) continue;
                Group alone{&library, group.folder};
                alone.add(library);
                add_line(lines, alone, library.path, program);
            }
        }
    }
}

// Warns about a program whose native units have begun regions, in libraries that define
// thread_local or threadprivate variables. Whether a region uses them is not visible.
void add_thread_local_data(String& lines, const Program& program) {
    if (program.values[regions_of_units] == 0) return;
    for (const Library& library : program.libraries) {
        if (!library.thread_local_data || library.kind != Kind::openmp || library.verdict != Verdict::taken_over ||
            library.regions == 0)
            continue;
        lines += "  thread_local and threadprivate variables of " + library.path +
                 ": a region that a native unit begins sees those of the OS thread that carries the unit; "
                 "a hosted unit has its own\n";
    }
}

// Writes one line for each program that has such processes.
void add_silent(String& lines, const List<Silent>& silent) {
    for (const Silent& one : silent) {
        const auto alike = [&](const Silent& other) { return other.path == one.path; };
        if (&*std::find_if(silent.begin(), silent.end(), alike) != &one) continue;   // reported with the first one
        const auto count = static_cast<std::uint64_t>(std::count_if(silent.begin(), silent.end(), alike));
        lines += "weft run report: " + one.path + ": no report from " + number_of(count, "more process", "es") +
                 " that used OpenMP or threads (killed by a signal, or still running)\n";
    }
}

}   // namespace

String to_text(const Report& report) {
    String lines;
    for (const Program& program : report.programs) {
        lines += "weft run report: " + program.path + " (" +
                 (program.processes == 1 ? "process " : decimal(program.processes) + " processes, the first of them ") +
                 decimal(program.process) + ")\n";
        if (!program.unreached.empty()) {
            lines += "  left alone: the program: " + program.unreached + "\n";
            continue;
        }
        add_libraries(lines, program);
        if (program.libraries.empty()) lines += "  no OpenMP and no threads were found\n";
        for (std::size_t i = 0; i < counter_count; ++i) {
            if (!counters[i].is_rare || program.values[i] != 0)
                lines += String("  ") + counters[i].name + ": " + decimal(program.values[i]) + "\n";
        }
        add_thread_local_data(lines, program);
    }
    add_silent(lines, report.silent);
    return lines;
}

}   // namespace weft_report
