// What is printed of threads' affinity, and of the places there are.
#pragma once

#include <string>
#include <string_view>

namespace weft_openmp {

// By an affinity format (OpenMP 5.1, section 6.14); an empty one: affinity-format-var.
std::string affinity_of_this_thread(std::string_view format);
// As OMP_PLACES could say it.
std::string places_text();

}  // namespace weft_openmp
