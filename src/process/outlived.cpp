// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/outlived.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <mutex>

#include "os/lock.hpp"

namespace weft {
namespace {

struct Left {
    const void* unit;
    std::uint64_t id;
    char name[sizeof Unit::name];
};

// The latest units: a sentence that gives no number is worth its few bytes nevertheless.
struct AllLeft {
    os::Lock lock;   // guards what follows
    Left last[64] = {};
    std::size_t next = 0;
};
constinit AllLeft left;

}   // namespace

void note_left(const Unit& unit) {
    const std::lock_guard guard(left.lock);
    Left& note = left.last[left.next++ % std::size(left.last)];
    note.unit = &unit;
    note.id = unit.id;
    std::memcpy(note.name, unit.name, sizeof note.name);
}

void tell_outlived(const void* unit, const char* owner) {
    Left found{unit, 0, ""};
    {
        const std::lock_guard guard(left.lock);
        for (const Left& note : left.last) {
            if (note.unit == unit && note.id > found.id) found = note;
        }
    }
    char which[64] = "a unit";
    if (found.id != 0) {
        std::snprintf(which, sizeof which, *found.name != '\0' ? "unit %llu '%s'" : "unit %llu",
                      static_cast<unsigned long long>(found.id), found.name);
    }
    std::fprintf(
        stderr,
        "weft: a %s is used whose runtime has ended, with its %s: join or destroy it before the last weft_finalize "
        "(or declare it after the weft::runtime, so that it is destroyed first)\n",
        owner, which);
}

}   // namespace weft
