// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exec_blas, through which OpenBLAS runs all its parallel work. Built with OpenMP, OpenBLAS takes
// the process's one slot by a bare loop of compare-and-swap; with threads of its own it searches
// for a free one in a bare loop. Either loop would keep its hart, or its CPU, from the caller that
// is inside. Here a caller waits as others do in Weft before it is let in, and then finds the slot
// free. And goto_set_num_threads, which OpenBLAS calls when omp_get_max_threads returns another
// number than last time: it frees the buffers of threads beyond the number, which a caller that is
// inside may be using.
#include <dlfcn.h>

#include "follow.hpp"
#include "libraries.hpp"

namespace weft_openblas {

namespace {

// The caller, unchanged from before the call to after it: a unit that is a pthread or has entered
// as a guest meanwhile is identified by its pthread, any other unit by itself.
struct Caller {
    pthread_t thread = pthread_self();
    weft_unit* unit = nullptr;

    Caller() {
        weft_unit* const self = weft_unit_self();
        if (self == nullptr) [[likely]]
            return;
        weft_stack_info stack{};
        stack.size = sizeof stack;
        if (weft_unit_self_kind() == WEFT_KIND_HOSTED || weft_unit_stack_get(self, &stack) != WEFT_OK) return;
        const auto place = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        // a guest is not on it: it runs on its thread's own stack
        if (place - reinterpret_cast<std::uintptr_t>(stack.lowest) < stack.bytes) unit = self;
    }
};

bool held_by(const Library& library, const Caller& caller) {
    return library.held.load(std::memory_order_relaxed) &&
           pthread_equal(library.holder.load(std::memory_order_relaxed), caller.thread) != 0 &&
           library.holding_unit.load(std::memory_order_relaxed) == caller.unit;
}

void hold(Library& library, const Caller& caller) {
    library.holder.store(caller.thread, std::memory_order_relaxed);
    library.holding_unit.store(caller.unit, std::memory_order_relaxed);
    library.held.store(true, std::memory_order_relaxed);
}

// False: refused to units that may not wait (tasklets). They spin in OpenBLAS.
[[gnu::noinline]] bool wait_for(Library& library) {
    several_call(library.waiting.fetch_add(1, std::memory_order_relaxed) + 2);   // relaxed, both: a count
    const bool waited = weft_semaphore_acquire(&library.free) == WEFT_OK;
    library.waiting.fetch_sub(1, std::memory_order_relaxed);
    return waited;
}

// Runs call() when no other caller is inside.
template <class Call>
void let_in(Library& library, Call call) {
    const Caller self;
    if (held_by(library, self)) return call();   // a nested call: the slot is OpenBLAS' affair
    if (weft_semaphore_try_acquire(&library.free) != WEFT_OK && !wait_for(library)) return call();
    hold(library, self);
    call();
    library.held.store(false, std::memory_order_relaxed);
    weft_semaphore_release(&library.free, 1);
}

}   // namespace

int exec_guarded(Library& library, long count, void* queue) {
    int answer = 0;
    let_in(library, [&] { answer = library.exec(count, queue); });
    return answer;
}

void set_threads_guarded(Library& library, int count) {
    let_in(library, [&] { library.set_threads(count); });
}

}   // namespace weft_openblas

extern "C" {

[[gnu::visibility("default")]] int exec_blas(long count, void* queue) {
    using namespace weft_openblas;   // NOLINT: an entry point
    const Target target = exec_of(__builtin_return_address(0));
    if (target.library != nullptr) return exec_guarded(*target.library, count, queue);
    if (target.exec != nullptr) return target.exec(count, queue);
    // the caller has none: what the loader would have bound it to
    return reinterpret_cast<Exec>(dlsym(RTLD_NEXT, "exec_blas"))(count, queue);
}

[[gnu::visibility("default")]] void goto_set_num_threads(int count) {
    using namespace weft_openblas;   // NOLINT: an entry point
    each_threads_target(
        __builtin_return_address(0),
        [](const ThreadsTarget& target, int number) {
            if (target.library != nullptr && target.library->set_threads != nullptr)
                set_threads_guarded(*target.library, number);
            else if (target.set_threads != nullptr) target.set_threads(number);
        },
        count);
}

[[gnu::alias("exec_blas"), gnu::visibility("hidden")]] int weft_generic_exec_blas(long count, void* queue);
[[gnu::alias("goto_set_num_threads"), gnu::visibility("hidden")]] void weft_generic_goto_set_num_threads(int count);

}   // extern "C"
