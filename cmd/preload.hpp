// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tells the loader what to preload: by LD_PRELOAD, and by LD_LIBRARY_PATH where LD_PRELOAD cannot
// hold the paths.
#pragma once

#include <algorithm>
#include <string>

#include "paths.hpp"

namespace weft_command {

// The pieces that only some runs preload.
struct Preloaded {
    bool openmp;
    bool tbb;
    bool blas;
    bool report;
};

// Sets the variables: Weft's libraries first, then the user's entries, without entries that another
// run has added, or that this run has for other programs (`known`). Returns an empty string, or the
// reason, in words, when the libraries lie where no variable can name them to the loader.
std::string preload(const Preloaded& asked, const Pieces& pieces, const Pieces& known);

// As preload(), but the programs that the program starts get the release: a library built for a
// sanitizer cannot be loaded without the sanitizer's run-time library. The preloaded library
// restores the release's list for them (src/os/linux/children.cpp).
std::string preload_for_program_alone(const Preloaded& asked, const Pieces& pieces, const Pieces& release);

// The variable's value; empty: it is not set.
std::string text_of(const char* variable);

bool same_file(const std::string& one, const std::string& other);

// Adds `part` to a list whose parts are separated by colons.
void join(std::string& list, const std::string& part);

// Calls part(text) for each part between the separators.
template <class Part>
void split(const std::string& text, const char* separators, Part part) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
        if (end > at) part(text.substr(at, end - at));
        at = end + 1;
    }
}

}   // namespace weft_command
