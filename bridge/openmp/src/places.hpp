// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and prints places, and prints the affinity of threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft_openmp {

// The places that a value of OMP_PLACES or of GOMP_CPU_AFFINITY names, with those of their CPUs
// that the process may use; nothing if the value is invalid, or names no such CPU.
std::optional<std::vector<std::vector<int>>> read_places(std::string_view text);
std::optional<std::vector<std::vector<int>>> read_cpus(std::string_view text);

// A field of an affinity format (OpenMP 5.1, table 6.2), by its letter or its name; nothing if
// there is no such field.
std::optional<std::string> affinity_field(std::string_view name);
// affinity-format-var.
std::string affinity_format();
// The calling thread's affinity, by an affinity format (section 6.14); an empty one stands for
// affinity-format-var. An invalid format ends the process.
std::string affinity_of_this_thread(std::string_view format);
// The places, as OMP_PLACES could name them.
std::string places_text();

}   // namespace weft_openmp
