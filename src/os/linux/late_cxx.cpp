// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of the C++ run-time library that Weft's libraries need. That library is loaded when
// the first of them is called: most programs that `weft run` starts are in C, never begin a region,
// and would wait longer for that library than for all of Weft's
// (doc/decisions/0032-late-cxx-library.md). Not part of weft_objects: linked into shared libraries
// only, each with a hidden table of its own. If a function is missing here the linker makes the
// library depend on libstdc++ as usual.
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>
#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "base/atomic.hpp"

namespace {

enum Name : unsigned {
    thread_atexit,
    demangle,
    personality,
    get_globals,
    begin_catch,
    end_catch,
    rethrow,
    call_unexpected,
    terminate_now,
    current,
    rethrow_kept,
    add_reference,
    drop_reference,
    throw_bad_alloc,
    throw_bad_length,
    throw_logic,
    throw_length,
    throw_out_of_range,
    throw_system,
    need_rehash,
    tree_next,
    tree_previous,
    tree_insert,
    resume_unwinding,
    find_description,
    names
};

// In the order of Name. Sizes are `unsigned long` on all platforms of Weft.
constexpr const char* symbols[names] = {
    "__cxa_thread_atexit",
    "__cxa_demangle",
    "__gxx_personality_v0",
    "__cxa_get_globals",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "__cxa_rethrow",
    "__cxa_call_unexpected",
    "_ZSt9terminatev",
    "_ZSt17current_exceptionv",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
    "_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv",
    "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv",
    "_ZSt17__throw_bad_allocv",
    "_ZSt28__throw_bad_array_new_lengthv",
    "_ZSt19__throw_logic_errorPKc",
    "_ZSt20__throw_length_errorPKc",
    "_ZSt20__throw_out_of_rangePKc",
    "_ZSt20__throw_system_errori",
    "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm",
    "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base",
    "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base",
    "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
    "_Unwind_Resume",
    "_Unwind_Find_FDE",
};

weft::atomic<void*> found[names];
weft::atomic<bool> loaded;

[[noreturn]] void give_up(const char* what, const char* why) {
    std::fprintf(stderr, "weft: %s: %s\n", what, why == nullptr ? "not found" : why);
    std::abort();
}

// Several threads may load at once, and the functions called here may lead here again: all find the
// same addresses. The definition that the loader would have bound comes first: the exceptions that
// a thread handles are in one list, the program's.
[[gnu::cold, gnu::noinline]] void load() {
    void* const library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char* const why = library == nullptr ? dlerror() : nullptr;
    for (unsigned name = 0; name < names; ++name) {
        void* real = dlsym(RTLD_DEFAULT, symbols[name]);
        // libgcc_s has some, too, which that library needs
        if (real == nullptr && library != nullptr) real = dlsym(library, symbols[name]);
        if (real == nullptr)
            give_up(library == nullptr ? "the C++ run-time library libstdc++.so.6" : symbols[name], why);
        found[name].store(real, std::memory_order_relaxed);   // relaxed: the release of `loaded` publishes it
    }
    // release: pairs with the acquire in call(), which then finds what was stored here
    loaded.store(true, std::memory_order_release);
}

template <Name name, class Result, class... Arguments>
[[gnu::always_inline]] inline Result call(Arguments... arguments) {
    if (!loaded.load(std::memory_order_acquire)) [[unlikely]]
        load();
    // relaxed: ordered by loaded
    return reinterpret_cast<Result (*)(Arguments...)>(found[name].load(std::memory_order_relaxed))(arguments...);
}

template <Name name, class... Arguments>
[[noreturn, gnu::always_inline]] inline void leave(Arguments... arguments) {
    call<name, void>(arguments...);
    std::abort();
}

struct Rehash {   // laid out as the std::pair that it stands for
    bool needed;
    unsigned long buckets;
};

}   // namespace

// ---- memory -------------------------------------------------------------------------------------

namespace std {
const nothrow_t nothrow = nothrow_t{};   // only its type is used
}

// Defined by a library whose users expect another end than an uncaught exception: bridge/openmp,
// with libgomp's wording.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] void weft_no_memory(std::size_t bytes);

namespace {

[[noreturn, gnu::cold, gnu::noinline]] void lack(std::size_t bytes) {
    if (weft_no_memory != nullptr) weft_no_memory(bytes);
    leave<throw_bad_alloc>();
}

}   // namespace

// From the C library, and so without loading the C++ one: OpenMP reads its environment when it is
// loaded. No memory that is allocated here is handed to other code.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size == 0 ? 1 : size); }
void* operator new(std::size_t size) {
    if (void* const made = operator new(size, std::nothrow)) [[likely]]
        return made;
    lack(size);
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, std::align_val_t align) {
    void* made = nullptr;
    if (posix_memalign(&made, std::max(static_cast<std::size_t>(align), sizeof(void*)), size) == 0) [[likely]]
        return made;
    lack(size);
}
void* operator new[](std::size_t size, std::align_val_t align) { return operator new(size, align); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }
void operator delete[](void* at) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
void operator delete[](void* at, std::align_val_t) noexcept { std::free(at); }

