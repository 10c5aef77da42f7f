// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The OpenBLASes of the process, and which of them a call means.
//
// The loader binds each library's calls of exec_blas and goto_set_num_threads to the generic
// functions in guard.cpp. The first call from a library finds out which OpenBLAS the library means.
// It writes the address for later calls into the library's own table (its global offset table):
// OpenBLAS' function itself where nothing is guarded, otherwise an entry that belongs to that
// OpenBLAS. So later calls look nothing up. The result lies in the caller's memory and dies with
// it: a library that is loaded at the same address later comes with a fresh table, and announces
// itself by calling the generic function.
#pragma once

#include <pthread.h>

#include <atomic>

#include <weft/sync.h>
#include <weft/unit.h>

namespace weft_openblas {

using Exec = int (*)(long, void*);
using SetThreads = void (*)(int);

// A guarded OpenBLAS.
struct Library {
    const void* base = nullptr;   // its start; null: free. Under `finding`, as the next two
    Exec exec = nullptr;
    SetThreads set_threads = nullptr;
    weft_semaphore free{};
    std::atomic<int> waiting{0};   // callers that wait for it
    // The thread or the unit that is inside. relaxed, all: a caller only checks whether it is
    // itself, and then it has written what it reads
    std::atomic<bool> held{false};
    std::atomic<pthread_t> holder{};
    std::atomic<weft_unit*> holding_unit{nullptr};
};

// The functions behind an entry of `library`; they run `library`'s own when no other caller is
// inside.
int exec_guarded(Library& library, long count, void* queue);
void set_threads_guarded(Library& library, int count);

// What a call means: a guarded OpenBLAS, or a function that is called as it is.
struct Target {
    Library* library = nullptr;
    Exec exec = nullptr;   // null: the caller has none
};
Target exec_of(const void* return_address);

// Calls visit(target) for each OpenBLAS that a call of the generic goto_set_num_threads may mean.
// There may be several: OpenBLAS ends openblas_set_num_threads with a jump there, so the apparent
// caller may be a language's way to call any function.
struct ThreadsTarget {
    Library* library = nullptr;
    SetThreads set_threads = nullptr;
};
void each_threads_target(const void* return_address, void (*visit)(const ThreadsTarget& target, int count), int count);

}   // namespace weft_openblas
