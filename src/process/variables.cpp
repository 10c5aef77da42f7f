// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/variables.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/atomic.hpp"
#include "process/settings.hpp"

namespace weft {
namespace {

constexpr std::string_view prefix = "WEFT_";
constexpr const char* told_already = "WEFT_TOLD_OF";

// Besides the settings (settings.cpp). For users: variables of the bridges
// (bridge/common/variables.hpp) and of `weft run`.
constexpr const char* for_users[] = {
    "WEFT_GUESTS", "WEFT_OMP_MAX_THREADS", "WEFT_OMP_TASK_KIND",    "WEFT_BLAS_THREADS",
    "WEFT_REPORT", "WEFT_CHECKED",         "WEFT_CHILDREN_PRELOAD",
};
// Set by `weft run` and by the runtime, for the processes that they start.
constexpr const char* inner[] = {"WEFT_REPORT_FORMAT", "WEFT_REPORT_OF", "WEFT_REPORT_SPOOL", told_already};
// Read by tests.
constexpr const char* of_tests[] = {
    "WEFT_SEED",       "WEFT_TEST_SEED",        "WEFT_BLAS_OPENMP",      "WEFT_BLAS_OPENMP_FIXED",
    "WEFT_BLAS_PLAIN", "WEFT_BLAS_PLAIN_FIXED", "WEFT_TOGETHER_PRELOAD",
};

// Calls visit(name) for each, until it returns true; returns whether it has.
template <class Visit>
bool any_for_users(Visit visit) {
    for (std::size_t i = 0; const char* const name = setting_variable(i); ++i) {
        if (visit(name)) return true;
    }
    return std::any_of(std::begin(for_users), std::end(for_users), visit);
}

bool is_ours(std::string_view name) {
    const auto is_it = [name](const char* one) { return name == one; };
    return any_for_users(is_it) || std::any_of(std::begin(inner), std::end(inner), is_it) ||
           std::any_of(std::begin(of_tests), std::end(of_tests), is_it);
}

constexpr std::size_t near = 2, longest = 64;

// How many letters must be inserted, deleted or changed (Levenshtein); more than `near` where the
// lengths alone show it.
std::size_t distance(std::string_view one, std::string_view other) {
    if (std::max(one.size(), other.size()) - std::min(one.size(), other.size()) > near || other.size() >= longest)
        return near + 1;
    std::size_t row[longest];
    for (std::size_t j = 0; j <= other.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= one.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= other.size(); ++j) {
            const std::size_t changed = diagonal + (one[i - 1] == other[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row[other.size()];
}

const char* nearest(std::string_view name) {
    if (name.substr(0, prefix.size()) != prefix || is_ours(name)) return nullptr;
    const char* found = nullptr;
    std::size_t least = near + 1;
    any_for_users([&](const char* one) {
        const std::size_t far = distance(name, one);
        if (far < least) {
            least = far;
            found = one;
        }
        return false;
    });
    return found;
}

// Calls doubt(name, what was meant) for each such variable that is set.
template <class Doubt>
void each_doubt(Doubt doubt) {
    for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
        if (std::strncmp(*one, prefix.data(), prefix.size()) != 0) continue;
        const std::string_view name(*one, std::strcspn(*one, "="));
        if (const char* const meant = nearest(name)) doubt(name, meant);
    }
}

void print(std::FILE* file, const char* before, std::string_view name, const char* meant) {
    std::fprintf(file, "%s%.*s is not a variable of Weft, and has no effect; is %s meant?\n", before,
                 static_cast<int>(name.size()), name.data(), meant);
}

// `names` has colons between the names.
bool lists(std::string_view names, std::string_view name) {
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(':'), names.size());
        if (names.substr(0, end) == name) return true;
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return false;
}

// The last array that was made, behind two words: the array before it, and the string that was
// added. Neither counts as a leak once the program's setenv() has replaced the array, or its
// unsetenv() has removed the string.
constexpr std::size_t words_before = 2;
char** made_before = nullptr;

// Adds the variable to the environment, in place of any of the same name. setenv() could free the
// array that another thread is searching in getenv(); this function leaves the old array where it
// is. Where there is no memory, other processes report again.
void put_into_environment(const std::string& variable) {
    char** const before = environ;
    if (before == nullptr) return;
    std::size_t count = 0;
    while (before[count] != nullptr) ++count;
    auto** const block = static_cast<char**>(std::malloc((words_before + count + 2) * sizeof(char*)));
    char* const text = strdup(variable.c_str());
    if (block == nullptr || text == nullptr) {
        std::free(block);
        std::free(text);
        return;
    }
    block[0] = reinterpret_cast<char*>(std::exchange(made_before, block));
    block[1] = text;
    char** const made = block + words_before;
    const std::size_t name = variable.find('=') + 1;
    char** const end =
        std::copy_if(before, before + count, made, [&](const char* one) { return std::strncmp(one, text, name) != 0; });
    end[0] = text;
    end[1] = nullptr;
    // If another thread has put a different array there meanwhile, that one stays. relaxed: nothing
    // is read through it; release: pairs with the reads of getenv(), which continue from the
    // pointer.
    const atomic_ref<char**> current(environ);
    if (current.load(std::memory_order_relaxed) == before) current.store(made, std::memory_order_release);
}

}   // namespace

std::size_t doubts_print(std::FILE* file) {
    std::size_t count = 0;
    each_doubt([&](std::string_view name, const char* meant) {
        print(file, "", name, meant);
        ++count;
    });
    return count;
}

void tell_doubts() {
    const char* const said = std::getenv(told_already);
    std::string told = said == nullptr ? "" : said;
    const std::size_t before = told.size();
    each_doubt([&](std::string_view name, const char* meant) {
        if (lists(told, name)) return;
        print(stderr, "weft: ", name, meant);
        if (!told.empty()) told += ':';
        told += name;
    });
    if (told.size() != before) put_into_environment(std::string(told_already) + "=" + told);
}

}   // namespace weft
