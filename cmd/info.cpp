// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program behind `weft info`: shows what the runtime sees here, and whether it understands the
// environment. It is a program of its own, since it needs libweft and the command does not.
#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <weft/hart.h>
#include <weft/runtime.h>
#include <weft/status.h>
#include <weft/version.h>

#include "../bridge/common/variables.hpp"
#include "checked.hpp"
#include "help.hpp"
#include "json.hpp"

namespace {

constexpr std::size_t most_cpus = 16384;

std::size_t cpus_of_process() {
    cpu_set_t* const set = CPU_ALLOC(most_cpus);
    const std::size_t bytes = CPU_ALLOC_SIZE(most_cpus);
    const bool told = set != nullptr && sched_getaffinity(0, bytes, set) == 0;
    const int count = told ? CPU_COUNT_S(bytes, set) : 1;
    CPU_FREE(set);
    return static_cast<std::size_t>(count);
}

struct Setting {
    std::string name, standard, meaning, legal;

    const char* said() const { return std::getenv(name.c_str()); }
    std::string value() const { return said() != nullptr ? said() : standard; }
    const char* from() const { return said() != nullptr ? "environment" : "default"; }
};

// What the command prints, as text or as JSON.
struct Facts {
    std::vector<weft_hart_place> places;
    std::string no_places;                         // why there are none
    std::size_t cpus = 0, allowed = 0, used = 0;   // hardware threads; harts by CPU set and quota; harts in use
    std::size_t streams = 0;                       // that weft_init starts; 0: it fails
    bool harts_are_limited = false;                // by WEFT_HARTS
    std::vector<Setting> settings;
    std::vector<std::string> others;   // "NAME=value" of variables that concern the libraries
    std::vector<std::string> doubts;   // a line for each name that is probably misspelt

    const Setting& setting(const char* name) const {
        return *std::find_if(settings.begin(), settings.end(), [name](const Setting& of) { return of.name == name; });
    }
    std::size_t distinct(unsigned weft_hart_place::*field) const {
        std::set<unsigned> all;
        for (const weft_hart_place& place : places) all.insert(place.*field);
        return all.size();
    }
};

// Calls line(text) for each line that print(file) writes.
template <class Print, class Line>
void each_line(Print print, Line line) {
    char* lines = nullptr;
    std::size_t bytes = 0;
    std::FILE* const file = open_memstream(&lines, &bytes);
    if (file == nullptr) return;
    print(file);
    std::fclose(file);
    for (char* one = std::strtok(lines, "\n"); one != nullptr; one = std::strtok(nullptr, "\n")) line(one);
    std::free(lines);
}

void find_places(Facts& facts) {
    weft_hart_place place{};
    place.size = sizeof place;
    weft_status status;
    while ((status = weft_hart_place_get(facts.places.size(), &place)) == WEFT_OK) facts.places.push_back(place);
    if (status == WEFT_UNSUPPORTED) facts.no_places = weft_error_text();
}

// Reads the table that the library prints: name, legal values, "default X", meaning.
void find_settings(std::vector<Setting>& settings) {
    each_line(weft_environment_print, [&settings](const char* line) {
        std::string parts[4];
        std::string rest = line;
        for (std::string& part : parts) {
            const std::size_t tab = rest.find('\t');
            part = rest.substr(0, tab);
            rest = tab == std::string::npos ? "" : rest.substr(tab + 1);
        }
        settings.push_back({parts[0], parts[2].substr(parts[2].find(' ') + 1), parts[3], parts[1]});
    });
    for (const weft_bridge::Variable& variable : weft_bridge::variables) {
        char legal[128];
        settings.push_back({variable.name, variable.standard, variable.meaning,
                            weft_bridge::legal_words(variable, legal, sizeof legal)});
    }
    settings.push_back({"WEFT_REPORT", "off", "where a process that `weft run --report` has started reports at exit",
                        "off, stderr, or a file"});
    settings.push_back({"WEFT_CHECKED", "off",
                        "whether `weft run` runs programs on the checked library, which reports stale handles",
                        weft_command::checked_words});
}

void find_others(Facts& facts) {
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string text = *one, name = text.substr(0, text.find('='));
        const bool ours = name.rfind("OMP_", 0) == 0 || name.rfind("GOMP_", 0) == 0 || name.rfind("WEFT_", 0) == 0 ||
                          name == "LD_PRELOAD" || name == "GLIBC_TUNABLES";
        const bool known = name == "WEFT_TOLD_OF" ||   // put there by weft_init
                           std::any_of(facts.settings.begin(), facts.settings.end(),
                                       [&name](const Setting& setting) { return setting.name == name; });
        if (ours && !known) facts.others.push_back(text);
    }
    each_line(weft_environment_doubts, [&facts](const char* line) { facts.doubts.emplace_back(line); });
}

