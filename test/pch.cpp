// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exists only so that the precompiled gtest header has a program to belong to.
int main() { return 0; }
