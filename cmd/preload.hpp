// What the loader is told of: LD_PRELOAD, and LD_LIBRARY_PATH where it can hold no paths.
#pragma once

#include <algorithm>
#include <string>

#include "paths.hpp"

namespace weft_command {

// Of the pieces, those that not every run has.
struct Preloaded {
    bool openmp;
    bool report;
};

// Sets the variables: ours first, then what the user had, without what another run has put there,
// or this one has for other programs (`known`). Returns why not, in words, where they lie where the
// loader can be told of by nothing; empty: done.
std::string preload(const Preloaded& asked, const Pieces& pieces, const Pieces& known);

// As preload(), where what the program starts gets the release: what is for a sanitizer cannot be
// loaded without its run-time library. The preloaded library puts that back
// (src/os/linux/children.cpp).
std::string preload_for_program_alone(const Preloaded& asked, const Pieces& pieces, const Pieces& release);

// The variable's value; empty: there is none.
std::string text_of(const char* variable);

bool same_file(const std::string& one, const std::string& other);

// Adds it to a list whose parts a colon separates.
void join(std::string& list, const std::string& part);

// Calls part(text) for what stands between any of the separators.
template <class Part>
void split(const std::string& text, const char* separators, Part part) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
        if (end > at) part(text.substr(at, end - at));
        at = end + 1;
    }
}

}   // namespace weft_command
