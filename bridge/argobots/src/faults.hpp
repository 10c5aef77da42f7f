// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses in turn each allocation, and each pthread call, that a call makes. A program includes
// this file once; it defines the program's malloc, mmap and pthread_create. It cannot be used with
// sanitizers, since it would replace their malloc.
#pragma once

#include "test_support.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace faults {

// For the calling thread. -1: nothing is refused.
thread_local int until_refused = -1;
thread_local bool refused = false;
thread_local long live = 0;   // blocks

bool refuse() {
    if (until_refused < 0) return false;
    if (until_refused-- != 0) return false;
    refused = true;
    return true;
}

void* counted(void* block) {
    live += block != nullptr ? 1 : 0;
    return block;
}

}   // namespace faults

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);

void* malloc(std::size_t bytes) { return faults::refuse() ? nullptr : faults::counted(__libc_malloc(bytes)); }
void* calloc(std::size_t count, std::size_t bytes) {
    return faults::refuse() ? nullptr : faults::counted(__libc_calloc(count, bytes));
}
void* realloc(void* block, std::size_t bytes) {
    if (faults::refuse()) return nullptr;
    void* const moved = __libc_realloc(block, bytes);
    return block == nullptr ? faults::counted(moved) : moved;
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return faults::refuse() ? nullptr : faults::counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    if (faults::refuse()) return ENOMEM;
    *block = faults::counted(__libc_memalign(alignment, bytes));
    return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) {
    faults::live -= block != nullptr ? 1 : 0;
    __libc_free(block);
}

void* mmap(void* address, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
    if (faults::refuse()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
    if (faults::refuse()) return EAGAIN;
    static const auto real = reinterpret_cast<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(
        dlsym(RTLD_NEXT, "pthread_create"));
    return real(thread, attributes, body, argument);
}

int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) noexcept {
    if (faults::refuse()) return EAGAIN;
    static const auto real = reinterpret_cast<int (*)(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned)>(
        dlsym(RTLD_NEXT, "pthread_barrier_init"));
    return real(barrier, attributes, count);
}

}   // extern "C"

namespace faults {

enum class OnError { none, as_before };   // the handle's value after an error

// Refuses in turn each resource that `make` asks for, until there are no more.
template <class Handle, class Make, class Free>
void each_is_refused(Handle none, OnError on_error, Make&& make, Free&& free_handle) {
    Handle handle = none;
    ASSERT_EQ(make(&handle), ABT_SUCCESS);   // things that are made once are made now
    ASSERT_EQ(free_handle(&handle), ABT_SUCCESS);
    const auto before = reinterpret_cast<Handle>(std::uintptr_t{0x1000});
    for (int i = 0;; ++i) {
        ASSERT_LT(i, 100);
        const long before_it = faults::live;
        handle = before;
        faults::refused = false;
        faults::until_refused = i;
        const int result = make(&handle);
        faults::until_refused = -1;
        if (!faults::refused) {
            EXPECT_EQ(result, ABT_SUCCESS);
            EXPECT_EQ(free_handle(&handle), ABT_SUCCESS);
            EXPECT_EQ(faults::live, before_it);
            EXPECT_GT(i, 0);   // something was refused
            return;
        }
        EXPECT_TRUE(result == ABT_ERR_MEM || result == ABT_ERR_SYS) << result;
        EXPECT_EQ(handle, on_error == OnError::none ? none : before);
        EXPECT_EQ(faults::live, before_it);
        EXPECT_EQ(make(&handle), ABT_SUCCESS);
        EXPECT_EQ(free_handle(&handle), ABT_SUCCESS);
        EXPECT_EQ(faults::live, before_it);
    }
}

}   // namespace faults
