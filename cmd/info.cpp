// The program behind `weft info`: shows what the runtime sees here, and whether it understands the
// environment. It is a program of its own, since it needs libweft and the command does not.
#include <sched.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include <weft/hart.h>
#include <weft/runtime.h>
#include <weft/status.h>
#include <weft/version.h>

#include "../bridge/common/variables.hpp"
#include "checked.hpp"

namespace {

constexpr std::size_t most_cpus = 16384;

void show(const char* variable, const std::string& standard, const char* meaning) {
    const char* const said = std::getenv(variable);
    std::printf("  %-28s %-20s %-12s %s\n", variable, said != nullptr ? said : standard.c_str(),
                said != nullptr ? "environment" : "default", meaning);
}

std::size_t cpus_of_process() {
    cpu_set_t* const set = CPU_ALLOC(most_cpus);
    const std::size_t bytes = CPU_ALLOC_SIZE(most_cpus);
    const bool told = set != nullptr && sched_getaffinity(0, bytes, set) == 0;
    const int count = told ? CPU_COUNT_S(bytes, set) : 1;
    CPU_FREE(set);
    return static_cast<std::size_t>(count);
}

void show_topology() {
    std::set<unsigned> packages, nodes, cores;
    weft_hart_place place{};
    place.size = sizeof place;
    std::size_t harts = 0;
    weft_status status;
    while ((status = weft_hart_place_get(harts, &place)) == WEFT_OK) {
        packages.insert(place.package);
        nodes.insert(place.numa);
        cores.insert(place.core);
        ++harts;
    }
    if (status == WEFT_UNSUPPORTED) {
        std::printf("  %s\n", weft_error_text());
        return;
    }
    std::printf("  packages %zu, NUMA nodes %zu, cores %zu, hardware threads %zu, of those that this process may use\n",
                packages.size(), nodes.size(), cores.size(), harts);
    for (std::size_t i = 0; i < harts && weft_hart_place_get(i, &place) == WEFT_OK; ++i) {
        std::printf("  hart %zu: CPU %u, core %u, package %u, NUMA node %u\n", i, place.cpu, place.core, place.package,
                    place.numa);
    }
}

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

// Reads the table that the library prints: name, legal values, "default X", meaning. Returns each
// variable's default.
std::map<std::string, std::string> show_settings() {
    std::map<std::string, std::string> known;
    each_line(weft_environment_print, [&known](const char* line) {
        std::string parts[4];
        std::string rest = line;
        for (std::string& part : parts) {
            const std::size_t tab = rest.find('\t');
            part = rest.substr(0, tab);
            rest = tab == std::string::npos ? "" : rest.substr(tab + 1);
        }
        const std::string standard = parts[2].substr(parts[2].find(' ') + 1);
        show(parts[0].c_str(), standard, (parts[3] + " (" + parts[1] + ")").c_str());
        known[parts[0]] = standard;
    });
    return known;
}

// Shows how many streams a program starts that does not choose itself, and why. Reads the settings
// in force, so that it shows the library's own decision.
void show_streams(std::size_t cpus, const std::string& standard) {
    weft_settings now{};
    now.size = sizeof now;
    if (weft_settings_get(&now) != WEFT_OK) return;
    const std::size_t harts = weft_hart_limit();
    const char* const said = std::getenv("WEFT_STREAMS");
    const std::string asked = said != nullptr ? said : standard;
    std::printf("\nStreams\n  weft_init(NULL) starts %zu: %s%s%s\n", now.streams,
                said != nullptr ? "WEFT_STREAMS is " : "the default is ", asked.c_str(),
                asked == "all" ? ", that is as many as there are harts" : "");
    const char* const limited = harts >= cpus        ? "its CPU set has no more"
                                : now.harts == harts ? "WEFT_HARTS says so"
                                                     : "the CPU quota of a cgroup allows no more";
    std::printf("  the process may use %zu of %zu hardware threads: %s\n", harts, cpus, limited);
    if (now.streams > harts)
        std::printf(
            "  more streams than harts: the kernel shares the hardware threads among those that have work; the others "
            "sleep\n");
    if (now.streams < harts)
        std::printf(
            "  harts that no stream has are for libraries that run as domains, as OpenMP does, and for guests\n");
}

// Writes a line to standard output for each variable whose value is not legal, then for each that
// is probably misspelt. Returns the exit status: 1 if a value is not legal.
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
    if (count == 2 && std::strcmp(arguments[1], "--check") == 0) return check();
    if (count > 1) {
        std::fprintf(stderr, "weft info: there is no option '%s'; the only one is --check\n", arguments[1]);
        return 125;
    }
    std::printf("Weft %d.%d.%d\n\nTopology\n", weft_version() / 10000, weft_version() / 100 % 100,
                weft_version() % 100);
    show_topology();
    const std::size_t allowed = weft_hart_limit(), cpus = cpus_of_process();   // now: later this thread may be bound
    const weft_status status = weft_init(nullptr);   // reports itself what is wrong with a variable
    std::printf(
        "\nHarts\n  the CPU set and the quota allow %zu; used are at most %zu\n\nSettings (variable, value, where it "
        "comes from, meaning)\n",
        allowed, weft_hart_limit());
    std::map<std::string, std::string> known = show_settings();
    for (const weft_bridge::Variable& variable : weft_bridge::variables) {
        char legal[128];
        show(variable.name, variable.standard,
             (std::string(variable.meaning) + " (" + weft_bridge::legal_words(variable, legal, sizeof legal) + ")")
                 .c_str());
        known[variable.name] = variable.standard;
    }
    show("WEFT_REPORT", "off",
         "where a process that `weft run --report` has started reports at exit (off, stderr, or a file)");
    known["WEFT_REPORT"] = "off";
    show("WEFT_CHECKED", "off",
         (std::string("whether `weft run` runs programs on the checked library, which tells of stale handles (") +
          weft_command::checked_words + ")")
             .c_str());
    known["WEFT_CHECKED"] = "off";
    known["WEFT_TOLD_OF"];   // weft_init sets it
    show_streams(cpus, known["WEFT_STREAMS"]);
    std::printf("\nOther variables that are set\n");
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string text = *one, name = text.substr(0, text.find('='));
        const bool ours = name.rfind("OMP_", 0) == 0 || name.rfind("GOMP_", 0) == 0 || name.rfind("WEFT_", 0) == 0 ||
                          name == "LD_PRELOAD" || name == "GLIBC_TUNABLES";
        if (ours && known.count(name) == 0) std::printf("  %s\n", text.c_str());
    }
    each_line(weft_environment_doubts, [](const char* line) { std::printf("  %s\n", line); });
    if (status == WEFT_OK) weft_finalize();
    if (std::fflush(stdout) != 0) return 125;
    return status == WEFT_OK ? 0 : 1;
}
