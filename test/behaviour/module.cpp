// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library that a program loads while it runs, with a thread-local variable.
namespace {

thread_local int variable = 17;

}   // namespace

extern "C" [[gnu::visibility("default")]] int* variable_of_thread() { return &variable; }
