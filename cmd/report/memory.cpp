// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <csetjmp>

namespace weft_report {

namespace {

constexpr std::size_t alignment = 16, chunk = 256 * 1024;

constinit char* next = nullptr;
constinit std::size_t left = 0;
constinit std::jmp_buf* out_of_memory = nullptr;

}   // namespace

void* take(std::size_t bytes) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    if (bytes > left) {
        const std::size_t size = std::max(bytes, chunk);
        void* const made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED) {
            if (out_of_memory == nullptr) _exit(125);   // not reached: all code that allocates runs within an attempt
            std::longjmp(*out_of_memory, 1);
        }
        next = static_cast<char*>(made);
        left = size;
    }
    void* const taken = next;
    next += bytes;
    left -= bytes;
    return taken;
}

bool attempt(void (*body)(void* argument), void* argument) {
    std::jmp_buf here;
    std::jmp_buf* const outer = out_of_memory;
    if (setjmp(here) != 0) {
        out_of_memory = outer;
        return false;
    }
    out_of_memory = &here;
    body(argument);
    out_of_memory = outer;
    return true;
}

String decimal(std::uint64_t value) {
    char digits[20];
    char* first = digits + sizeof digits;
    do *--first = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    return {first, digits + sizeof digits};
}

}   // namespace weft_report
