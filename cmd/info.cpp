// Behind `weft info`: what the runtime sees here, and whether it understands the environment. A program of
// its own, since it needs libweft and the command does not.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <unistd.h>

#include <weft/hart.h>
#include <weft/runtime.h>
#include <weft/status.h>
#include <weft/version.h>

#include "../bridge/common/variables.hpp"

namespace {

void show(const char* variable, const std::string& standard, const char* meaning) {
    const char* const said = std::getenv(variable);
    std::printf("  %-28s %-20s %-12s %s\n", variable, said != nullptr ? said : standard.c_str(), said != nullptr ? "environment" : "default", meaning);
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
    std::printf("  packages %zu, NUMA nodes %zu, cores %zu, hardware threads %zu, of those that this process may use\n", packages.size(), nodes.size(), cores.size(), harts);
    for (std::size_t i = 0; i < harts && weft_hart_place_get(i, &place) == WEFT_OK; ++i) {
        std::printf("  hart %zu: CPU %u, core %u, package %u, NUMA node %u\n", i, place.cpu, place.core, place.package, place.numa);
    }
}

// The table that the library prints: name, what is legal, "default X" or "default: X", what it means.
std::set<std::string> show_settings() {
    std::set<std::string> known;
    char* table = nullptr;
    std::size_t bytes = 0;
    std::FILE* const file = open_memstream(&table, &bytes);
    if (file == nullptr) return known;
    weft_environment_print(file);
    std::fclose(file);
    for (char* line = std::strtok(table, "\n"); line != nullptr; line = std::strtok(nullptr, "\n")) {
        std::string parts[4];
        std::string rest = line;
        for (std::string& part : parts) {
            const std::size_t tab = rest.find('\t');
            part = rest.substr(0, tab);
            rest = tab == std::string::npos ? "" : rest.substr(tab + 1);
        }
        const std::size_t space = parts[2].find(' ');
        show(parts[0].c_str(), space == std::string::npos ? parts[2] : parts[2].substr(space + 1), (parts[3] + " (" + parts[1] + ")").c_str());
        known.insert(parts[0]);
    }
    std::free(table);
    return known;
}

// A line on standard output for each variable whose value is not legal. The exit status: 1 if there is one.
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
    if (std::fflush(stdout) != 0) return 125;
    return legal ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 2 && std::strcmp(arguments[1], "--check") == 0) return check();
    if (count > 1) {
        std::fprintf(stderr, "weft info: there is no option '%s'; the only one is --check\n", arguments[1]);
        return 125;
    }
    std::printf("Weft %d.%d.%d\n\nTopology\n", weft_version() / 10000, weft_version() / 100 % 100, weft_version() % 100);
    show_topology();
    const std::size_t allowed = weft_hart_limit();
    const weft_status status = weft_init(nullptr);   // says itself what is wrong with a variable
    const std::string wrong = status == WEFT_OK ? "" : weft_error_text();
    std::printf("\nHarts\n  the CPU set and the quota allow %zu; used are at most %zu\n\nSettings (variable, value, where it comes from, meaning)\n", allowed, weft_hart_limit());
    std::set<std::string> known = show_settings();
    for (const weft_bridge::Variable& variable : weft_bridge::variables) {
        char legal[128];
        show(variable.name, variable.standard,
             (std::string(variable.meaning) + " (" + weft_bridge::legal_words(variable, legal, sizeof legal) + ")")
                 .c_str());
        known.insert(variable.name);
    }
    show("WEFT_REPORT", "nowhere",
         "where a process that `weft run --report` has started reports at exit (stderr, or a file)");
    known.insert("WEFT_REPORT");
    show("WEFT_CHECKED", "off", "whether `weft run` runs programs on the checked library, which tells of stale handles (1, on, 0, off)");
    known.insert("WEFT_CHECKED");
    std::printf("\nOther variables that are set\n");
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string text = *one, name = text.substr(0, text.find('='));
        const bool ours = name.rfind("OMP_", 0) == 0 || name.rfind("GOMP_", 0) == 0 || name.rfind("WEFT_", 0) == 0 || name == "LD_PRELOAD" || name == "GLIBC_TUNABLES";
        if (ours && known.count(name) == 0) std::printf("  %s\n", text.c_str());
    }
    if (status == WEFT_OK) weft_finalize();
    if (std::fflush(stdout) != 0) return 125;
    return status == WEFT_OK ? 0 : 1;
}