// Reads the settings in force, so that the number of streams is what a program gets.
Facts find_facts() {
    Facts facts;
    find_places(facts);
    facts.allowed = weft_hart_limit();
    facts.cpus = cpus_of_process();                    // before weft_init, which may bind this thread
    const bool runs = weft_init(nullptr) == WEFT_OK;   // it says itself what is wrong with a variable
    facts.used = weft_hart_limit();
    find_settings(facts.settings);
    weft_settings now{};
    now.size = sizeof now;
    if (runs && weft_settings_get(&now) == WEFT_OK) {
        facts.streams = now.streams;
        facts.harts_are_limited = now.harts == facts.used;
    }
    find_others(facts);
    if (runs) weft_finalize();
    return facts;
}

// What limits the number of harts that the process uses.
const char* limit_of(const Facts& facts) {
    return facts.used >= facts.cpus  ? "its CPU set has no more"
           : facts.harts_are_limited ? "WEFT_HARTS says so"
                                     : "the CPU quota of a cgroup allows no more";
}

// ---- as text ------------------------------------------------------------------------------------

void print_topology(const Facts& facts) {
    std::printf("Topology\n");
    if (!facts.no_places.empty()) {
        std::printf("  %s\n", facts.no_places.c_str());
        return;
    }
    std::printf("  packages %zu, NUMA nodes %zu, cores %zu, hardware threads %zu, of those that this process may use\n",
                facts.distinct(&weft_hart_place::package), facts.distinct(&weft_hart_place::numa),
                facts.distinct(&weft_hart_place::core), facts.places.size());
    std::size_t hart = 0;
    for (const weft_hart_place& place : facts.places) {
        std::printf("  hart %zu: CPU %u, core %u, package %u, NUMA node %u\n", hart++, place.cpu, place.core,
                    place.package, place.numa);
    }
}

void print_streams(const Facts& facts) {
    if (facts.streams == 0) return;
    const Setting& asked = facts.setting("WEFT_STREAMS");
    const std::string value = asked.value();
    std::printf("\nStreams\n  weft_init(NULL) starts %zu: %s%s%s\n", facts.streams,
                asked.said() != nullptr ? "WEFT_STREAMS is " : "the default is ", value.c_str(),
                value == "all" ? ", that is as many as there are harts" : "");
    std::printf("  the process may use %zu of %zu hardware threads: %s\n", facts.used, facts.cpus, limit_of(facts));
    if (facts.streams > facts.used)
        std::printf(
            "  more streams than harts: the kernel shares the hardware threads among those that have work; the others "
            "sleep\n");
    if (facts.streams < facts.used)
        std::printf(
            "  harts that no stream has are for libraries that run as domains, as OpenMP does, and for guests\n");
}

void print_text(const Facts& facts) {
    std::printf("Weft %d.%d.%d\n\n", weft_version() / 10000, weft_version() / 100 % 100, weft_version() % 100);
    print_topology(facts);
    std::printf(
        "\nHarts\n  the CPU set and the quota allow %zu; used are at most %zu\n\nSettings (variable, value, where it "
        "comes from, meaning)\n",
        facts.allowed, facts.used);
    for (const Setting& setting : facts.settings) {
        std::printf("  %-28s %-20s %-12s %s (%s)\n", setting.name.c_str(), setting.value().c_str(), setting.from(),
                    setting.meaning.c_str(), setting.legal.c_str());
    }
    print_streams(facts);
    std::printf("\nOther variables that are set\n");
    for (const std::string& other : facts.others) std::printf("  %s\n", other.c_str());
    for (const std::string& doubt : facts.doubts) std::printf("  %s\n", doubt.c_str());
}

