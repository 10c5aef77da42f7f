// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copies.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <string>

#include "../../common/binding.hpp"
#include "../../common/held.hpp"
#include "../../common/openblas.hpp"
#include "counts.hpp"
#include "follow.hpp"

namespace weft_openblas {

Copy copies[most_copies];
std::atomic<std::size_t> copy_count{0};

namespace {

using weft_bridge::Held;

pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { finding = PTHREAD_MUTEX_INITIALIZER; });

// Null: the copy has no such function. Libraries on which it depends may have one.
template <class Function>
Function named(void* handle, const Copy& copy, const char* name) {
    return reinterpret_cast<Function>(weft_bridge::openblas::find(name, [&](const char* full) {
        void* const found = dlsym(handle, full);
        return copy.holds(found) ? found : nullptr;
    }));
}

// The copy that has something at that address. Only names are asked for: the library starts its
// threads while it is being initialized, or holds its locks.
bool describe(const void* address, Copy& copy) {
    namespace names = weft_bridge::openblas;
    std::string path;
    weft_bridge::each_loaded([&](const weft_bridge::Loaded& object) {
        if (!object.holds(address)) return false;
        copy.first = reinterpret_cast<const char*>(object.first);
        copy.end = reinterpret_cast<const char*>(object.end);
        path = object.path;
        return true;
    });
    if (path.empty()) return false;
    void* const handle = weft_bridge::handle_of(path);
    if (handle == nullptr) return false;
    copy.number = named<int (*)()>(handle, copy, names::number);
    copy.set_number = named<void (*)(int)>(handle, copy, names::set_number);
    copy.config = named<const char* (*)()>(handle, copy, "openblas_get_config");
    copy.exec = named<int (*)(long, void*)>(handle, copy, "exec_blas");
    copy.set_callback = named<void (*)(Callback)>(handle, copy, names::set_callback);
    copy.callback = named<Callback*>(handle, copy, names::callback);
    const bool is_one = copy.number != nullptr && copy.set_number != nullptr;
    // Its functions are called from a thread of ours, at times that the program does not know.
    if (is_one) dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    dlclose(handle);
    return is_one;
}

bool is_known(const void* address) {
    bool known = false;
    each_copy([&](const Copy& copy) { known |= copy.holds(address); });
    return known;
}

// Start routines that belong to no OpenBLAS: a program has few, and starts many threads by them.
constexpr int most_others = 8;
std::atomic<const void*> others[most_others];

bool is_another(const void* body) {
    for (const auto& other : others) {
        // relaxed, as where it is written: the address itself is all that is known
        if (other.load(std::memory_order_relaxed) == body) return true;
    }
    return false;
}

// Whether a thread that begins there is an OpenBLAS' own.
bool belongs_to_one(const void* body) {
    if (is_known(body)) return true;
    if (is_another(body)) return false;
    const Held lock(finding);
    if (is_known(body)) return true;
    const std::size_t count = copy_count.load(std::memory_order_relaxed);   // relaxed: it changes under the lock
    static int next = 0;
    if (count == most_copies || !describe(body, copies[count])) {
        others[next++ % most_others].store(body, std::memory_order_relaxed);
        return false;
    }
    add_counters();
    copy_count.store(count + 1);   // at least release, with each_copy; seq_cst, with program_starts_thread
    return true;
}

// ---- the threads of the copies ------------------------------------------------------------------

constexpr int most_threads = 1024;
std::atomic<int> own_threads[most_threads];   // relaxed, all: the number itself is all that is read

struct Start {
    void* (*body)(void*);
    void* argument;
};

int own_thread_count() {
    return static_cast<int>(std::count_if(std::begin(own_threads), std::end(own_threads),
                                          [](const auto& one) { return one.load(std::memory_order_relaxed) != 0; }));
}

void* run_own(void* raw) {
    const Start start = *static_cast<Start*>(raw);
    delete static_cast<Start*>(raw);
    const int self = gettid();
    std::atomic<int>* place = nullptr;
    for (std::atomic<int>& one : own_threads) {
        int none = 0;
        if (!one.compare_exchange_strong(none, self, std::memory_order_relaxed)) continue;
        place = &one;
        break;
    }
    void* const result = start.body(start.argument);
    if (place != nullptr) place->store(0, std::memory_order_relaxed);
    return result;
}

}   // namespace

bool is_own_thread(int id) {
    for (const auto& one : own_threads) {
        if (one.load(std::memory_order_relaxed) == id) return true;
    }
    return false;
}

}   // namespace weft_openblas

extern "C" {

// libweft_pthread is about to start a thread for the program or one of its libraries. True: it is
// an OpenBLAS' own, and is to run *body with *argument as they are then.
[[gnu::visibility("default")]] bool weft_openblas_thread_starts(void* (**body)(void*), void** argument) {
    using namespace weft_openblas;   // NOLINT: an entry point
    if (!belongs_to_one(reinterpret_cast<const void*>(*body))) {
        program_starts_thread();
        return false;
    }
    copy_starts_thread(own_thread_count() + 1);
    auto* const start = new (std::nothrow) Start{*body, *argument};
    if (start != nullptr) *body = run_own, *argument = start;
    return true;
}

// The thread could not be started.
[[gnu::visibility("default")]] void weft_openblas_thread_refused(void* (*body)(void*), void* argument) {
    using namespace weft_openblas;   // NOLINT: an entry point
    if (body == run_own) delete static_cast<Start*>(argument);
}

}   // extern "C"
