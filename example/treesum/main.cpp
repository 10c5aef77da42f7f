// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// treesum: SHA-256 of every file of a directory tree, in the format of sha256sum.
//
// Some threads (ULTs) walk directories; a thread of its own hashes each file that they find. The
// numbers of both are bounded: a walker that finds one file too many is suspended until a hash is
// done.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include <weft/weft.hpp>

#include "hash.hpp"
#include "options.hpp"
#include "report.hpp"
#include "verify.hpp"
#include "walk.hpp"

namespace {

using namespace treesum;

// Together, walkers and hashing units stay below the limit of 1,024 open files that is common for a
// process.
std::size_t walkers_for(std::size_t streams) { return std::min<std::size_t>(2 * streams + 2, 64); }
std::size_t hashes_for(std::size_t streams) { return std::min<std::size_t>(16 * streams, 512); }

void sum(const Options& options, Hashing& hashing, Report& report) {
    walk(options.roots, walkers_for(weft::stream_count()), report, [&](std::string path) {
        hashing.start(std::move(path), Opening::listed,
                      [&report](const std::string& name, int error_number, const Digest& digest) {
                          if (error_number != 0) {
                              report.failure(name, error_number);
                          } else {
                              report.line(checksum_line(digest, name));
                          }
                      });
    });
    hashing.finish();
}

int run(const Options& options) {
    weft::runtime runtime{{.streams = options.streams}};
    Report report(true);
    Hashing hashing(report, hashes_for(weft::stream_count()));
    if (options.list) {
        verify(*options.list, hashing, report);
    } else {
        sum(options, hashing, report);
    }
    runtime.finalize();
    return report.finish();
}

}   // namespace

int main(int count, char** arguments) {
    Options options;
    try {
        options = read_options(count, arguments);
    } catch (const std::invalid_argument& problem) {
        std::fprintf(stderr, "treesum: %s\n", problem.what());
        return 2;
    }
    if (options.help) {
        std::fputs(help_text, stdout);
        return std::fflush(stdout) == 0 ? 0 : 1;
    }
    try {
        return run(options);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "treesum: %s\n", problem.what());
        return 1;
    }
}
