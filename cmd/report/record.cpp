// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "record.hpp"

#include <algorithm>

namespace weft_report {

namespace {

// Tabs separate fields; a line "end" ends a record.
void add_field(String& lines, std::string_view text) {
    for (const char byte : text) {
        switch (byte) {
        case '\t': lines += "%09"; break;
        case '\n': lines += "%0a"; break;
        case '%': lines += "%25"; break;
        default: lines += byte;
        }
    }
    lines += '\t';
}
void add_field(String& lines, std::uint64_t value) { add_field(lines, std::string_view(decimal(value))); }

// The text before the next separator; removes both from `rest`.
std::string_view next_part(std::string_view& rest, char separator) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
}

String text_field(std::string_view& line) {
    std::string_view field = next_part(line, '\t');
    String text;
    while (!field.empty()) {
        const std::string_view code = field.substr(0, 3);
        const char byte = code == "%09" ? '\t' : code == "%0a" ? '\n' : code == "%25" ? '%' : '\0';
        text += byte != '\0' ? byte : field[0];
        field.remove_prefix(byte != '\0' ? 3 : 1);
    }
    return text;
}

std::uint64_t number_field(std::string_view& line) {
    std::uint64_t value = 0;
    for (const char digit : next_part(line, '\t')) value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    return value;
}

Library library_of(std::string_view line) {
    Library library;
    library.verdict = static_cast<Verdict>(number_field(line));
    library.kind = static_cast<Kind>(number_field(line));
    library.counted = number_field(line) != 0;
    library.regions = number_field(line);
    library.threads = number_field(line);
    library.thread_local_data = number_field(line) != 0;
    library.workers = number_field(line);
    library.path = text_field(line);
    library.by = text_field(line);
    library.why = text_field(line);
    return library;
}

Program program_of(std::string_view line) {
    Program program;
    program.path = text_field(line);
    program.process = number_field(line);
    program.unreached = text_field(line);
    program.native_openmp = number_field(line) != 0;
    program.admits = number_field(line) != 0;
    for (std::uint64_t& value : program.values) value = number_field(line);
    return program;
}

void merge(List<Library>& libraries, const Library& library) {
    for (Library& one : libraries) {
        if (one.verdict != library.verdict || one.kind != library.kind || one.path != library.path ||
            one.by != library.by || one.why != library.why)
            continue;
        one.counted = one.counted && library.counted;
        one.regions += library.regions;
        one.threads += library.threads;
        one.workers += library.workers;
        one.thread_local_data = one.thread_local_data || library.thread_local_data;
        return;
    }
    libraries.push_back(library);
}

}   // namespace

String to_lines(const Program& program) {
    String lines = "program\t";
    add_field(lines, program.path);
    add_field(lines, program.process);
    add_field(lines, program.unreached);
    add_field(lines, program.native_openmp);
    add_field(lines, program.admits);
    for (const std::uint64_t value : program.values) add_field(lines, value);
    lines += '\n';
    for (const Library& library : program.libraries) {
        lines += "library\t";
        add_field(lines, static_cast<std::uint64_t>(library.verdict));
        add_field(lines, static_cast<std::uint64_t>(library.kind));
        add_field(lines, library.counted);
        add_field(lines, library.regions);
        add_field(lines, library.threads);
        add_field(lines, library.thread_local_data);
        add_field(lines, library.workers);
        add_field(lines, library.path);
        add_field(lines, library.by);
        add_field(lines, library.why);
        lines += '\n';
    }
    return lines + "end\n";
}

String to_lines(const Silent& begun) {
    String line = "begun\t";
    add_field(line, begun.path);
    add_field(line, begun.process);
    return line + "\n";
}

void Report::add(std::string_view lines) {
    Program read;
    while (!lines.empty()) {
        std::string_view line = next_part(lines, '\n');
        if (line == "end") {
            add(read);
            continue;
        }
        const std::string_view what = next_part(line, '\t');
        if (what == "library") read.libraries.push_back(library_of(line));
        if (what == "program") read = program_of(line);
        if (what == "begun") {
            Silent& begun = silent.emplace_back();
            begun.path = text_field(line);
            begun.process = number_field(line);
        }
    }
}

void Report::add(const Program& process) {
    silent.erase(
        std::remove_if(silent.begin(), silent.end(), [&](const Silent& one) { return one.process == process.process; }),
        silent.end());
    for (Program& one : programs) {
        if (one.path != process.path || one.unreached != process.unreached ||
            one.native_openmp != process.native_openmp || one.admits != process.admits)
            continue;
        one.processes += process.processes;
        for (std::size_t i = 0; i < counter_count; ++i) {
            one.values[i] =
                counters[i].is_sum ? one.values[i] + process.values[i] : std::max(one.values[i], process.values[i]);
        }
        for (const Library& library : process.libraries) merge(one.libraries, library);
        return;
    }
    programs.push_back(process);
}

}   // namespace weft_report