// ---- local variables that are initialized on first use ------------------------------------------

namespace {

// A guard has 64 bits, of which the compiler checks the first byte: done or not. The second half
// says whether a thread initializes the variable.
struct Guard {
    weft::atomic<unsigned char> done;
    weft::atomic<int> maker;
};
static_assert(sizeof(Guard) == 8);
enum : int { nobody, somebody, awaited };

void let_go(Guard& guard) {
    if (guard.maker.exchange(nobody) == awaited)
        syscall(SYS_futex, &guard.maker, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}   // namespace

extern "C" {

int __cxa_guard_acquire(Guard* guard) {
    for (;;) {
        int was = nobody;
        if (guard->maker.compare_exchange_strong(was, somebody)) {
            if (guard->done.load() == 0) return 1;
            let_go(*guard);
            return 0;
        }
        if (was == awaited || guard->maker.compare_exchange_strong(was, awaited))
            syscall(SYS_futex, &guard->maker, FUTEX_WAIT_PRIVATE, awaited, nullptr, nullptr, 0);
        if (guard->done.load() != 0) return 0;
    }
}
void __cxa_guard_release(Guard* guard) noexcept {
    guard->done.store(1);
    let_go(*guard);
}
void __cxa_guard_abort(Guard* guard) noexcept { let_go(*guard); }

}   // extern "C"

// ---- the C++ ABI, and exceptions: those are the program's ---------------------------------------

extern "C" {

int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) noexcept {
    return call<thread_atexit, int>(destroy, object, library);
}
char* __cxa_demangle(const char* name, char* buffer, std::size_t* size, int* status) {
    return call<demangle, char*>(name, buffer, size, status);
}

_Unwind_Reason_Code __gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                         _Unwind_Exception* exception, _Unwind_Context* context) {
    return call<personality, _Unwind_Reason_Code>(version, actions, kind, exception, context);
}
void* __cxa_get_globals() noexcept { return call<get_globals, void*>(); }
void* __cxa_begin_catch(void* exception) noexcept { return call<begin_catch, void*>(exception); }
void __cxa_end_catch() { call<end_catch, void>(); }
[[noreturn]] void __cxa_rethrow() { leave<rethrow>(); }
[[noreturn]] void __cxa_call_unexpected(void* exception) { leave<call_unexpected>(exception); }

// By their symbols: an exception_ptr is passed by its address, and two of these are private.
[[noreturn]] void _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(void* kept) { leave<rethrow_kept>(kept); }
void _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(void* kept) noexcept { call<add_reference, void>(kept); }
void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void* kept) noexcept { call<drop_reference, void>(kept); }

// libgcc's. The first adds one more frame to unwind, without anything to clean up.
void _Unwind_Resume(_Unwind_Exception* exception) { leave<resume_unwinding>(exception); }
const void* _Unwind_Find_FDE(void* address, void* bases) { return call<find_description, const void*>(address, bases); }

// ---- containers ---------------------------------------------------------------------------------

Rehash _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(const void* policy, unsigned long buckets,
                                                                 unsigned long elements, unsigned long more) {
    return call<need_rehash, Rehash>(policy, buckets, elements, more);
}
void* _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(void* node) noexcept { return call<tree_next, void*>(node); }
void* _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(void* node) noexcept { return call<tree_previous, void*>(node); }
void* _ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(void* node) noexcept { return call<tree_next, void*>(node); }
void* _ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(void* node) noexcept { return call<tree_previous, void*>(node); }
void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool left, void* node, void* parent,
                                                                       void* header) noexcept {
    call<tree_insert, void>(left, node, parent, header);
}

}   // extern "C"

namespace std {

void terminate() noexcept { leave<terminate_now>(); }
exception_ptr current_exception() noexcept { return call<current, exception_ptr>(); }

// Declared as not returning.
void __throw_bad_alloc() { leave<throw_bad_alloc>(); }
void __throw_bad_array_new_length() { leave<throw_bad_length>(); }
void __throw_logic_error(const char* what) { leave<throw_logic>(what); }
void __throw_length_error(const char* what) { leave<throw_length>(what); }
void __throw_system_error(int error) { leave<throw_system>(error); }
void __throw_out_of_range_fmt(const char* format, ...) {
    char what[256];
    va_list values;
    va_start(values, format);
    std::vsnprintf(what, sizeof what, format, values);
    va_end(values);
    leave<throw_out_of_range>(static_cast<const char*>(what));
}

}   // namespace std
