// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "preload.hpp"

#include <sys/stat.h>
#include <cstdlib>
#include <vector>

namespace weft_command {

namespace {

// Paths with the loader's separators, or with characters that it expands, cannot be named in the
// two variables.
bool can_be_preloaded(const std::string& path) { return path.find_first_of(" \t\n:$") == std::string::npos; }
bool can_be_searched(const std::string& folder) { return folder.find_first_of(":;$") == std::string::npos; }

bool is_ours(const std::string& entry, const Pieces& pieces) {
    for (const char* const variant : {"checked", "tsan", "asan"}) {
        if (entry == pieces.root + "/libweft_" + variant + ".so." WEFT_SOVERSION) return true;
    }
    return std::any_of(pieces.libraries.begin(), pieces.libraries.end(), [&](const Library& library) {
        if (entry == library.soname || entry == library.path()) return true;
        return entry.find('/') != std::string::npos && same_file(entry, library.path());
    });
}

}   // namespace

void join(std::string& list, const std::string& part) {
    if (!list.empty()) list += ':';
    list += part;
}

std::string text_of(const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? std::string() : text;
}

bool same_file(const std::string& one, const std::string& other) {
    struct stat first, second;
    return stat(one.c_str(), &first) == 0 && stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

std::string preload(const Preloaded& asked, const Pieces& pieces, const Pieces& known) {
    std::vector<const Library*> wanted;
    for (const Library& library : pieces.libraries) {
        if ((library.piece == Piece::openmp || library.piece == Piece::regions) && !asked.openmp) continue;
        if (library.piece == Piece::tbb && !asked.tbb) continue;
        if (library.piece == Piece::openblas && !asked.blas) continue;
        if ((library.piece == Piece::report || library.piece == Piece::regions) && !asked.report) continue;
        wanted.push_back(&library);
    }
    const bool by_path = std::all_of(wanted.begin(), wanted.end(),
                                     [](const Library* library) { return can_be_preloaded(library->path()); });
    std::string list, folders;
    for (const Library* library : wanted) {
        join(list, by_path ? library->path() : library->soname);
        if (by_path) continue;
        if (!can_be_searched(library->folder)) {
            return "'" + library->path() +
                   "' cannot be named in LD_PRELOAD, and its folder cannot be in LD_LIBRARY_PATH: of the characters "
                   "colon, semicolon and dollar it may have none";
        }
        if ((":" + folders + ":").find(":" + library->folder + ":") == std::string::npos)
            join(folders, library->folder);
    }
    split(text_of("LD_PRELOAD"), " :\t\n", [&](const std::string& entry) {
        if (!is_ours(entry, pieces) && !is_ours(entry, known)) join(list, entry);
    });
    // An empty list is not set at all.
    list.empty() ? unsetenv("LD_PRELOAD") : setenv("LD_PRELOAD", list.c_str(), 1);
    if (!folders.empty()) {
        split(text_of("LD_LIBRARY_PATH"), ":;", [&](const std::string& entry) {
            if ((":" + folders + ":").find(":" + entry + ":") == std::string::npos) join(folders, entry);
        });
        setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
    }
    return {};
}

std::string preload_for_program_alone(const Preloaded& asked, const Pieces& pieces, const Pieces& release) {
    if (std::string trouble = preload(asked, release, pieces); !trouble.empty()) return trouble;
    const std::string of_children = text_of("LD_PRELOAD");
    if (std::string trouble = preload(asked, pieces, release); !trouble.empty()) return trouble;
    setenv("WEFT_CHILDREN_PRELOAD", of_children.c_str(), 1);
    return {};
}

}   // namespace weft_command
