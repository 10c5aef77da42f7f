// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The smallest program that uses the library from C++: it spawns and joins one thread, and prints
// its answer.
#include <weft/weft.hpp>

#include <iostream>

int main() {
    int answer = 0;
    weft::runtime runtime;
    weft::thread thread([&] { answer = 42; });
    thread.join();
    std::cout << "answer " << answer << '\n';
}
