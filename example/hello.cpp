// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <weft/weft.hpp>

int main() {
    weft::runtime runtime;
    auto many = weft::spawn_many(10'000, [](std::size_t) { weft::this_thread::yield(); });
    weft::thread hello([] { std::puts("hello from a user-level thread"); });
    hello.join();
    many.join();
}
