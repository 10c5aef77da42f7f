// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report's memory. A process may end from a signal handler that interrupted malloc, so no code
// that runs from there on calls the program's allocator: all memory comes from the report's own
// pages, which are never freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft_report {

// Allocates memory; for one thread at a time. If there is none, control leaves the innermost
// `attempt`.
void* take(std::size_t bytes);

// Calls body(argument). False: memory ran out, and the rest of the body was skipped, including
// destructors.
bool attempt(void (*body)(void* argument), void* argument);

template <class T>
struct Arena {
    using value_type = T;
    Arena() = default;
    template <class Other>
    Arena(const Arena<Other>&) {}
    T* allocate(std::size_t count) { return static_cast<T*>(take(count * sizeof(T))); }
    void deallocate(T*, std::size_t) noexcept {}
    friend bool operator==(const Arena&, const Arena&) { return true; }
};

using String = std::basic_string<char, std::char_traits<char>, Arena<char>>;
template <class T>
using List = std::vector<T, Arena<T>>;

String decimal(std::uint64_t value);

}   // namespace weft_report