// ---- as JSON ------------------------------------------------------------------------------------

std::string quoted(const std::string& text) { return weft_command::quoted<std::string>(text); }

// "[a,b]" of what json(element) makes of each element.
template <class List, class Json>
std::string array(const List& list, Json json) {
    std::string all;
    for (const auto& element : list) all += (all.empty() ? "" : ",") + json(element);
    return "[" + all + "]";
}

// The keys are documented in weft-info(1).
void print_json(const Facts& facts) {
    std::size_t hart = 0;
    const std::string places = array(facts.places, [&hart](const weft_hart_place& place) {
        return "{\"hart\":" + std::to_string(hart++) + ",\"cpu\":" + std::to_string(place.cpu) +
               ",\"core\":" + std::to_string(place.core) + ",\"package\":" + std::to_string(place.package) +
               ",\"numa_node\":" + std::to_string(place.numa) + "}";
    });
    const std::string settings = array(facts.settings, [](const Setting& setting) {
        return "{\"name\":" + quoted(setting.name) + ",\"value\":" + quoted(setting.value()) +
               ",\"from\":" + quoted(setting.from()) + ",\"default\":" + quoted(setting.standard) +
               ",\"meaning\":" + quoted(setting.meaning) + ",\"legal\":" + quoted(setting.legal) + "}";
    });
    std::printf("{\"version\":\"%d.%d.%d\",\"topology\":%s", weft_version() / 10000, weft_version() / 100 % 100,
                weft_version() % 100, places.c_str());
    if (!facts.no_places.empty()) std::printf(",\"no_topology\":%s", quoted(facts.no_places).c_str());
    std::printf(",\"hardware_threads\":%zu,\"harts_allowed\":%zu,\"harts_used\":%zu,\"streams\":%zu", facts.cpus,
                facts.allowed, facts.used, facts.streams);
    if (facts.streams != 0) std::printf(",\"limited_by\":%s", quoted(limit_of(facts)).c_str());
    std::printf(",\"settings\":%s,\"other_variables\":%s,\"misspelt\":%s}\n", settings.c_str(),
                array(facts.others, quoted).c_str(), array(facts.doubts, quoted).c_str());
}

// ---- the check ----------------------------------------------------------------------------------

// A line on standard output for each variable whose value is not legal, and then for each that is
// probably misspelt. The exit status: 1 if there is one of the first.
int check() {
    bool legal = weft_environment_check(stdout) == WEFT_OK;
    for (const weft_bridge::Variable& variable : weft_bridge::variables) {
        const char* const value = std::getenv(variable.name);
        if (weft_bridge::word_of(variable, value) != weft_bridge::illegal) continue;
        char words[128];
        std::printf("%s is '%.100s'; legal are: %s\n", variable.name, value,
                    weft_bridge::legal_words(variable, words, sizeof words));
        legal = false;
    }
    if (!weft_command::checked_is_legal()) {
        std::printf("WEFT_CHECKED is '%.100s'; legal are: %s\n", std::getenv("WEFT_CHECKED"),
                    weft_command::checked_words);
        legal = false;
    }
    weft_environment_doubts(stdout);
    if (std::fflush(stdout) != 0) return 125;
    return legal ? 0 : 1;
}

}   // namespace

int main(int count, char** arguments) {
    const char* const option = count > 1 ? arguments[1] : "";
    const auto is = [option](const char* name) { return std::strcmp(option, name) == 0; };
    if (count > 2) {
        std::fprintf(stderr, "weft info: unexpected argument '%s'; one option is taken\n", arguments[2]);
        return 125;
    }
    if (is("--check")) return check();
    if (is("--help") || is("-h")) {
        std::fputs(weft_command::info_help, stdout);
        return std::fflush(stdout) == 0 ? 0 : 125;
    }
    if (count > 1 && !is("--json")) {
        std::fprintf(stderr, "weft info: there is no option '%s'; there are --check, --json and --help\n", option);
        return 125;
    }
    const Facts facts = find_facts();
    if (is("--json")) print_json(facts);
    else print_text(facts);
    if (std::fflush(stdout) != 0) return 125;
    return facts.streams != 0 ? 0 : 1;
}
