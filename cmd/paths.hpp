// Where the command finds what it preloads: beside itself, in an installation and in a build tree.
#pragma once

#include <string>
#include <vector>

namespace weft_command {

// What may be preloaded, in the order in which the loader is to find it.
enum class Piece { regions, openmp, pthread, openblas, weft, report };

struct Library {
    Piece piece;
    std::string soname;
    std::string folder;   // absolute
    std::string path() const { return folder + "/" + soname; }
};

struct Pieces {
    std::vector<Library> libraries;   // those that there are
    std::string info;                 // the program behind `weft info`
    std::string root;                 // below which they lie
    bool is_installed = false;
    std::string missing;   // the first library that has to be there and is not; empty: none
};

Pieces find_pieces();

// Puts a build of the library into libweft's place (checked, tsan, asan), and what was built to run
// on that beside it. False: it is not there.
bool find_variant(const char* name, Pieces& pieces);

// The file's own path, links followed; empty: it is not there.
std::string real(const std::string& path);

// An absolute path of what may be given relative to the current folder.
std::string absolute(const std::string& path);

}   // namespace weft_command
