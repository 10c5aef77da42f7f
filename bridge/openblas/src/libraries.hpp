// The OpenBLASes of the process, and which of them a call means.
//
// The loader binds each library's calls of exec_blas and goto_set_num_threads to the generic ones
// in guard.cpp. The first call that comes from a library finds out which OpenBLAS the library
// means, and writes the address that its later calls go to into the library's own table (its global
// offset table): OpenBLAS' function itself where nothing is guarded, otherwise an entry of that
// OpenBLAS'. So later calls look nothing up. What has been found out lives in the caller's memory
// and dies with it: a library that is loaded at the same address later comes with a fresh table,
// and announces itself by calling the generic function.
#pragma once

#include <pthread.h>

#include <atomic>

#include <weft/sync.h>
#include <weft/unit.h>

namespace weft_openblas {

using Exec = int (*)(long, void*);
using SetThreads = void (*)(int);

// An OpenBLAS that is guarded.
struct Library {
    const void* base = nullptr;   // where it lies; null: free. Under `finding`, as the next two
    Exec exec = nullptr;
    SetThreads set_threads = nullptr;
    weft_semaphore free{};
    // The thread or the unit that is inside. relaxed, all of it: a caller only asks whether it is
    // itself, and then it has written what it reads
    std::atomic<bool> held{false};
    std::atomic<pthread_t> holder{};
    std::atomic<weft_unit*> holding_unit{nullptr};
};

// The functions behind an entry of `library`; they run `library`'s own when nobody else is inside.
int exec_guarded(Library& library, long count, void* queue);
void set_threads_guarded(Library& library, int count);

// What a call means: an OpenBLAS that is guarded, or a function that is called as it is.
struct Target {
    Library* library = nullptr;
    Exec exec = nullptr;   // null: the caller knows of none
};
Target exec_of(const void* return_address);

// Calls visit(target) for each OpenBLAS that a call of the generic goto_set_num_threads may mean.
// There may be several: OpenBLAS ends openblas_set_num_threads by a jump there, so what is seen as
// the caller may be a language's way to call anything.
struct ThreadsTarget {
    Library* library = nullptr;
    SetThreads set_threads = nullptr;
};
void each_threads_target(const void* return_address, void (*visit)(const ThreadsTarget& target, int count), int count);

}   // namespace weft_openblas
