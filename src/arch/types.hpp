// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operations of every port take and return (arch.hpp).
#pragma once

#include <cstdint>

namespace weft::arch {

// What a switch hands to the context that it resumes: a call to be made there before anything else.
struct Message {
    void (*call)(void*);
    void* argument;
};

// Runs on a fresh stack; never returns.
using Main = void (*)(void (*call)(void*), void* argument);

// What runs on a stack that it is called on. Its answer is not 0.
using CalledMain = std::uintptr_t (*)(void* argument);

// What call() returns, in two registers: the answer, and the word that the caller wanted back.
struct Called {
    static constexpr std::uintptr_t resumed = 0;   // by a switch: there is no answer
    std::uintptr_t answer;
    std::uintptr_t kept;
};

}   // namespace weft::arch
