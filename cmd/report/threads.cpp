// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "threads.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <threads.h>
#include <cstring>

namespace weft_report {

constinit Tally threads;

namespace {

constinit std::atomic<std::uint64_t> peak{1};

// Each OS thread is a folder of /proc/self/task. Only starting a thread can increase their number,
// so no other event needs to be watched.
void note_threads() {
    struct stat status;
    if (stat("/proc/self/task", &status) != 0 || status.st_nlink < 3) return;
    const std::uint64_t now = status.st_nlink - 2;
    // relaxed, both: a statistic
    std::uint64_t before = peak.load(std::memory_order_relaxed);
    while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {}
}

bool lies_in(const void* code, const char* library) {
    const Origin* const origin = origin_of(code);
    return origin->path != nullptr && std::strstr(origin->path, library) != nullptr;
}

// The code that stands for a thread. Three libraries start threads for other libraries, and pass an
// object as the argument that shows for which. bridge/pthread starts the thread of an admitted
// guest (--guests=admit), and bridge/openblas those of an OpenBLAS: their objects have the body and
// the argument of the thread. bridge/openblas also starts threads by itself, whose objects begin
// with no code. The C++ library starts a std::thread: its object begins with the virtual table of a
// class in the caller's library. The new thread frees the object, so this is called before the
// thread is started.
const void* code_of(const void* body, const void* argument) {
    if (argument != nullptr && (lies_in(body, "/libweft_pthread.so") || lies_in(body, "/libweft_openblas.so"))) {
        const void* words[2];
        std::memcpy(words, argument, sizeof words);
        if (origin_of(words[0])->path == nullptr) return body;
        body = words[0];
        argument = words[1];
    }
    if (argument != nullptr && lies_in(body, "/libstdc++.so")) {
        const void* table;
        std::memcpy(&table, argument, sizeof table);
        if (origin_of(table)->path != nullptr) return table;
    }
    return body;
}

void note(const void* code) {
    threads.add(code);
    note_threads();
}

}   // namespace

std::uint64_t peak_threads() {
    note_threads();
    return peak.load(std::memory_order_relaxed);   // relaxed: a statistic
}

void forget_threads() {
    threads.clear();
    peak.store(1, std::memory_order_relaxed);   // relaxed: the child of a fork has one thread
}

}   // namespace weft_report

// The calls of all libraries come here, including Weft's.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                             void* (*body)(void*), void* argument) noexcept {
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto next = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    const void* const code = weft_report::code_of(reinterpret_cast<const void*>(body), argument);
    const int status = next(thread, attributes, body, argument);
    if (status == 0) weft_report::note(code);
    return status;
}

extern "C" [[gnu::visibility("default")]] int thrd_create(thrd_t* thread, thrd_start_t body, void* argument) {
    using Create = int (*)(thrd_t*, thrd_start_t, void*);
    static const auto next = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "thrd_create"));
    const void* const code = weft_report::code_of(reinterpret_cast<const void*>(body), argument);
    const int status = next(thread, body, argument);
    if (status == thrd_success) weft_report::note(code);
    return status;
}
