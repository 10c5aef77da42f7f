// Programs that were compiled with a sanitizer whose runtime is a library of its own (gcc's;
// clang's with -shared-libasan), beside what is preloaded.
#include <dlfcn.h>

#include "real.hpp"

// Of every sanitizer's runtime; null where there is none in the process.
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
    // A sanitizer's function carries no version, so dlvsym passes over it, and the sanitizer would
    // not see the call: ThreadSanitizer would believe that pthread_cond_wait keeps the mutex.
    return exact != nullptr && in_one_library(first, exact) ? exact : first;
}

}   // namespace weft_pthread

// AddressSanitizer refuses to start where its library is not the first in the process, since
// somebody else's malloc could come before its own. What is preloaded here has no malloc, and the
// order of LD_PRELOAD cannot be right for programs with and without a sanitizer at once. So this
// says that the order is no mistake; what ASAN_OPTIONS says comes later and wins. `weft run` says
// it in ASAN_OPTIONS as well, for programs that define this function.
//
// Called while the sanitizer begins: its versions of the C library's functions do not work yet, so
// none is called, and the compiler is kept from making calls of the loop (volatile).
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() {
    static constexpr char ours[] = "verify_asan_link_order=0:";
    static char text[4096];
    volatile char* to = text;
    for (const char* from = ours; *from != '\0'; ++from) *to++ = *from;
    using Options = const char* (*)();
    // a library's of the program, or the sanitizer's, which is empty
    const auto next = reinterpret_cast<Options>(dlsym(RTLD_NEXT, "__asan_default_options"));
    const char* from = next == nullptr ? "" : next();
    while (*from != '\0' && to < text + sizeof text - 1) *to++ = *from++;
    *to = '\0';
    return text;
}
