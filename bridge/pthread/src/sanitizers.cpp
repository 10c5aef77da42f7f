// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For programs compiled with a sanitizer whose runtime is a separate library (gcc's; clang's with
// -shared-libasan) beside preloaded libraries.
#include <dlfcn.h>

#include "real.hpp"

// Defined by every sanitizer's runtime; null if the process has none.
extern "C" [[gnu::weak]] void __sanitizer_print_stack_trace();

namespace weft_pthread {

namespace {

bool in_one_library(void* one, void* other) {
    Dl_info first, second;
    return dladdr(one, &first) != 0 && dladdr(other, &second) != 0 && first.dli_fbase == second.dli_fbase;
}

}   // namespace

void* next_function(const char* name, const char* version) {
    void* const exact = version == nullptr ? nullptr : dlvsym(RTLD_NEXT, name, version);
    if (exact != nullptr && __sanitizer_print_stack_trace == nullptr) return exact;
    void* const first = dlsym(RTLD_NEXT, name);
    // A sanitizer's function has no version, so dlvsym skips it, and the sanitizer would not see
    // the call: ThreadSanitizer would believe that pthread_cond_wait keeps the mutex.
    return exact != nullptr && in_one_library(first, exact) ? exact : first;
}

}   // namespace weft_pthread

// AddressSanitizer refuses to start if its library is not the first in the process, since another
// library's malloc could precede its own. The libraries preloaded here have no malloc, and no order
// of LD_PRELOAD is right both for programs with and without a sanitizer. So this function switches
// that check off; ASAN_OPTIONS is read later and overrides it. `weft run` also sets the option in
// ASAN_OPTIONS, for programs that define this function.
//
// Called while the sanitizer starts: its versions of the C library's functions do not work yet, so
// none is called, and volatile keeps the compiler from turning the loop into calls.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() {
    static constexpr char ours[] = "verify_asan_link_order=0:";
    static char text[4096];
    volatile char* to = text;
    for (const char* from = ours; *from != '\0'; ++from) *to++ = *from;
    using Options = const char* (*)();
    // the definition in a library of the program, or the sanitizer's own, which is empty
    const auto next = reinterpret_cast<Options>(dlsym(RTLD_NEXT, "__asan_default_options"));
    const char* from = next == nullptr ? "" : next();
    while (*from != '\0' && to < text + sizeof text - 1) *to++ = *from++;
    *to = '\0';
    return text;
}
