// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "computing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "copies.hpp"

namespace weft_openblas {

namespace {

bool has(const std::vector<int>& ids, int id) { return std::binary_search(ids.begin(), ids.end(), id); }

}   // namespace

// By /proc/PID/task/ID/stat, "7 (name) R ...": a name may have blanks and brackets.
bool Computing::runs(int tasks, int id) {
    char path[32], text[128];
    std::snprintf(path, sizeof path, "%d/stat", id);
    const int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;   // it has ended
    const ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    if (bytes <= 0) return false;
    text[bytes] = '\0';
    const char *const name = std::strchr(text, '('), *const behind = std::strrchr(text, ')');
    if (name == nullptr || behind == nullptr) return false;
    // What Weft's threads run is counted elsewhere.
    if (std::strncmp(name + 1, "weft/", 5) != 0) return std::strncmp(behind, ") R", 3) == 0;
    found_.push_back(id);
    return false;
}

Computing::Counts Computing::look() {
    DIR* const tasks = opendir("/proc/self/task");
    if (tasks == nullptr) return {};
    std::vector<int> run;
    found_.clear();
    while (const dirent* const entry = readdir(tasks)) {
        const int id = std::atoi(entry->d_name);
        if (has(wefts_, id)) found_.push_back(id);
        else if (id != 0 && !is_own_thread(id) && runs(dirfd(tasks), id)) run.push_back(id);
    }
    closedir(tasks);
    std::sort(run.begin(), run.end());
    std::sort(found_.begin(), found_.end());
    std::swap(wefts_, found_);   // another thread may get the number of one that has ended
    const auto still = std::count_if(run.begin(), run.end(), [&](int id) { return has(ran_, id); });
    ran_ = std::move(run);
    return {static_cast<int>(ran_.size()), static_cast<int>(still)};
}

}   // namespace weft_openblas
