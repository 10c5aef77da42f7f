// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "paths.hpp"

#include <sys/auxv.h>
#include <unistd.h>
#include <climits>
#include <cstdlib>

namespace weft_command {

namespace {

// The folder of the executable, with links resolved, so that a link to it may lie anywhere. Without
// /proc, as in some chroots, the path that the kernel reports as executed gives it, too; that path
// is relative if the executed one was, and for a script it would be the script.
std::string own_folder() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    const auto executed = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    const std::string text = length > 0            ? std::string(path, static_cast<std::size_t>(length))
                             : executed != nullptr ? real(executed)
                                                   : std::string();
    return text.substr(0, text.rfind('/'));
}

struct KnownLibrary {
    Piece piece;
    const char* soname;
    const char* installed;   // folders: below the folder of installed libraries, and below the build's root
    const char* built;
    bool required;
};

// libweft_openblas.so guards OpenBLAS; a build may lack it. The other libraries need libweft.so and
// know where it is. It is preloaded by name, too, so that the loader searches one library for its
// symbols instead of a dozen.
constexpr KnownLibrary known_libraries[] = {
    {Piece::regions, "libweft_regions.so.0", "/weft", "/cmd", true},
    {Piece::openmp, "libgomp.so.1", "/weft/openmp", "/bridge/openmp", true},
    {Piece::pthread, "libweft_pthread.so." WEFT_SOVERSION, "", "/bridge/pthread", true},
    {Piece::openblas, "libweft_openblas.so." WEFT_SOVERSION, "", "/bridge/openblas", false},
    {Piece::tbb, "libweft_tbb.so." WEFT_SOVERSION, "", "/bridge/tbb", true},
    {Piece::weft, "libweft.so." WEFT_SOVERSION, "", "", false},
    {Piece::report, "libweft_report.so.0", "/weft", "/cmd", true},
};

}   // namespace

std::string real(const std::string& path) {
    char* const found = realpath(path.c_str(), nullptr);
    if (found == nullptr) return {};
    std::string text = found;
    std::free(found);
    return text;
}

Pieces find_pieces() {
    Pieces pieces;
    const std::string folder = own_folder();
    const std::string installed = folder + "/" WEFT_LIBRARIES_FROM_PROGRAMS, built = folder + "/..";
    const bool is_installed = access((installed + "/weft/openmp/libgomp.so.1").c_str(), F_OK) == 0;
    const std::string root = is_installed ? installed : built, found = real(root);
    pieces.root = found;
    pieces.is_installed = is_installed;
    for (const KnownLibrary& library : known_libraries) {
        const std::string where = is_installed ? library.installed : library.built;
        if (!found.empty() && access((found + where + "/" + library.soname).c_str(), R_OK) == 0) {
            pieces.libraries.push_back({library.piece, library.soname, found + where});
        } else if (library.required && pieces.missing.empty()) {
            pieces.missing = root + where + "/" + library.soname;
        }
    }
    pieces.info = is_installed ? installed + "/weft/weft-info" : folder + "/weft-info";
    return pieces;
}

bool find_variant(const char* name, Pieces& pieces) {
    const std::string soname = "libweft_" + std::string(name) + ".so." WEFT_SOVERSION;
    if (pieces.root.empty() || access((pieces.root + "/" + soname).c_str(), R_OK) != 0) return false;
    const std::string openmp = pieces.root + (pieces.is_installed ? "/weft/" + std::string(name) + "/openmp"
                                                                  : "/bridge/openmp/" + std::string(name));
    bool placed = false;
    for (Library& library : pieces.libraries) {
        if (library.piece == Piece::openmp && access((openmp + "/" + library.soname).c_str(), R_OK) == 0)
            library.folder = openmp;
        if (library.piece != Piece::weft) continue;
        library.soname = soname;
        placed = true;
    }
    return placed;
}

std::string absolute(const std::string& path) {
    if (!path.empty() && path[0] == '/') return path;
    char* const here = getcwd(nullptr, 0);
    if (here == nullptr) return path;
    std::string text = std::string(here) + "/" + path;
    std::free(here);
    return text;
}

}   // namespace weft_command
