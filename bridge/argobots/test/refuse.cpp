// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "refuse.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace refuse {
namespace {

thread_local int left = -1;
thread_local bool was_refused = false;
std::atomic<long> live{0};

bool refuse() {
    if (left < 0 || left-- != 0) return false;
    was_refused = true;
    return true;
}

void* counted(void* block) {
    if (block != nullptr) live.fetch_add(1);
    return block;
}

}   // namespace

void begin(int number) {
    left = number;
    was_refused = false;
}
void end() { left = -1; }
bool refused() { return was_refused; }
long live_blocks() { return live.load(); }

}   // namespace refuse

using refuse::counted;

extern "C" {

void* __real_malloc(std::size_t bytes);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_realloc(void* block, std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
int __real_posix_memalign(void** block, std::size_t alignment, std::size_t bytes);
void __real_free(void* block);
void* __real_mmap(void* address, std::size_t bytes, int protection, int flags, int descriptor, off_t offset);
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument);
int __real_pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count);

void* __wrap_malloc(std::size_t bytes) { return refuse::refuse() ? nullptr : counted(__real_malloc(bytes)); }
void* __wrap_calloc(std::size_t count, std::size_t bytes) {
    return refuse::refuse() ? nullptr : counted(__real_calloc(count, bytes));
}
void* __wrap_realloc(void* block, std::size_t bytes) {
    if (refuse::refuse()) return nullptr;
    void* const moved = __real_realloc(block, bytes);
    return block == nullptr ? counted(moved) : moved;
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return refuse::refuse() ? nullptr : counted(__real_aligned_alloc(alignment, bytes));
}
int __wrap_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    if (refuse::refuse()) return ENOMEM;
    const int answer = __real_posix_memalign(block, alignment, bytes);
    if (answer == 0) counted(*block);
    return answer;
}
void __wrap_free(void* block) {
    if (block != nullptr) refuse::live.fetch_sub(1);
    __real_free(block);
}
void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    if (!refuse::refuse()) return __real_mmap(address, bytes, protection, flags, descriptor, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
    return refuse::refuse() ? EAGAIN : __real_pthread_create(thread, attributes, body, argument);
}
int __wrap_pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) {
    return refuse::refuse() ? EAGAIN : __real_pthread_barrier_init(barrier, attributes, count);
}

// operator new and operator delete, under their linker names. They call the C++ library's
// operators, whose malloc is not wrapped, so that an allocation is refused once and not twice.
// Rejected: operators defined by the program, since clang links those of its thread sanitizer into
// the program.
void* __real__ZnwmRKSt9nothrow_t(std::size_t bytes, const std::nothrow_t& none);
void* __real__ZnamRKSt9nothrow_t(std::size_t bytes, const std::nothrow_t& none);
void __real__ZdlPv(void* block);
void __real__ZdaPv(void* block);

void* __wrap__ZnwmRKSt9nothrow_t(std::size_t bytes, const std::nothrow_t& none) {
    return refuse::refuse() ? nullptr : counted(__real__ZnwmRKSt9nothrow_t(bytes, none));
}
void* __wrap__ZnamRKSt9nothrow_t(std::size_t bytes, const std::nothrow_t& none) {
    return refuse::refuse() ? nullptr : counted(__real__ZnamRKSt9nothrow_t(bytes, none));
}
void* __wrap__Znwm(std::size_t bytes) {
    void* const made = __wrap__ZnwmRKSt9nothrow_t(bytes, std::nothrow);
    if (made == nullptr) throw std::bad_alloc();
    return made;
}
void __wrap__ZdlPv(void* block) {
    if (block != nullptr) refuse::live.fetch_sub(1);
    __real__ZdlPv(block);
}
void __wrap__ZdlPvm(void* block, std::size_t) { __wrap__ZdlPv(block); }
void __wrap__ZdaPv(void* block) {
    if (block != nullptr) refuse::live.fetch_sub(1);
    __real__ZdaPv(block);
}

}   // extern "C"
