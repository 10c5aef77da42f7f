// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of steps: a line a step, a column a hart. Consecutive steps of one hart at one place
// are one line.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <vector>

#include "sim/run.hpp"

namespace weft::sim {
namespace {

constexpr int width = 30;   // of a column

// The line of the source, where the source is available.
std::string source_line(const char* file, std::uint32_t line) {
    static std::map<std::string, std::vector<std::string>> files;
    auto [at, is_new] = files.try_emplace(file);
    if (is_new) {
        std::ifstream source(file);
        for (std::string text; std::getline(source, text);) at->second.push_back(text);
    }
    if (line == 0 || line > at->second.size()) return {};
    std::string text = at->second[line - 1];
    text.erase(0, text.find_first_not_of(" \t") == std::string::npos ? 0 : text.find_first_not_of(" \t"));
    const std::size_t comment = text.find("   //");
    if (comment != std::string::npos) text.erase(comment);
    return text;
}

// One or more consecutive steps of one hart at one place.
struct Line {
    Traced step;
    std::uint64_t times = 1;
};

std::vector<Line> lines_of(const Record& record) {
    std::vector<Line> lines;
    const std::uint64_t count = record.traced_count;
    const std::uint64_t first = count > Record::most_traced ? count - Record::most_traced : 0;
    for (std::uint64_t i = first; i < count; ++i) {
        const Traced& step = record.traced[i % Record::most_traced];
        if (!lines.empty() && step.left_out == 0) {
            const Traced& last = lines.back().step;
            if (last.hart == step.hart && last.what == step.what && last.line == step.line && last.file == step.file) {
                ++lines.back().times;
                continue;
            }
        }
        lines.push_back({step});
    }
    return lines;
}

std::string left_out_text(std::uint64_t steps) {
    if (steps == 0) return {};
    return "      \u2026  " + std::to_string(steps) + (steps == 1 ? " step" : " steps") + " within Weft\n";
}

}   // namespace

std::string table_of(const Record& record, std::size_t most) {
    const std::vector<Line> lines = lines_of(record);
    const std::size_t first = lines.size() > most ? lines.size() - most : 0;
    std::map<std::uint16_t, int> columns;
    for (std::size_t i = first; i < lines.size(); ++i) columns[lines[i].step.hart] = 0;
    int column = 0;
    for (auto& [hart, at] : columns) at = column++;

    std::string text = "   step";
    char cell[512];
    for (const auto& [hart, at] : columns) {
        std::snprintf(cell, sizeof cell, "  %-*s", width, ("hart " + std::to_string(hart)).c_str());
        text += cell;
    }
    text += '\n';
    if (first > 0) text += "  (" + std::to_string(first) + " lines before these)\n";
    for (std::size_t i = first; i < lines.size(); ++i) {
        const Traced& step = lines[i].step;
        text += left_out_text(step.left_out);
        std::snprintf(cell, sizeof cell, "%7llu", static_cast<unsigned long long>(step.total));
        text += cell;
        text.append(static_cast<std::size_t>(columns[step.hart] * (width + 2)), ' ');
        const char* const slash = std::strrchr(step.file, '/');
        std::string where = step.line == 0 ? ""
                                           : std::string(" ") + (slash != nullptr ? slash + 1 : step.file) + ":" +
                                                 std::to_string(step.line);
        if (lines[i].times > 1) where += " x" + std::to_string(lines[i].times);
        std::snprintf(cell, sizeof cell, "  %-*s", width, (step.what + where).c_str());
        text += cell;
        text.append(static_cast<std::size_t>((column - 1 - columns[step.hart]) * (width + 2)), ' ');
        text += "  " + source_line(step.file, step.line);
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    text += left_out_text(record.left_out);
    if (record.all_left_out > 0) text += "  (options::weft_steps shows those within Weft, too)\n";
    return text;
}

}   // namespace weft::sim
