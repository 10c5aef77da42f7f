// Behind `weft info`: what the runtime sees here. A program of its own, since it needs libweft and the command does not.
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

namespace {

// Variables that are read by what stands beside the runtime.
struct Other {
    const char* variable;
    const char* standard;
    const char* meaning;
};
constexpr Other others[] = {
    {"WEFT_GUESTS", "leave", "whether threads of the program's own wait for their turn, too: leave, admit"},
    {"WEFT_REPORT", "nowhere", "where a process that `weft run --report` has started reports at exit: stderr, or a file"},
    {"WEFT_OMP_TASK_KIND", "a member's own context", "what OpenMP's explicit tasks run on: a kind of ULT"},
};

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

}  // namespace

int main() {
    std::printf("Weft %d.%d.%d\n\nTopology\n", weft_version() / 10000, weft_version() / 100 % 100, weft_version() % 100);
    show_topology();
    const std::size_t allowed = weft_hart_limit();
    const weft_status status = weft_init(nullptr);   // says itself what is wrong with a variable
    const std::string wrong = status == WEFT_OK ? "" : weft_error_text();
    std::printf("\nHarts\n  the CPU set and the quota allow %zu; used are at most %zu\n\nSettings (variable, value, where it comes from, meaning)\n", allowed, weft_hart_limit());
    std::set<std::string> known = show_settings();
    for (const Other& other : others) {
        show(other.variable, other.standard, other.meaning);
        known.insert(other.variable);
    }
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
