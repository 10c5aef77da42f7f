// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TBB's functions in which a thread of the program runs tasks and waits for them. From the
// outermost of these calls to its end the thread is a guest (weft/guest.h), and one of several
// (weft_concurrent_begin). Nested calls, and those of workers, pay a read of a thread-local word.
//
// This library exports the functions, so that the loader binds the calls of all libraries to it.
// The first call of a library finds out which libtbb it means (libraries.cpp), and redirects its
// later calls to entries that belong to that one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft_tbb {

enum Function : unsigned { execute_and_wait, wait, execute, parallel_pipeline, finalize, functions };

// Their names in libtbb. Macros, since declarations of them have to spell these out.
#define WEFT_TBB_NAME_OF_execute_and_wait \
    "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_"
#define WEFT_TBB_NAME_OF_wait "_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE"
#define WEFT_TBB_NAME_OF_execute "_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE"
#define WEFT_TBB_NAME_OF_parallel_pipeline \
    "_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE"
#define WEFT_TBB_NAME_OF_finalize "_ZN3tbb6detail2r18finalizeERNS0_2d121task_scheduler_handleEl"

inline constexpr const char* name_of[functions] = {WEFT_TBB_NAME_OF_execute_and_wait, WEFT_TBB_NAME_OF_wait,
                                                   WEFT_TBB_NAME_OF_execute, WEFT_TBB_NAME_OF_parallel_pipeline,
                                                   WEFT_TBB_NAME_OF_finalize};

// Their arguments are references and integers, four at most, and they return nothing or a bool: all
// in registers, which this library passes on without knowing how many are used.
using Word = std::uintptr_t;
using Call = Word (*)(Word, Word, Word, Word);

// The exported function, which the loader binds calls to.
Call generic(Function function);

// A libtbb of the process, and the entries that lead to it.
inline constexpr int most_libraries = 16;
struct Library {
    const void* base = nullptr;   // its start; null: free
    // Written before the first call is redirected here, and again, with what is there, for each
    // object that calls the library. Relaxed: what leads here is the address in the loader's table.
    std::atomic<Call> real[functions] = {};
};
extern Library libraries[most_libraries];
Call entry(int library, Function function);

// What a call of the generic function means, which would return there: an entry, or, where there
// are more libraries than entries, or libtbb's workers are not ours, libtbb's own function.
// Redirects later calls of the same object.
Call target_of(Function function, const void* return_address);

}   // namespace weft_tbb
