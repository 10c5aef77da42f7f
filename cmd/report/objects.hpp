// What the libraries of this process call for OpenMP, as the loader has bound them: told by the slots that it has filled in, so that it does not matter how a library was
// loaded (RTLD_DEEPBIND, another namespace of names, what was loaded first).
#pragma once

#include <string>
#include <vector>

namespace weft_report {

enum class Verdict { taken_over, limited, left_alone };

struct Finding {
    Verdict verdict;
    std::string object;   // its path
    std::string what;
};

// Of all that is loaded now. Not of what has been unloaded.
std::vector<Finding> look_at_objects();

}  // namespace weft_report
