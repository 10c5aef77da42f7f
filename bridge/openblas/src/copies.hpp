// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The OpenBLASes of the process that have threads of their own: Debian's default, and those in the
// wheels of NumPy and SciPy, which have other names and whose calls within the library pass no
// table of the loader's. What they have in common is that they start their threads by
// pthread_create, which libweft_pthread announces here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft_openblas {

// OpenBLAS' interface for threads that others provide (0.3.28 and later). The callback is to call
// job(worker, jobs + i * bytes, extra) for each i below `count`, all at once: the jobs wait for
// each other, and spin. `worker` chooses a buffer, so no two jobs that run may have the same.
using Job = void (*)(int worker, void* job, int extra);
using Callback = void (*)(int waits, Job job, int count, std::size_t bytes, void* jobs, int extra);

struct Copy {
    const char *first = nullptr, *end = nullptr;   // its addresses
    int (*number)() = nullptr;                     // how many threads it uses
    void (*set_number)(int) = nullptr;
    const char* (*config)() = nullptr;
    int (*exec)(long count, void* jobs) = nullptr;   // runs the jobs of a call, by the callback if there is one
    void (*set_callback)(Callback) = nullptr;        // null: it has no such interface
    Callback* callback = nullptr;                    // where it keeps the callback; null: not known

    // How many threads the program wants, and the number that was set here last, to be told from
    // one that the program has set since: both under follow.cpp's lock. 0: not yet known.
    int most = 0, given = 0;

    bool holds(const void* address) const { return address >= first && address < end; }
};

// The copies that are known; they stay loaded. Later ones of one process are left alone.
inline constexpr std::size_t most_copies = 16;
extern Copy copies[most_copies];
extern std::atomic<std::size_t> copy_count;

template <class Visit>
void each_copy(Visit visit) {
    // acquire, with the release in copies.cpp: the copies are complete
    const std::size_t count = copy_count.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) visit(copies[i]);
}

// Whether the OS thread with that number is an OpenBLAS' own.
bool is_own_thread(int id);

}   // namespace weft_openblas
