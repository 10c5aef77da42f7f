// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the command finds the libraries that it preloads: beside itself, in an installation and in
// a build tree.
#pragma once

#include <string>
#include <vector>

namespace weft_command {

// The libraries that may be preloaded, in the order in which the loader is to find them.
enum class Piece { regions, openmp, pthread, openblas, tbb, weft, report };

struct Library {
    Piece piece;
    std::string soname;
    std::string folder;   // absolute
    std::string path() const { return folder + "/" + soname; }
};

struct Pieces {
    std::vector<Library> libraries;   // the libraries that exist
    std::string info;                 // the program behind `weft info`
    std::string root;                 // the folder below which they lie
    bool is_installed = false;
    std::string missing;   // the first required library that does not exist; empty: none
};

Pieces find_pieces();

// Replaces libweft by another build of it (checked, tsan, asan), and adds the libraries that were
// built to run on that. False: the build does not exist.
bool find_variant(const char* name, Pieces& pieces);

// The file's own path, with links resolved; empty: the file does not exist.
std::string real(const std::string& path);

// The absolute path for one that may be relative to the current folder.
std::string absolute(const std::string& path);

}   // namespace weft_command
